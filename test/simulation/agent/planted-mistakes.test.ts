import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { SessionEvent } from '../../../src/core/log/event.ts';
import { filledCall } from '../../examples/filled-call.ts';
import { judgeLog } from './judge/judge-log.ts';
import type { Call, Reply } from './reader/obedient-reader.ts';
import { runNodes } from './witness/run-nodes.ts';
import { type Told, told } from './witness/told.ts';
import { mark, newWitness } from './witness/witness.ts';
import { memoryWorld } from './world/memory-world.ts';
import { SMALL_FILES } from './world/small-workflows.ts';
import type { Chat } from './world/world.ts';

const start = (workflowId: string): Call => ({ tool: 'start_workflow', arguments: { workflowId } });
const report = ({ ackToken, tag }: Told): Call => ({
  tool: 'continue_workflow',
  arguments: { ackToken, output: { notesMarkdown: `Did it, because ${mark(1, tag)}.` } },
});

/** Two runs, and a server that lies from then on. */
async function lyingWorld(lie: (chat: Chat, at: { readonly mine: Told; readonly other: Told }) => Chat['call']) {
  const world = memoryWorld(SMALL_FILES);
  const witness = newWitness(world);
  const chat = await world.newChat();
  const mine = told(await witness.send(chat, start('sim.plain'))) ?? expect.fail('a run begins');
  const other = told(await witness.send(chat, start('sim.contracts'))) ?? expect.fail('a run begins');
  const liar = { ...chat, call: lie(chat, { mine, other }) };
  return { world, witness, chat: liar, mine };
}

/** The start of each violation that a report to a lying server leads to, sent twice. */
async function caught(lie: Parameters<typeof lyingWorld>[0]): Promise<readonly string[]> {
  const { witness, chat, mine } = await lyingWorld(lie);
  await witness.send(chat, report(mine));
  await witness.send(chat, report(mine));
  return [...new Set(witness.violations.map((what) => what.split(':')[0] ?? ''))];
}

const withData = (reply: Reply, change: object): Reply => ({
  ...reply,
  structuredContent: { ...reply.structuredContent, ...change },
});
const REFUSED: Reply = {
  content: [{ type: 'text', text: 'no' }],
  structuredContent: {
    kind: 'error',
    error: { code: 'INTERNAL', message: 'no', suggestion: 'no', retry: { kind: 'not_retryable' } },
  },
};

describe('the witness of the simulator', () => {
  it('has nothing to say about a server that does what it should', async () => {
    expect(await caught((chat) => chat.call)).toEqual([]);
  });

  it.each<readonly [what: string, violation: string, lie: Parameters<typeof lyingWorld>[0]]>([
    [
      'does the step of another run',
      'a run grew that no token of the call belongs to',
      (chat, { other }) =>
        (call) =>
          chat.call({ ...call, arguments: { ...call.arguments, ackToken: other.ackToken } }),
    ],
    [
      'writes notes into another run',
      `notes of another run were recorded in`,
      (chat, { other }) =>
        async (call) => {
          await chat.call({ ...call, arguments: { ...call.arguments, ackToken: other.ackToken } });
          return chat.call(call);
        },
    ],
    [
      'loses notes',
      'acknowledged but not recorded',
      (chat) => (call) => chat.call({ ...call, arguments: { ...call.arguments, output: { notesMarkdown: 'Lost.' } } }),
    ],
    [
      'records what it refuses',
      'a refused call added to the log',
      (chat) => async (call) => {
        await chat.call(call);
        return REFUSED;
      },
    ],
    [
      'advances twice by one token',
      'one token advanced twice',
      (chat) => async (call) => {
        const next = told(await chat.call(call))?.nextCall ?? expect.fail('a step follows');
        return chat.call(next);
      },
    ],
    [
      'answers a replay in other words',
      'a replay got another reply',
      (chat) => {
        let count = 0;
        return async (call) => withData(await chat.call(call), { goal: `Reply ${count++}.` });
      },
    ],
    [
      'tells text and data differently',
      'text and data tell different things',
      (chat) => async (call) =>
        withData(await chat.call(call), { nextCall: { tool: 'list_workflows', arguments: {} } }),
    ],
    [
      'sends what no schema knows',
      'the reply does not fit its schema',
      (chat) => async (call) => withData(await chat.call(call), { surprise: 1 }),
    ],
  ])('catches one that %s', async (_, violation, lie) => {
    expect((await caught(lie)).map((what) => what.replace(/ run_\w+$/, ''))).toContain(violation);
  });

  it('catches a log that was changed after the fact', async () => {
    const { world, chat, mine } = await lyingWorld(({ call }) => call);
    let isCut = false;
    const cut = () => new Map([...world.log()].map(([id, events]) => [id, isCut ? events.slice(0, -1) : events]));
    const witness = newWitness({ ...world, log: cut });
    await witness.send(chat, report(mine));
    isCut = true;
    await witness.send(chat, { tool: 'continue_workflow', arguments: { stateToken: mine.stateToken } });
    expect(witness.violations).toContainEqual(expect.stringContaining('was changed after the fact'));
  });
});

