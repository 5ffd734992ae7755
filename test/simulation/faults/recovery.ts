import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type FileSystem, layout } from '../../../src/adapters/file-store/disk/disk.ts';
import { rehydrate } from '../../../src/app/run/rehydrate.ts';
import { sealWorkflow } from '../../../src/core/workflow/compiled/sealed-workflow.ts';
import { SMALL_WORKFLOW } from '../../examples/compiled.ts';
import { sha256 } from '../../examples/sha256.ts';
import { goOn, nextReply, type Progress, REPLIES_MAX, servicesOn } from './progress.ts';
import { ROOT, type SimulatedStore, storeOn } from './simulated-store.ts';
import { manifestBehind, SMALL_SESSION, SMALL_SESSION_ID, unsignedRecords } from './small-session.ts';

/** What is wrong with a store after a crash; `undefined` when nothing is. */
export type Violation = string | undefined;

/** The most plans that a recovery goes on with: the one that may have been in flight, and a further one. */
const APPENDS_BEHIND = 2;

/**
 * Opens a store after a crash and checks its guarantees: everything acknowledged is there byte for byte, at most the
 * append in flight besides, nothing else, and work can continue.
 */
export async function checkRecovery(fs: FileSystem, acknowledged: Progress): Promise<Violation> {
  const store = storeOn(fs);
  const appends = await appendsIn(store);
  if (typeof appends === 'string') return appends;
  if (appends < acknowledged.appends) return `lost: ${appends} of ${acknowledged.appends} appends are left`;
  if (appends > acknowledged.appends + 1) return `invented: ${appends} appends, ${acknowledged.appends} acknowledged`;
  const wrong =
    (await wrongContent(fs, store, appends)) ??
    (await wrongBesides(store, acknowledged)) ??
    (await wrongReplies(store, acknowledged));
  if (wrong !== undefined) return wrong;

  const until = Math.min(acknowledged.appends + APPENDS_BEHIND, SMALL_SESSION.length);
  const { length } = acknowledged.replies;
  const replies = length === 0 ? 0 : Math.min(length + 1, REPLIES_MAX);
  const gone = await goOn(store, acknowledged, { appends: until, replies });
  if ('what' in gone) return `unusable: ${gone.what}: ${JSON.stringify(gone.refusal)}`;
  const again = storeOn(fs);
  const after = await appendsIn(again);
  if (after !== gone.appends) return `went on to ${gone.appends} appends, then found ${after}`;
  const written = unsignedRecords(fs.read(manifestPath())).join('\n');
  if (written !== unsignedRecords(manifestBehind(gone.appends)).join('\n'))
    return 'the manifest is not what was written';
  return wrongContent(fs, again, gone.appends);
}

/** How many appends a store finds, or why it does not find the session healthy and made of whole plans. */
async function appendsIn(store: SimulatedStore): Promise<number | string> {
  const loaded = await store.sessions.load(SMALL_SESSION_ID);
  if (loaded.isErr()) {
    return loaded.error.code === 'session_not_found' ? 0 : `unusable: ${JSON.stringify(loaded.error)}`;
  }
  const { nextEventIndex } = loaded.value.view;
  const last = SMALL_SESSION.findIndex(({ events }) => events === nextEventIndex);
  return last < 0 ? `half an append: ${nextEventIndex} events` : last + 1;
}

async function wrongContent(fs: FileSystem, store: SimulatedStore, appends: number): Promise<Violation> {
  const manifest = fs.read(manifestPath()) ?? new Uint8Array();
  const wanted = unsignedRecords(manifestBehind(appends));
  const begin = unsignedRecords(manifest).slice(0, wanted.length);
  if (begin.join('\n') !== wanted.join('\n')) return 'the manifest begins with other records';
  for (const { plan, segment, replies } of SMALL_SESSION.slice(0, appends)) {
    if (!sameBytes(fs.read(join(ROOT, segment.place)), segment.bytes)) return `other bytes in ${segment.place}`;
    for (const ref of plan.snapshots.keys()) {
      const snapshot = await store.snapshots.get(ref);
      if (snapshot.isErr()) return `snapshot: ${JSON.stringify(snapshot.error)}`;
    }
    for (const [digest, bytes] of plan.artifacts) {
      const artifact = await store.artifacts.get(digest);
      if (artifact.isErr()) return `artifact: ${JSON.stringify(artifact.error)}`;
      if (!sameBytes(artifact.value, bytes)) return `other bytes in artifact ${digest}`;
    }
    for (const [eventIndex, reply] of replies) {
      const stored = await store.sessions.storedReply(SMALL_SESSION_ID, eventIndex);
      if (!isDeepStrictEqual(stored.unwrapOr(undefined), reply)) return `other reply at ${eventIndex}`;
    }
  }
  return undefined;
}

async function wrongBesides(store: SimulatedStore, { keyring, isPinned }: Progress): Promise<Violation> {
  if (keyring !== undefined) {
    const found = await store.keyring.find();
    if (found.isErr()) return `keyring: ${JSON.stringify(found.error)}`;
    if (!sameBytes(found.value?.current, keyring.current)) return 'the keyring is lost';
  }
  if (isPinned) {
    const pinned = await store.pinnedWorkflows.get(sealWorkflow(SMALL_WORKFLOW, sha256).hash);
    if (pinned.isErr()) return `pinned workflow: ${JSON.stringify(pinned.error)}`;
  }
  return undefined;
}

/** An agent can continue from every reply it got, and gets the same one again. */
async function wrongReplies(store: SimulatedStore, { replies }: Progress): Promise<Violation> {
  for (const [i, { structured }] of replies.entries()) {
    const shown = await rehydrate(servicesOn(store), { stateToken: String(structured['stateToken']) });
    if (shown.isErr()) return `lost: reply ${i}: ${JSON.stringify(shown.error)}`;
  }
  for (const [i, reply] of replies.entries()) {
    const last = replies[i - 1];
    if (last === undefined) continue;
    const again = await nextReply(servicesOn(store), last);
    if (again.isErr()) return `not given again: reply ${i}: ${JSON.stringify(again.error)}`;
    if (!isDeepStrictEqual(again.value, reply)) return `another reply ${i}`;
  }
  return undefined;
}

function manifestPath(): string {
  return join(ROOT, layout.manifest(SMALL_SESSION_ID));
}

function sameBytes(a: Uint8Array | undefined, b: Uint8Array): boolean {
  return a !== undefined && Buffer.compare(a, b) === 0;
}
