import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { FileSystem, WritableFile } from '../src/adapters/file-store/disk/disk.ts';
import { nodeFileSystem } from '../src/adapters/file-store/disk/node-file-system.ts';
import { fileStore, storeOf } from '../src/adapters/file-store/file-store.ts';
import { systemLocks } from '../src/adapters/lock/system-locks.ts';
import { nodeHasher } from '../src/adapters/system.ts';
import type { SessionStore } from '../src/app/ports/session-store.ts';
import { assert } from '../src/core/assert.ts';
import { canonicalJson } from '../src/core/json/canonical-json.ts';
import { executionSnapshot, sealSnapshot } from '../src/core/log/execution-snapshot.ts';
import { derivedBits, loopIdSchema, SessionId, stepIdSchema } from '../src/core/log/ids.ts';
import type { AppendPlan } from '../src/core/log/plan/append-plan.ts';
import { SMALL_WORKFLOW } from '../test/examples/compiled.ts';
import { type SessionWriter, sessionWriter, type WrittenNode } from '../test/simulation/session-writer.ts';

const { sha256 } = nodeHasher;

const folders: string[] = [];
const removeFolders = () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
};

/**
 * Works in a temporary folder. It is removed when everything is measured: ext4 does not use an inode again for minutes
 * after its file was deleted, and while it looks for another, creating a file takes up to twenty times as long.
 */
export function inFolder<Value>(work: (root: string) => Promise<Value>): Promise<Value> {
  const root = mkdtempSync(join(tmpdir(), 'workrail-bench-'));
  if (folders.push(root) === 1) process.once('exit', removeFolders);
  return work(root);
}

/** A store as in a process that has just started. */
export function freshStore(root: string) {
  return fileStore(root, sha256);
}

/** The same files without waiting for the disk, to fill a folder in reasonable time. */
export function hastyStore(root: string) {
  const waiting = { pause: (ms: number) => setTimeout(ms), nowMs: () => performance.now() };
  return storeOf({ disk: { fs: withoutFlushes, root }, sha256, locks: systemLocks, waiting, nowMs: Date.now });
}

const withoutFlushes: FileSystem = {
  ...nodeFileSystem,
  syncFile: async () => undefined,
  syncDir: async () => undefined,
  create: async (path) => unflushed(await nodeFileSystem.create(path)),
  openEnd: async (path) => unflushed(await nodeFileSystem.openEnd(path)),
};

function unflushed(file: WritableFile): WritableFile {
  return { ...file, sync: async () => undefined };
}

/** A session that grows step by step, with events and snapshots of the size that real ones have. */
export type GrowingSession = { readonly sessionId: SessionId; step(): AppendPlan };

const WORKFLOW_TEXT = canonicalJson(SMALL_WORKFLOW)._unsafeUnwrap();
const NOTE = words('looked at the parser and found that it', 220);
const REPLY = words('read the code first and then write down what', 400);
const ITEMS = Array.from({ length: 60 }, (_, i) => `src/module-${i}/file-number-${i}.ts`);

/** Ids in order, with ends that differ, as those of real sessions do. */
export function benchSessionId(number: number): SessionId {
  const bits = Buffer.from(derivedBits(['bench', number], sha256));
  bits.writeUIntBE(number, 0, 6);
  return SessionId.of(bits);
}

export function growingSession(number: number): GrowingSession {
  const sessionId = benchSessionId(number);
  const writer = sessionWriter({ sessionId, at: () => 1_700_000_000_000 + number });
  let node: WrittenNode | undefined;
  let steps = 0;
  return {
    sessionId,
    step: () => {
      const note = { name: `note ${steps}`, text: `${NOTE} step${steps} session${number}` };
      node = node === undefined ? firstStep(writer, number) : writer.advance(node, { note });
      steps += 1;
      const plan = writer.plans.at(-1);
      assert(plan !== undefined, 'a step is a plan');
      return inRealSize(plan, number * 100_000 + steps);
    },
  };
}

function firstStep(writer: SessionWriter, number: number): WrittenNode {
  const observed = { git_branch: `branch-${number}` };
  return writer.startRun({ context: { goal: `goal number ${number}` }, observed }, WORKFLOW_TEXT);
}

function inRealSize(plan: AppendPlan, cursor: number): AppendPlan {
  const [written] = plan.snapshots.values();
  assert(written !== undefined, 'a step has a snapshot');
  const loop = { loopId: loopIdSchema.parse('files'), iteration: 0 };
  const snapshot = executionSnapshot(written.workflowHash, {
    kind: 'running',
    cursor,
    completed: { kind: 'set', values: [] },
    loopStack: [{ ...loop, bodyIndex: 0, items: ITEMS }],
    pending: { kind: 'some', step: { stepId: stepIdSchema.parse('step'), loopPath: [loop] } },
  });
  const { ref } = sealSnapshot(snapshot, sha256);
  const events = plan.events.map((event) => {
    if (event.kind === 'node_created') return { ...event, data: { ...event.data, snapshotRef: ref } };
    if (event.kind !== 'advance_recorded') return event;
    return { ...event, data: { ...event.data, reply: { text: [REPLY], structured: {} } } };
  });
  return { ...plan, events, snapshots: new Map([[ref, snapshot]]) };
}

function words(text: string, count: number): string {
  const known = text.split(' ');
  return Array.from({ length: count }, (_, i) => `${known[i % known.length]}${i % 17 === 0 ? i : ''}`).join(' ');
}

/** The workflow of all sessions here, so that verification finds it. */
export async function pinWorkflow({ pinnedWorkflows }: ReturnType<typeof freshStore>): Promise<void> {
  const pinned = await pinnedWorkflows.pin(SMALL_WORKFLOW);
  assert(pinned.isOk(), 'the workflow is pinned');
}

export async function append(sessions: SessionStore, plan: AppendPlan): Promise<void> {
  const appended = await sessions.exclusively(plan.sessionId, (_, permit) => sessions.append(permit, plan));
  assert(appended.isOk(), `not appended: ${JSON.stringify(appended)}`);
}

/** A run of many steps, where the agent went back many times. */
export function forkedSession({ nodes, lines }: { readonly nodes: number; readonly lines: number }) {
  const sessionId = benchSessionId(0);
  let at = 1_700_000_000_000;
  const writer = sessionWriter({ sessionId, at: () => at++ });
  const forks = [writer.startRun({ context: { goal: 'a long way' } }, WORKFLOW_TEXT)];
  for (let line = 0; line < lines; line++) {
    let node = forks[line] ?? forks[0];
    for (let step = 0; step < Math.floor(nodes / lines); step++) {
      assert(node !== undefined, 'a line leaves a step');
      node = writer.advance(node, { note: { name: `note ${line} ${step}`, text: NOTE } });
      if (step === 0) forks.push(node);
    }
  }
  return { sessionId, plans: writer.plans };
}
