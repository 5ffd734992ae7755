import { assert } from '../assert.ts';
import { canonicalBytes, type Sha256, type Sha256Digest } from '../json/canonical-bytes.ts';
import type { JsonObject } from '../json/json-value.ts';

/** What a workflow is made from: its text, and what the workspace binds its slots to. */
export type WorkflowOrigin = {
  readonly text: string;
  readonly slotIds: readonly string[];
  readonly bindings: { readonly [slot: string]: string };
};

/** The digest that a run keeps of its origin. Bindings that the workflow does not use do not count. */
export function sourceHash({ text, slotIds, bindings }: WorkflowOrigin, sha256: Sha256): Sha256Digest {
  const used = slotIds.filter((slot) => Object.hasOwn(bindings, slot)).map((slot) => [slot, bindings[slot]]);
  const bytes = canonicalBytes({ text: text.toWellFormed(), bindings: Object.fromEntries(used) });
  assert(bytes.isOk(), 'texts are JSON');
  return sha256(bytes.value);
}

/** What a run was started from. */
export type PinnedOrigin = {
  readonly workflowId: string;
  readonly workflowHash: string;
  readonly sourceHash?: string | undefined;
};

/** What the way out of an old version takes along: any token of the session, the goal, and what is known so far. */
export type Restart = { readonly attachTo: string; readonly goal?: string | undefined; readonly context?: JsonObject };

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
 * another hash of the same file, and that is no news to the author. The run goes on with its pin either way.
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
