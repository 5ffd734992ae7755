import { assert } from '../assert.ts';
import { canonicalBytes, type Sha256, type Sha256Digest } from '../json/canonical-json.ts';
import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { collectDiagnostics } from './diagnostics/diagnostic.ts';
import { parseSource } from './source/parse-source.ts';
import { plainValue } from './source/source-node.ts';

/** What a workflow is made from: its file, those of the routines it calls, and what the workspace binds slots to. */
export type WorkflowOrigin = {
  readonly text: string;
  /** The text of every routine that is called, also by way of another, under the id it is called by. */
  readonly routines: ReadonlyMap<string, string>;
  /** The slots of the workflow and of those routines. */
  readonly slotIds: readonly string[];
  readonly bindings: { readonly [slot: string]: string };
};

/**
 * The digest that a run keeps of its origin. What the files say counts, not how they are laid out: another editor or
 * another operating system must not look like another author. Bindings that the workflow does not use do not count.
 */
export function sourceHash({ text, routines, slotIds, bindings }: WorkflowOrigin, sha256: Sha256): Sha256Digest {
  const used = slotIds.filter((slot) => Object.hasOwn(bindings, slot)).map((slot) => [slot, bindings[slot]]);
  const bytes = canonicalBytes({
    source: saidBy(text),
    routines: Object.fromEntries([...routines].map(([templateId, routine]) => [templateId, saidBy(routine)])),
    bindings: Object.fromEntries(used),
  });
  assert(bytes.isOk(), 'what compiles is JSON');
  return sha256(bytes.value);
}

function saidBy(text: string): JsonValue {
  return parseSource(text, collectDiagnostics()).match(plainValue, () => text.toWellFormed());
}

/** What a run was started from. */
export type PinnedOrigin = {
  readonly workflowId: string;
  readonly workflowHash: string;
  readonly sourceHash?: string | undefined;
};

/** What the way out of an old version takes along: any token of the session, the goal, and what is known so far. */
export type Restart = {
  readonly attachTo: JsonValue;
  readonly goal?: string | undefined;
  readonly context?: JsonObject;
};

export type Drift =
  | { readonly kind: 'same' }
  /** The run kept no digest to compare with. */
  | { readonly kind: 'unknown' }
  | {
      readonly kind: 'changed';
      readonly workflowId: string;
      readonly workflowHash: string;
      readonly pinnedSourceHash: string;
      readonly currentSourceHash: string;
      readonly nextCall: { readonly tool: 'start_workflow'; readonly arguments: JsonObject };
    }
  | { readonly kind: 'gone'; readonly workflowId: string; readonly workflowHash: string };

/**
 * Whether the origin of a run is still what it was. Sources are compared, not compiled hashes: a newer compiler makes
 * another hash of the same file, which does not concern the author. The run continues with its pin either way.
 */
export function driftOf(pinned: PinnedOrigin, current: Sha256Digest | undefined, restart: Restart): Drift {
  const { workflowId, workflowHash } = pinned;
  if (current === undefined) return { kind: 'gone', workflowId, workflowHash };
  if (pinned.sourceHash === undefined) return { kind: 'unknown' };
  if (pinned.sourceHash === current) return { kind: 'same' };
  const { attachTo, goal, context } = restart;
  return {
    kind: 'changed',
    workflowId,
    workflowHash,
    pinnedSourceHash: pinned.sourceHash,
    currentSourceHash: current,
    nextCall: {
      tool: 'start_workflow',
      arguments: {
        workflowId,
        attachTo,
        ...(goal === undefined ? {} : { goal }),
        ...(context === undefined || Object.keys(context).length === 0 ? {} : { context }),
      },
    },
  };
}
