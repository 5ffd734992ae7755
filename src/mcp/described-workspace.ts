import type { Hasher, Ids } from '../app/ports/system-services.ts';
import type { WorkspaceFacts, WorkspaceObserver } from '../app/ports/workspace-observer.ts';
import { canonicalBytes, digestHex } from '../core/json/canonical-json.ts';
import { defined, isObject, type JsonObject } from '../core/json/json-value.ts';
import { type ObservationData, observationSchema } from '../core/log/events/run-events.ts';
import { ID_BYTES, plainDigestSchema, RunId, SessionId } from '../core/log/ids.ts';
import type { BoundWorkspace, ChangedFile } from '../core/run/gate-facts.ts';
import { GIT_SILENT, unseenIn } from '../core/run/unseen-files.ts';

/** Where the bridge on the caller's machine puts what it sees there. */
export const WORKSPACE_META_KEY = 'dev.workrail/workspace';

/**
 * The caller's workspace as the bridge on that machine describes it. The description travels on the agent's credential,
 * so nothing in it is as certain as what this process sees itself.
 */
export function describedWorkspace(meta: unknown): WorkspaceObserver {
  const said = isObject(meta) ? meta[WORKSPACE_META_KEY] : undefined;
  const facts = isObject(said) ? said : {};
  return { observe: async () => observationsIn(facts), tree: async () => treeIn(facts) };
}

/** Where a caller names its call, so that sending it again is not another start. */
export const CALL_ID_META_KEY = 'dev.workrail/call-id';
/** Longer than any usual id. */
const CALL_ID_LENGTH_MAX = 128;
/** A UUID of version 7 begins with the time (RFC 9562). */
const TIMED_ID = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** What a call consists of, and who sends it. */
export type NamedCall = { readonly principal: string; readonly tool: string; readonly arguments: JsonObject };

/**
 * The ids that a named call creates: the same ones each time it is sent. `undefined` for a call without a name. Other
 * arguments are another call, so a name that is used twice by mistake loses nothing.
 */
export function idsOfCall(meta: unknown, call: NamedCall, { sha256 }: Pick<Hasher, 'sha256'>): Ids | undefined {
  const callId = isObject(meta) ? meta[CALL_ID_META_KEY] : undefined;
  if (typeof callId !== 'string' || callId === '' || callId.length > CALL_ID_LENGTH_MAX) return undefined;
  const { principal, tool, arguments: args } = call;
  const bytes = canonicalBytes(['call', principal, callId, tool, args]);
  if (bytes.isErr()) return undefined;
  const hex = digestHex(sha256(bytes.value));
  // Listings sort by session id, and so by age.
  const time = TIMED_ID.exec(callId)?.slice(1).join('').toLowerCase() ?? '';
  return {
    session: () => SessionId.of(bytesOf(time + hex)),
    run: () => RunId.of(bytesOf(hex.slice(-2 * ID_BYTES))),
  };
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from({ length: ID_BYTES }, (_, at) => Number.parseInt(hex.slice(2 * at, 2 * at + 2), 16));
}

const UNCERTAIN = 'med';

function observationsIn({ remote, branch, head_sha }: { readonly [name in keyof WorkspaceFacts]: unknown }) {
  const commit = typeof head_sha === 'string' && head_sha.length === 64 ? `sha256:${head_sha}` : head_sha;
  const commitType = commit === head_sha ? 'git_sha1' : 'sha256';
  return [
    { key: 'git_branch', value: { type: 'short_string', value: branch }, confidence: UNCERTAIN },
    { key: 'git_head_sha', value: { type: commitType, value: commit }, confidence: UNCERTAIN },
    { key: 'repo_remote', value: { type: 'path', value: remote }, confidence: UNCERTAIN },
  ].flatMap((one): readonly ObservationData[] => {
    const read = observationSchema.safeParse(one);
    return read.success ? [read.data] : [];
  });
}

const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
/** A person looks at them. */
const CHANGED_MAX = 500;

function treeIn(facts: { readonly [name in keyof WorkspaceFacts]: unknown }): BoundWorkspace | undefined {
  const { head_sha, tree_digest, changed, files_unseen } = facts;
  const treeDigest = plainDigestSchema.safeParse(tree_digest);
  const isCommit = typeof head_sha === 'string' && COMMIT.test(head_sha);
  // A bridge of an earlier release leaves out what git did not show in time.
  if (!treeDigest.success || !isCommit) return unseenIn(files_unseen) ?? (isCommit ? GIT_SILENT : undefined);
  const files = Array.isArray(changed) ? changed.slice(0, CHANGED_MAX).flatMap(changedFile) : [];
  return { headSha: head_sha, treeDigest: treeDigest.data, changed: files, isDescribed: true };
}

function changedFile(entry: unknown): readonly ChangedFile[] {
  const { state, path, blob } = isObject(entry) ? entry : {};
  if (typeof state !== 'string' || typeof path !== 'string') return [];
  return [{ state: state.slice(0, 2), path, ...defined({ blob: typeof blob === 'string' ? blob : undefined }) }];
}
