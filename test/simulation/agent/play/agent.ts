import { filledCall } from '../../../examples/filled-call.ts';
import type { SeededRandom } from '../../seeded-random.ts';
import { type Done, outputOf, withArguments } from '../faults/fault.ts';
import { knownPlace } from '../reader/known-places.ts';
import { type Call, type Reply, readReply, type Sight, withOwnValues } from '../reader/obedient-reader.ts';
import { type Told, told } from '../witness/told.ts';
import { isMarked, mark, type Witness } from '../witness/witness.ts';
import type { Chat } from '../world/world.ts';

/** A run as an agent knows it. */
export type Run = { at: Told; readonly past: Done[]; faults: number };

/** An agent at work. It can do everything right, if it wants to. */
export type Agent = {
  readonly random: SeededRandom;
  readonly sight: Sight;
  /** Notes for a run that were never sent before. */
  readonly notes: (run: Pick<Told, 'tag'>) => string;
  /** A call that a reply told, with the agent's own values for the run it is at work on. */
  readonly own: (call: Call, run: Pick<Told, 'tag'>, toldBy: Told | undefined) => Call;
  /** Begins a run, sometimes in the session of another one. */
  readonly start: (chat: Chat, others: readonly Run[]) => Promise<Run>;
  /** Sends a call that is right, and goes on from its reply. */
  readonly take: (chat: Chat, run: Run, call: Call) => Promise<void>;
  /** Sends the offered calls until the run is complete; says whether it was. */
  readonly finish: (chat: Chat, run: Run) => Promise<boolean>;
};

const MODES = ['guided', 'full_auto_stop_on_user_deps', 'full_auto_never_stop'];
const CALLS_TO_END_MAX = 80;
const CONTEXTS = [{ depth: 'deep' }, { depth: null }, { broken: true }, { depth: 'deep', broken: false }];

type Nature = { readonly random: SeededRandom; readonly sight: Sight; readonly workflowIds: readonly string[] };

export function newAgent(witness: Witness, { random, sight, workflowIds }: Nature): Agent {
  let count = 0;
  const notes: Agent['notes'] = ({ tag }) => `What I did, and because of what: ${mark(++count, tag)}.`;
  const own: Agent['own'] = (call, run, toldBy) =>
    withOwnValues(filledCall(call, knownPlace(toldBy?.workflowId, toldBy?.stepId)), {
      notes: (filled) => (isMarked(filled) ? filled : `${filled} ${notes(run)}`),
      decision: (filled) => (toldBy !== undefined && mayGoOn(toldBy) && random.chance(0.5) ? 'continue' : filled),
    });

  async function take(chat: Chat, run: Run, call: Call): Promise<void> {
    const to = told(await witness.send(chat, call));
    if (to === undefined) return;
    run.past.push({ at: run.at, call, to });
    run.at = to;
  }

  return {
    random,
    sight,
    notes,
    own,
    take,
    start: async (chat, others) => {
      const host = others.length > 0 && random.chance(0.3) ? { attachTo: random.pick(others).at.stateToken } : {};
      const given = { ...startArguments(random, workflowIds), ...host };
      const reply = await witness.send(chat, { tool: 'start_workflow', arguments: given });
      return { at: expectTold(reply), past: [], faults: 0 };
    },
    finish: async (chat, run) => {
      for (let calls = 0; calls < CALLS_TO_END_MAX; calls++) {
        const { next, isComplete } = readReply(run.at.reply, sight);
        if (isComplete || next === undefined) return isComplete;
        await take(chat, run, own(next, run.at, run.at));
      }
      return false;
    },
  };
}

/** The call that is right where a run stands, sometimes with a fact that changes what comes next. */
export function rightCall(agent: Agent, { at }: Run): Call | undefined {
  const { random, own } = agent;
  if (at.nextCall === undefined) return undefined;
  const call = withNotes(agent, own(at.nextCall, at, at), at);
  if (!random.chance(0.2)) return call;
  return withArguments(call, {
    context: { ...(call.arguments['context'] as object | undefined), ...random.pick(CONTEXTS) },
  });
}

/** Most agents write something down even where nobody asks for it. */
function withNotes({ random, notes }: Agent, call: Call, at: Told): Call {
  const output = outputOf(call);
  if (output.notesMarkdown !== undefined || call.tool !== 'continue_workflow' || random.chance(0.2)) return call;
  return withArguments(call, { output: { ...output, notesMarkdown: notes(at) } });
}

/** A correction is sent as it was told, and nobody asks for more rounds than there are. */
function mayGoOn({ kind, prompt }: Told): boolean {
  const [, round, rounds] = /: round (\d+) of at most (\d+)/.exec(prompt) ?? [];
  return kind === 'ok' && round !== rounds;
}

function startArguments(random: SeededRandom, workflowIds: readonly string[]): Call['arguments'] {
  const workflowId = random.pick(workflowIds);
  const files = Array.from({ length: random.below(3) }, (_, i) => `file-${i}.ts`);
  return {
    workflowId,
    ...(random.chance(0.8) ? { goal: `Get ${workflowId} done.` } : {}),
    ...(random.chance(0.7) ? { mode: random.pick(MODES) } : {}),
    ...(random.chance(0.7) ? { context: { files } } : {}),
  };
}

function expectTold(reply: Reply): Told {
  const at = told(reply);
  if (at === undefined) throw new Error(`a right call was refused: ${JSON.stringify(reply.structuredContent)}`);
  return at;
}
