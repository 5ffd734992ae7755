import { describe, expect, it } from 'vitest';
import { enforces } from '../../enforces.ts';
import { share } from '../../volume.ts';
import { type Call, type Reply, readReply, type Sight } from './reader/obedient-reader.ts';
import { type Told, told } from './witness/told.ts';
import { newWitness, type Witness } from './witness/witness.ts';
import { memoryWorld } from './world/memory-world.ts';
import { SMALL_FILES } from './world/small-workflows.ts';
import type { Chat } from './world/world.ts';

const RUNS = ['a', 'b'] as const;
const KINDS = ['ackToken', 'stateToken', 'checkpointToken'] as const;
const NOTES = { notesMarkdown: 'What I did.' };

type Kind = (typeof KINDS)[number];
/** A token of one of two runs, by what it is for. */
type Token = { readonly run: (typeof RUNS)[number]; readonly kind: Kind };

const TOKENS: readonly Token[] = RUNS.flatMap((run) => KINDS.map((kind) => ({ run, kind })));
const OPERATIONS = [
  { tool: 'continue_workflow', slot: 'ackToken' },
  { tool: 'checkpoint_workflow', slot: 'checkpointToken' },
] as const;

/** Every token in every place, alone and beside every other one. */
const CASES = OPERATIONS.flatMap((operation) =>
  TOKENS.flatMap((token) =>
    [undefined, ...TOKENS].flatMap((beside) =>
      (['data', 'text'] as const).map((sight) => ({ ...operation, token, beside, sight })),
    ),
  ),
);

describe('two runs in one chat', () => {
  it.each(share(CASES))('cannot be mixed up: $tool with $slot = $token beside $beside, read as $sight', async (one) => {
    enforces('run_tag_everywhere', 'ack_alone_advances', 'advance_only_through_ack');
    const { slot, token, beside, sight } = one;
    const { witness, chat, at } = await twoRuns();
    const call = mixedCall(at, one);
    const before = sizes(witness);
    const reply = await witness.send(chat, call);
    const isRight =
      token.kind === slot && (beside === undefined || (beside.run === token.run && beside.kind === 'stateToken'));
    const grown = (runs: typeof before) => RUNS.filter((run) => sizes(witness)[run] !== runs[run]);
    expect(grown(before)).toEqual(isRight ? [token.run] : []);
    if (isRight) return expect(told(reply)?.kind).toBe('ok');

    for (const run of new Set([token.run, beside?.run ?? token.run])) {
      expect(reply.content[0]?.text).toContain(`run ${at[run].tag} (${at[run].workflowId})`);
    }
    const next = await obeyed(witness, chat, { reply, sight });
    expect(next.kind).toBe('ok');
    // Where the place of a token says which run is meant, the corrected call is about that one.
    const isPlain = token.kind === slot || beside === undefined || beside.run === token.run;
    if (isPlain) expect([next.runId, grown(before)]).toEqual([at[token.run].runId, [token.run]]);
    else expect(grown(before).map((run) => at[run].runId)).toEqual([next.runId]);
    expect(witness.violations).toEqual([]);
  });
});

it.each(TOKENS.flatMap((token) => [{}, { output: NOTES }].map((payload) => ({ token, payload }))))(
  'looking with $token and $payload changes neither run, and is answered with the step or how to see it',
  async ({ token, payload }) => {
    enforces('state_token_with_payload_refused', 'rehydrate_writes_nothing');
    const { witness, chat, at } = await twoRuns();
    const before = sizes(witness);
    const call = { tool: 'continue_workflow', arguments: { stateToken: at[token.run][token.kind], ...payload } };
    const reply = await witness.send(chat, call);
    expect(sizes(witness)).toEqual(before);
    const isShown = token.kind === 'stateToken' && !('output' in payload);
    const shown = isShown ? told(reply) : await obeyed(witness, chat, { reply, sight: 'text' });
    expect([shown?.kind, shown?.runId]).toEqual(['ok', at[token.run].runId]);
    expect(witness.violations).toEqual([]);
  },
);

type Case = (typeof CASES)[number];

type Runs = Record<Token['run'], Told>;

/** Two runs of different workflows, each a step in. */
async function twoRuns() {
  const world = memoryWorld(SMALL_FILES);
  const witness = newWitness(world);
  const chat = await world.newChat();
  const at: Runs = { a: await begun(witness, chat, 'sim.plain'), b: await begun(witness, chat, 'sim.contracts') };
  return { witness, chat, at };
}

function mixedCall(at: Runs, { tool, slot, token, beside }: Case): Call {
  const state = beside === undefined ? {} : { stateToken: at[beside.run][beside.kind] };
  return { tool, arguments: { ...state, [slot]: at[token.run][token.kind], output: NOTES } };
}

async function begun(witness: Witness, chat: Chat, workflowId: string): Promise<Told> {
  const first = await witness.send(chat, {
    tool: 'start_workflow',
    arguments: { workflowId, mode: 'full_auto_never_stop' },
  });
  const step = told(first)?.nextCall ?? expect.fail('a run begins with a step');
  return told(await witness.send(chat, step)) ?? expect.fail('a right call is taken');
}

async function obeyed(witness: Witness, chat: Chat, { reply, sight }: { reply: Reply; sight: Sight }): Promise<Told> {
  const { next } = readReply(reply, sight);
  return told(await witness.send(chat, next ?? expect.fail('a corrected call is told'))) ?? expect.fail('it is taken');
}

function sizes({ nodes }: Witness): Record<(typeof RUNS)[number], number> {
  const runIds = [...new Set([...nodes.byId.values()].map(({ runId }) => runId))];
  const size = (i: number) => [...nodes.byId.values()].filter(({ runId }) => runId === runIds[i]).length;
  return { a: size(0), b: size(1) };
}
