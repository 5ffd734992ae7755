/** How long texts may be, in bytes of UTF-8. The readers and the published schema go by this one list. */
export const TEXT_LIMITS = {
  id: 128,
  name: 128,
  description: 512,
  version: 64,
  about: 4096,
  example: 120,
  exampleMin: 10,
  tag: 64,
  agentRole: 1024,
  standingText: 256,
  title: 256,
  prompt: 8192,
  fragment: 4096,
  guidance: 2048,
  consequence: 512,
  purpose: 1024,
  definition: 4096,
  source: 512,
  criteriaMessage: 512,
  pattern: 1024,
  hint: 512,
  argument: 2048,
  goal: 2048,
  command: 1024,
  question: 1024,
  variable: 64,
  path: 256,
} as const;

export const EXAMPLES_MAX = 6;
/** Entries of any one list. Real workflows have some dozens. */
export const LIST_MAX = 1000;
/** Rounds of any one loop. */
export const ITERATIONS_MAX = 10_000;

/** Of the kind that semver.org describes. */
export const SEMANTIC_VERSION =
  /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

/** Step, loop and condition ids: joined with other characters in keys, so these must not occur. */
export const SAFE_ID = /^[a-z0-9_-]+$/;
/** Names that only this workflow uses; nothing that looks like another name or like nothing. */
export const PLAIN_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;
/** Loop variables: found by what stands between the braces of `{{name}}`. */
export const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_-]*$/;
export const NAMESPACED_ID = /^[a-z][a-z0-9_-]*\.[a-z][a-z0-9_-]*$/;
export const LEGACY_ID = /^[a-z0-9_-]{3,64}$/;
