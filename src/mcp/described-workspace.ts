import type { WorkspaceFacts, WorkspaceObserver } from '../app/ports/workspace-observer.ts';
import { defined, isObject } from '../core/json/json-value.ts';
import { type ObservationData, observationSchema } from '../core/log/events/run-events.ts';
import { plainDigestSchema } from '../core/log/ids.ts';
import type { BoundWorkspace, ChangedFile } from '../core/run/gate-facts.ts';

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

function treeIn({ head_sha, tree_digest, changed }: { readonly [name in keyof WorkspaceFacts]: unknown }) {
  const treeDigest = plainDigestSchema.safeParse(tree_digest);
  if (!treeDigest.success || typeof head_sha !== 'string' || !COMMIT.test(head_sha)) return undefined;
  const files = Array.isArray(changed) ? changed.slice(0, CHANGED_MAX).flatMap(changedFile) : [];
  return { headSha: head_sha, treeDigest: treeDigest.data, changed: files } satisfies BoundWorkspace;
}

function changedFile(entry: unknown): readonly ChangedFile[] {
  const { state, path, blob } = isObject(entry) ? entry : {};
  if (typeof state !== 'string' || typeof path !== 'string') return [];
  return [{ state: state.slice(0, 2), path, ...defined({ blob: typeof blob === 'string' ? blob : undefined }) }];
}