describe('the judge of the simulator', () => {
  /** A run through rounds, with a step that is skipped. */
  async function finished() {
    const world = memoryWorld(SMALL_FILES);
    const chat = await world.newChat();
    let at = told(await chat.call(start('sim.rounds')));
    while (at?.nextCall !== undefined) at = told(await chat.call(filledCall(at.nextCall)));
    return { world, events: [...world.log().values()].flat() };
  }

  async function judged(change: (events: readonly SessionEvent[]) => readonly SessionEvent[]) {
    const { world, events } = await finished();
    const nodes = runNodes();
    const changed = change(events);
    nodes.add(changed);
    return judgeLog(world.services, nodes, changed);
  }

  const without = (kind: SessionEvent['kind']) => (events: readonly SessionEvent[]) =>
    events.filter((event) => event !== events.find((one) => one.kind === kind));

  it('finds nothing wrong with a run that went as it should', async () => {
    expect(await judged((events) => events)).toEqual([]);
  });

  it.each([
    ['a step that is skipped without a word', without('step_skipped'), 'skipped'],
    ['a step without the notes that it asks for', without('node_output_appended'), 'was taken without notes'],
    ['a step that no attempt led to', without('advance_recorded'), 'was made by 0 attempts'],
    ['a step that is taken out of order', outOfOrder, 'out of order'],
    ['a token in the log', withToken, 'a token is in the log'],
  ])('finds %s', async (_, change, violation) => {
    expect(await judged(change)).toContainEqual(expect.stringContaining(violation));
  });
});

/** The second step stands where the third one should. */
function outOfOrder(events: readonly SessionEvent[]): readonly SessionEvent[] {
  const nodes = events.filter((event) => event.kind === 'node_created');
  const [, second, third] = nodes;
  return events.map((event) =>
    event.kind === 'node_created' && event === second && third !== undefined
      ? { ...event, data: { ...event.data, snapshotRef: third.data.snapshotRef } }
      : event,
  );
}

function withToken(events: readonly SessionEvent[]): readonly SessionEvent[] {
  const workflowSourceRef = `ack_${'a'.repeat(48)}`;
  return events.map((event) =>
    event.kind === 'run_started' ? { ...event, data: { ...event.data, workflowSourceRef } } : event,
  );
}

it('the obedient reader is short, and knows nothing of the program', () => {
  const source = readFileSync(new URL('./reader/obedient-reader.ts', import.meta.url), 'utf8');
  expect(source.trimEnd().split('\n').length).toBeLessThanOrEqual(80);
  expect(source).not.toMatch(/^\s*import\b|\bimport\(|\brequire\(/m);
});
