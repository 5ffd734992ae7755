import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { storeOf } from '../../src/adapters/file-store/file-store.ts';
import { systemLocks } from '../../src/adapters/lock/system-locks.ts';
import { nodeHasher } from '../../src/adapters/system.ts';
import type { CanonicalBytes } from '../../src/core/json/canonical-json.ts';
import type { GivenReply } from '../../src/core/log/operation/stored-reply.ts';
import { appendAll } from '../contract/store-under-test.ts';
import { countingFileSystem } from '../e2e/store/counting-file-system.ts';
import { fastDir } from '../e2e/store/fast-dir.ts';
import { enforces } from '../enforces.ts';
import { SMALL_WORKFLOW } from '../examples/compiled.ts';
import { type Engine, engine, type Sent, stepOf, told, withFile } from '../examples/engine.ts';
import { WALKED, type WalkedWorkflow } from '../examples/walked-workflows.ts';
import { numberedSession, SMALL_WORKFLOW_TEXT, storePartsIn } from '../store-folder.ts';
import { countOperationsDuring } from './count-operations.ts';
import { sessionWriter } from './session-writer.ts';

/** What a call takes: entries touched, file operations, bytes read, and everything that was hashed. */
type Cost = {
  readonly operations: number;
  readonly files: { readonly [name: string]: number };
  readonly bytesRead: number;
  readonly hashed: readonly string[];
};
type Costs = { readonly [call in 'advance' | 'rehydrate' | 'replay' | 'goBack' | 'replayFirst']: Cost };

const EARLY_STEPS = 20;
const LATE_STEPS = 600;
/** A walk over all that is there would touch an entry of every step. Caches are counted with their size until they are full. */
const SAME = 300;

describe.each(WALKED)('a warm call in a walk through a $name workflow', { timeout: 240_000 }, (workflow) => {
  let root: string;
  let early: Costs;
  let late: Costs;

  afterAll(() => rmSync(root, { recursive: true }));
  beforeAll(async () => {
    root = fastDir('call-cost');
    const { costsAfter } = await measuredWalk(workflow, root);
    early = await costsAfter(EARLY_STEPS);
    late = await costsAfter(LATE_STEPS);
    console.log(`entries touched: ${(Object.keys(late) as (keyof Costs)[]).map((call) => shown(call)).join(', ')}`);
  }, 240_000);

  const shown = (call: keyof Costs) => `${call} ${early[call].operations} -> ${late[call].operations}`;

  it('a warm call costs the same at the end of a long session as at its start', () => {
    enforces('budget_advance_cpu', 'budget_rehydrate_replay_cpu', 'call_cost_independent_of_history');
    for (const call of ['advance', 'rehydrate', 'replay', 'replayFirst'] as const) {
      expect(Math.abs(late[call].operations - early[call].operations), shown(call)).toBeLessThan(SAME);
      expect(late[call].files).toEqual(early[call].files);
    }
  });

  it('a warm advance makes five flushes and three small reads and reads nothing that it wrote', () => {
    enforces('budget_advance_cpu');
    const { files, bytesRead } = late.advance;
    expect((files['sync'] ?? 0) + (files['syncDir'] ?? 0)).toBe(5);
    expect(files).toMatchObject({ read: 3, size: 5, create: 2, rename: 2, openEnd: 2 });
    // The keyring, and twice the end of the manifest.
    expect(bytesRead).toBeLessThan(1_500);
  });

  it('a warm advance hashes its snapshot once, and the store checks it once', () => {
    enforces('budget_advance_cpu');
    expect(late.advance.hashed.filter((text) => text.startsWith('{"enginePayload"'))).toHaveLength(2);
    expect(late.advance.hashed.filter((text) => text.includes('"schemaVersion"'))).toEqual([]);
  });

  it('a warm rehydration reads memory, the keyring and the end of the manifest, and a replay reads one segment', () => {
    enforces('budget_rehydrate_replay_cpu');
    // One look is for runs that were closed from outside. What was rendered of an artifact is kept.
    // A look at the last segment shows whether somebody changed it.
    expect(late.rehydrate.files).toEqual({ mode: 1, read: 2, list: 1, version: 1 });
    expect(late.rehydrate.bytesRead).toBeLessThan(1_500);
    expect(late.replay.files).toEqual({ mode: 1, read: 4, version: 2 });
    expect(late.replay.bytesRead).toBeLessThan(16_000);
  });

  it('going back to an old step reads only the notes below it', () => {
    enforces('budget_rehydrate_replay_cpu');
    expect(late.goBack.files).toEqual({ mode: 1, read: 2, list: 1, version: 1 });
    expect(late.goBack.operations - late.rehydrate.operations).toBeLessThan(6 * (EARLY_STEPS + LATE_STEPS));
  });
});

