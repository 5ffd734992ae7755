/** Entries of any one list. Real workflows have some dozens. */
export const LIST_MAX = 1000;
/** For lists that only the size of the file limits. */
export const ANY_COUNT = Number.POSITIVE_INFINITY;
/** Rounds of any one loop. */
export const ITERATIONS_MAX = 10_000;
/** Bytes of an id, of a prompt, and of what is passed on as an argument or put into an extension point. */
export const ID_BYTES_MAX = 128;
export const PROMPT_BYTES_MAX = 8192;
export const ARGUMENT_BYTES_MAX = 2048;
/** Context keys that one step is meant to set: a longer form is not filled in. */
export const SETS_MAX = 8;
/** Arguments of one routine: a longer form is not filled in. */
export const ARGUMENTS_MAX = 8;
/** Lists that one step accounts for, or adds to. */
export const ACCOUNTS_MAX = 4;
/** Bytes of a command that checks a step. */
export const CHECK_COMMAND_BYTES_MAX = 1024;
/** Patterns of test files, or folders, of one check. */
export const CHECK_TESTS_MAX = 8;
/** How many tests a check can demand. */
export const CHECK_TESTS_NEEDED_MAX = 1_000_000;

const NAMESPACED = '[a-z][a-z0-9_-]*\\.[a-z][a-z0-9_-]*';
const LEGACY = '[a-z0-9_-]{3,64}';
export const NAMESPACED_ID = new RegExp(`^${NAMESPACED}$`);
export const LEGACY_ID = new RegExp(`^${LEGACY}$`);

/** The name part that a workflow without a namespace would have. */
export function legacyName(id: string): string {
  const name = id.toLowerCase().replaceAll('-', '_');
  return /^[a-z]/.test(name) ? name : `w_${name}`;
}

/** Texts of a certain form. The reader and the published schema go by these patterns. */
export const TEXT_FORMS = {
  workflow_id: new RegExp(`^(?:${NAMESPACED}|${LEGACY})$`),
  /** Of the kind that semver.org describes. */
  version:
    /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/,
  /** Step, loop and condition ids: joined with other characters in keys, so these must not occur. */
  safe_id: /^[a-z0-9_-]+$/,
  /** Names that only this workflow uses; nothing that looks like another name or like nothing. */
  plain_name: /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/,
  /** Loop variables: found by what stands between the braces of `{{name}}`. */
  variable: /^[A-Za-z_][A-Za-z0-9_-]*$/,
  /** A context value that a user is asked for: it stands in the pointers of blockers. */
  context_key: /^[a-z0-9_-]+$/,
  /** A context value, or a dotted path to one. */
  context_name: /^[^{}]+$/,
  /** A path or a pattern inside the workspace: nothing leads out of it. */
  inside_path: /^(?![/\\~:-])(?!.*(?:^|[/\\])\.\.(?:[/\\]|$))[^\0\r\n]+$/,
  /** The bare name, or a call with anything between the parentheses. */
  function_name: /^\s*[A-Za-z_][A-Za-z0-9_]*(?:\([\s\S]*\))?\s*$/,
  /** One line with at least one blank; what looks like a blank is one. */
  form_line: /^(?:(?!<fill:)[^\n])*(?:<fill: [^<>\n]{1,150}>(?:(?!<fill:)[^\n])*)+$/,
  /** What the ids of a list begin with: `AC` of AC1, AC2, …. */
  id_prefix: /^[A-Z]{1,4}$/,
  /** Found by what stands between the braces of `{name}`. */
  argument_name: /^[A-Za-z_][A-Za-z0-9_]*$/,
  flags: /^[gimsu]*$/,
} as const satisfies { readonly [form: string]: RegExp };

export type TextForm = keyof typeof TEXT_FORMS;
