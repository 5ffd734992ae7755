import { assert } from '../assert.ts';
import { canonicalBytes, type Sha256, type Sha256Digest } from '../json/canonical-json.ts';
import { type JsonObject, type JsonValue, quote } from '../json/json-value.ts';
import type { AttestationChannel } from '../log/events/attestation-events.ts';
import type { LoopPath, NodeId, RunId, SnapshotRef, StepId, WorkflowHash } from '../log/ids.ts';
import type { Attestation } from '../views/attestations.ts';
import { ASSURANCES, type Assurance } from '../workflow/compiled/compiled-step.ts';

/** The files of the workspace that an approval is bound to; `unknown` where git did not answer in time. */
export type BoundWorkspace = 'unknown' | { readonly headSha: string; readonly treeDigest: string };

/** Everything about a gate that is not in the workflow or the call. */
export type GateFacts = {
  /** The lowest assurance that counts here, whatever the workflow asks for. */
  readonly minimum: Assurance;
  /** The channels whose answers count. */
  readonly accept: readonly AttestationChannel[];
  /** What people said about the attempts at this step, oldest first. */
  readonly attestations: readonly Attestation['data'][];
  /** Context keys whose value a person gave. */
  readonly personKeys: readonly string[];
  /** What the digest names besides what was sent. */
  readonly subject: GateSubject;
  readonly sha256: Sha256;
};

type GateSubject = {
  readonly workflowHash: WorkflowHash;
  readonly runId: RunId;
  /** The step's own node, above all blocked attempts. */
  readonly nodeId: NodeId;
  readonly stepId: StepId;
  readonly loopPath: LoopPath;
  readonly snapshotRef: SnapshotRef;
  /** The context at that node. */
  readonly contextBefore: JsonObject;
  readonly workspace?: BoundWorkspace | undefined;
};

/** The higher of two assurances. */
export function strongestAssurance(a: Assurance, b: Assurance): Assurance {
  return ASSURANCES.indexOf(a) >= ASSURANCES.indexOf(b) ? a : b;
}

/** What exactly is approved, as a digest: another draft, another place or another file tree has another one. */
export function attemptDigest(
  { subject, sha256 }: Pick<GateFacts, 'subject' | 'sha256'>,
  {
    handedIn,
    context,
    question,
    gateKey,
  }: {
    readonly handedIn: {
      readonly notesMarkdown: string | undefined;
      readonly artifacts: readonly { readonly ref: { readonly sha256: string } }[];
    };
    readonly context: JsonObject;
    readonly question: string;
    /** The key that the answer itself goes into. */
    readonly gateKey?: string | undefined;
  },
): Sha256Digest {
  const { contextBefore, loopPath, workspace, ...names } = subject;
  const artifacts = handedIn.artifacts.map(({ ref }) => ref.sha256).toSorted();
  const bytes = canonicalBytes({
    v: 1,
    ...names,
    loopPath: loopPath.map(({ loopId, iteration }) => ({ loopId, iteration })),
    notes: handedIn.notesMarkdown ?? null,
    artifacts: [...new Set(artifacts)],
    contextDelta: contextChange(contextBefore, context, gateKey),
    question,
    ...(workspace === undefined ? {} : { workspace }),
  });
  assert(bytes.isOk(), 'what was sent is JSON');
  return sha256(bytes.value);
}

/** What this attempt would leave changed, over the whole chain of blocked attempts. */
export function contextChange(before: JsonObject, after: JsonObject, except: string | undefined): JsonObject {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((key) => key !== except);
  const text = (value: JsonValue | undefined) => quote(value ?? null);
  return Object.fromEntries(
    keys.filter((key) => text(before[key]) !== text(after[key])).map((key) => [key, after[key] ?? null]),
  );
}

/** Four letters by which a person recognises a draft and types that they have read it. */
export function draftCode(digest: Sha256Digest): string {
  const hex = digest.slice('sha256:'.length);
  return Array.from({ length: 4 }, (_, i) => {
    const value = Number.parseInt(hex.slice(4 * i, 4 * i + 4), 16);
    return CODE_LETTERS[value % CODE_LETTERS.length];
  }).join('');
}

/** Without letters that look or sound alike. */
const CODE_LETTERS = 'ACDEFHJKLMNPRTUVWXY';
