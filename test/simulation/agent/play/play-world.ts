import { seededRandom } from '../../seeded-random.ts';
import { type Fault, hasGotThrough, type Scene } from '../faults/fault.ts';
import { judgeLog } from '../judge/judge-log.ts';
import type { Call, Sight } from '../reader/obedient-reader.ts';
import { told } from '../witness/told.ts';
import { newWitness } from '../witness/witness.ts';
import { SMALL_WORKFLOWS } from '../world/small-workflows.ts';
import type { Chat, World } from '../world/world.ts';
import { newAgent, type Run, rightCall } from './agent.ts';
import { type FixedCall, fixCall } from './fix-call.ts';
import { newTally, type Outcome, rowOf, type Tally } from './tally.ts';

export type Play = {
  readonly seed: number;
  readonly sight: Sight;
  readonly faults: readonly Fault[];
  readonly faultyCalls: number;
};

export type Played = {
  readonly tally: Tally;
  /** What must never happen. */
  readonly violations: readonly string[];
  /** Mistakes that took more than one further call, told in full. */
  readonly notFixed: readonly string[];
  readonly faultyCalls: number;
  readonly completedRuns: number;
};

const OPEN_RUNS = 3;
const FAULTS_PER_RUN = 16;
const KILLED_WITHIN_MS = 30;

/** One store, a few runs at once in one chat, and an agent that does most things wrong. */
export async function playWorld(world: World, { seed, sight, faults, faultyCalls }: Play): Promise<Played> {
  const random = seededRandom(seed);
  const witness = newWitness(world);
  const agent = newAgent(witness, { random, sight, workflowIds: world.workflowIds ?? SMALL_WORKFLOWS });
  const servers = await newServers(world);
  const { chat, freshChat } = servers;
  const restartDuring = async (call: Call) => {
    await witness.lose(chat(), call, random.below(KILLED_WITHIN_MS));
    await servers.replace();
  };
  const tally = newTally();
  const notFixed: string[] = [];
  const runs: Run[] = [];
  let [sent, completedRuns] = [0, 0];

  async function end(run: Run): Promise<void> {
    runs.splice(runs.indexOf(run), 1);
    if (await agent.finish(chat(), run)) completedRuns += 1;
    else witness.violations.push(`stuck: ${run.at.reply.content[0]?.text}`);
  }

  async function slipUp(run: Run, good: Call): Promise<void> {
    const fault = random.pick(faults);
    const others = runs.filter((one) => one !== run && !one.at.isComplete).map(({ at }) => at);
    const { at, past } = run;
    const where = { at, past, others, good };
    const scene: Scene = { witness, random, chat, freshChat, restartDuring, ...where, notes: () => agent.notes(at) };
    const slip = fault.slip(scene);
    if (slip === undefined) return;
    const wrongTimes = random.chance(0.3) ? 2 + random.below(2) : 1;
    const fixed = await fixCall(scene, slip, { sight, wrongTimes, own: agent.own });
    const outcome = outcomeOf(fixed.further);
    const row = rowOf(tally, fault.name);
    row.trials += 1;
    row.calls += wrongTimes;
    row.fromMemory += fixed.isFromMemory ? 1 : 0;
    row.filledForms += fixed.isByForm ? 1 : 0;
    row.outcomes[outcome] += 1;
    sent += wrongTimes;
    run.faults += 1;
    if (outcome !== 'at once' && outcome !== 'in one') notFixed.push(`${fault.name} (${outcome}): ${story(fixed)}`);
    await moveOn(scene, run, fixed);
  }

  while (sent < faultyCalls) {
    while (runs.length < OPEN_RUNS) runs.push(await agent.start(chat(), runs));
    const run = random.pick(runs);
    const good = rightCall(agent, run);
    if (good === undefined || run.faults >= FAULTS_PER_RUN) await end(run);
    else if (random.chance(0.1)) await agent.take(chat(), run, good);
    else await slipUp(run, good);
  }
  for (const run of [...runs]) await end(run);
  const events = [...world.log().values()].flat();
  const violations = [...witness.violations, ...(await judgeLog(world.services, witness.nodes, events))];
  await servers.close();
  const told_ = (what: string) => `seed ${seed}, ${sight}: ${what}`;
  return { tally, violations: violations.map(told_), notFixed: notFixed.map(told_), faultyCalls: sent, completedRuns };
}

type Servers = {
  readonly chat: () => Chat;
  readonly freshChat: () => Promise<Chat>;
  readonly replace: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** The server that the agent talks to, and all that were started beside it. */
async function newServers(world: World): Promise<Servers> {
  const started: Chat[] = [];
  const freshChat = async () => {
    const chat = await world.newChat();
    started.push(chat);
    return chat;
  };
  let current = await freshChat();
  return {
    chat: () => current,
    freshChat,
    replace: async () => {
      current = await freshChat();
    },
    close: async () => {
      await Promise.all(started.map((chat) => chat.close()));
    },
  };
}

/** From where the agent ended up, if that is the run it works on. Who got nowhere looks where the run stands. */
async function moveOn(scene: Scene, run: Run, { at, by, further }: FixedCall): Promise<void> {
  if (at === undefined || at.runId !== run.at.runId) return;
  if (further === undefined) {
    const look = { tool: 'continue_workflow', arguments: { stateToken: at.stateToken } };
    run.at = told(await scene.witness.send(scene.chat(), look)) ?? run.at;
    return;
  }
  if (await hasGotThrough(scene, run.at, at)) run.past.push({ at: run.at, call: by, to: at });
  run.at = at;
}

function outcomeOf(further: number | undefined): Outcome {
  if (further === undefined) return 'never';
  return (['at once', 'in one', 'in two'] as const)[further] ?? 'later';
}

function story({ exchanges }: FixedCall): string {
  return exchanges
    .map(
      ({ call, reply }) => `\n  ${JSON.stringify(call).slice(0, 500)}\n  -> ${reply.content[0]?.text?.slice(0, 700)}`,
    )
    .join('');
}