it('a signed append takes exactly the file operations of one without a signature', async () => {
  enforces('log_signatures');
  const root = fastDir('call-cost');
  const { fs, taken } = countingFileSystem();
  const store = storeOf({ ...storePartsIn(root), disk: { fs, root } });
  (await store.keyring.open())._unsafeUnwrap();
  await store.pinnedWorkflows.pin(SMALL_WORKFLOW);
  const costs = [];
  for (const [i, signed] of [{}, { signed: null }].entries()) {
    const sessionId = numberedSession(i);
    const writer = sessionWriter({ sessionId, at: () => 1_000 });
    let node = writer.startRun({}, SMALL_WORKFLOW_TEXT);
    for (let step = 0; step < 3; step++) node = writer.advance(node, { note: { name: `note ${step}`, text: 'done' } });
    for (const plan of writer.plans) {
      await store.sessionIndex.settled();
      taken();
      await appendAll(store.sessions, [{ ...plan, ...signed }]);
    }
    await store.sessionIndex.settled();
    const { operations } = taken();
    const { signature } = (await store.audit.audit(sessionId))._unsafeUnwrap();
    costs.push({ operations, signature: signature.kind });
  }
  rmSync(root, { recursive: true });
  const [signed, unsigned] = costs;
  expect(costs.map(({ signature }) => signature)).toEqual(['signed', 'unsigned']);
  expect(signed?.operations).toEqual(unsigned?.operations);
  expect((signed?.operations.sync ?? 0) + (signed?.operations.syncDir ?? 0)).toBeGreaterThan(0);
});

/** An agent on a store of real files that are not flushed, and what its calls take after so many more steps. */
async function measuredWalk(workflow: WalkedWorkflow, root: string) {
  const { fs, taken } = countingFileSystem();
  const locks = await systemLocks();
  const hashed: string[] = [];
  const sha256 = (bytes: CanonicalBytes) => {
    hashed.push(Buffer.from(bytes).toString('utf8', 0, 200));
    return nodeHasher.sha256(bytes);
  };
  const waiting = { pause: async () => undefined, nowMs: () => performance.now() };
  const store = storeOf({ disk: { fs, root }, sha256, locks: async () => locks, waiting, nowMs: Date.now });
  const hasher = { ...nodeHasher, sha256 };
  const agent = engine({ store, listing: () => withFile(workflow.source), services: { hasher } });
  const { workflowId, ...how } = workflow.start;
  const first = await agent.start(String(workflowId), how);
  let at = first;
  let steps = 0;

  async function cost(call: () => Promise<unknown>): Promise<Cost> {
    // Compacting the index is nobody's call.
    await store.sessionIndex.settled();
    taken();
    hashed.length = 0;
    const operations = await countOperationsDuring(call);
    const { operations: files, bytesRead } = taken();
    return { operations, files, bytesRead, hashed: [...hashed] };
  }

  return {
    costsAfter: async (more: number): Promise<Costs> => {
      for (let i = 0; i < more || !isComparable(at); i++) at = await agent.send(at, sentFor(workflow, at, steps++));
      const here = at;
      const sent = sentFor(workflow, here, steps++);
      const beginning = sentFor(workflow, first, 0);
      // Whatever was asked before, the next answer is as warm as it gets.
      await agent.show(here);
      const rehydrate = await cost(() => agent.show(here));
      const goBack = await warm(agent, first, cost);
      const advance = await cost(async () => {
        at = await agent.send(here, sent);
      });
      const replay = await cost(() => agent.send(here, sent));
      const replayFirst = await cost(() => agent.send(first, beginning));
      return { advance, rehydrate, replay, goBack, replayFirst };
    },
  };
}

async function warm(agent: Engine, to: GivenReply, cost: (call: () => Promise<unknown>) => Promise<Cost>) {
  await agent.show(to);
  return cost(() => agent.show(to));
}

/** The same step in the same situation: what a call takes depends on what it says. */
function isComparable(at: GivenReply): boolean {
  const step = stepOf(at);
  return step === 'step-3' || (step === 'survey' && !String(told(at, 'pending.prompt')).includes('Look at callers'));
}

function sentFor({ report }: WalkedWorkflow, at: GivenReply, steps: number): Sent {
  const { output = {}, context } = report(String(stepOf(at)), steps) as {
    readonly output?: { readonly notesMarkdown?: string; readonly artifacts?: Sent['artifacts'] };
    readonly context?: Sent['context'];
  };
  const { notesMarkdown, artifacts = [] } = output;
  return {
    artifacts,
    ...(notesMarkdown === undefined ? {} : { notes: notesMarkdown }),
    ...(context === undefined ? {} : { context }),
  };
}
