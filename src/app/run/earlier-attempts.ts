import { err, ok, type Result } from 'neverthrow';
import { canonicalBytes, type JsonRefusal } from '../../core/json/canonical-json.ts';
import type { JsonObject } from '../../core/json/json-value.ts';
import { type ArtifactDigest, artifactDigestSchema, type NodeId } from '../../core/log/ids.ts';
import { type ArtifactRefusal, checkArtifacts } from '../../core/log/operation/operation-drafts.ts';
import type { HandedArtifact, HandedIn } from '../../core/run/step-place.ts';
import { blockedDraft, type NodeOutput } from '../../core/views/node-facts.ts';
import { nodeOf, type RunNode } from '../../core/views/run-graph.ts';
import type { SessionView } from '../../core/views/session-view.ts';
import type { StoreFailure } from '../ports/store-failure.ts';
import type { Hasher } from '../ports/system-services.ts';
import type { ReadServices } from '../services.ts';

/** A step, and the blocked attempts at it down to a node, oldest first. */
export type TriedStep = { readonly step: RunNode; readonly blocked: readonly RunNode[] };

/** The step that a node is an attempt at. A step node and its checkpoints are not blocked attempts. */
export function triedStep({ graph }: SessionView, nodeId: NodeId): TriedStep {
  const blocked: RunNode[] = [];
  let node = nodeOf(graph, nodeOf(graph, nodeId).hostNodeId);
  while (node.kind === 'blocked_attempt' && node.parentNodeId !== null) {
    blocked.push(node);
    node = nodeOf(graph, nodeOf(graph, node.parentNodeId).hostNodeId);
  }
  return { step: node, blocked: blocked.reverse() };
}

/** What earlier attempts sent, and the bytes of their artifacts. */
export type EarlierAttempts = SealedArtifacts & { readonly handedIn: readonly HandedIn[] };

/** What the blocked attempts above a retry sent, oldest first. */
export async function earlierAttempts(
  services: Pick<ReadServices, 'artifacts'>,
  view: SessionView,
  blocked: readonly RunNode[],
): Promise<Result<EarlierAttempts, StoreFailure>> {
  const handedIn: HandedIn[] = [];
  const bytes = new Map<ArtifactDigest, Uint8Array>();
  for (const { nodeId } of blocked) {
    const outputs = blockedDraft(view.outputs, nodeId);
    const read = await readArtifacts(services, outputs);
    if (read.isErr()) return err(read.error);
    handedIn.push({ notesMarkdown: notesIn(outputs), artifacts: read.value.artifacts });
    for (const [digest, content] of read.value.bytes) bytes.set(digest, content);
  }
  return ok({ handedIn, artifacts: handedIn.flatMap(({ artifacts }) => artifacts), bytes });
}

function notesIn(outputs: readonly NodeOutput[]): string | undefined {
  for (const { data } of outputs.toReversed()) {
    if (data.outputChannel === 'recap') return data.payload.notesMarkdown;
  }
  return undefined;
}

async function readArtifacts(
  { artifacts }: Pick<ReadServices, 'artifacts'>,
  outputs: readonly NodeOutput[],
): Promise<Result<SealedArtifacts, StoreFailure>> {
  const found: HandedArtifact[] = [];
  const bytes = new Map<ArtifactDigest, Uint8Array>();
  for (const { data } of outputs) {
    if (data.outputChannel !== 'artifact') continue;
    const { sha256, contentType, byteLength } = data.payload;
    const stored = await artifacts.getJson(sha256);
    if (stored.isErr()) return err(stored.error);
    const { value } = stored.value;
    found.push({ kind: artifactKind(value), value, ref: { sha256, contentType, byteLength } });
    bytes.set(sha256, stored.value.bytes);
  }
  return ok({ artifacts: found, bytes });
}

/** Artifacts of a call with their digests, and the bytes to store. */
export type SealedArtifacts = {
  readonly artifacts: readonly HandedArtifact[];
  readonly bytes: ReadonlyMap<ArtifactDigest, Uint8Array>;
};

const CONTENT_TYPE = 'application/json';

/** Prepares the artifacts of a call for storing. If one is invalid, none is stored. */
export function sealArtifacts(
  values: readonly JsonObject[],
  { sha256 }: Hasher,
): Result<SealedArtifacts, ArtifactRefusal | JsonRefusal> {
  const sealed: HandedArtifact[] = [];
  const bytesOf = new Map<ArtifactDigest, Uint8Array>();
  for (const value of values) {
    const bytes = canonicalBytes(value);
    if (bytes.isErr()) return err(bytes.error);
    const digest = artifactDigestSchema.parse(sha256(bytes.value));
    const ref = { sha256: digest, contentType: CONTENT_TYPE, byteLength: bytes.value.length };
    sealed.push({ kind: artifactKind(value), value, ref });
    bytesOf.set(digest, bytes.value);
  }
  return checkArtifacts(sealed.map(({ ref }) => ref.byteLength)).map(() => ({ artifacts: sealed, bytes: bytesOf }));
}

/** The declared kind of an artifact. */
export function artifactKind({ kind }: JsonObject): string | undefined {
  return typeof kind === 'string' && kind !== '' ? kind : undefined;
}
