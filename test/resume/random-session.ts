import type { JsonObject } from '../../src/core/json/json-value.ts';
import type { SessionId } from '../../src/core/log/ids.ts';
import { SMALL_WORKFLOWS } from '../simulation/agent/world/small-workflows.ts';
import { type SeededRandom, seededRandom } from '../simulation/seeded-random.ts';
import { HERE, type Machine, nextCall, type Told } from './machine.ts';

const ACTIONS = 14;
const RUNS_MAX = 3;

/** What an agent has seen of each run, oldest first. */
export type PlayedSession = { readonly sessionId: SessionId; readonly runs: readonly (readonly Told[])[] };

/**
 * One session with several runs, in which an agent goes on, is blocked, leaves gaps, saves, hands in artifacts and does
 * steps again from older places.
 */
export async function randomSession(machine: Machine, seed: number): Promise<PlayedSession> {
  const chance = seededRandom(seed);
  const first = await begin(machine, chance, {});
  const runs = [[first]];
  for (let i = 0; i < ACTIONS; i++) {
    if (runs.length < RUNS_MAX && chance.chance(0.15)) {
      runs.push([await begin(machine, chance, { attachTo: first.stateToken })]);
    } else {
      const run = chance.pick(runs);
      run.push(await act(machine, chance, run));
    }
  }
  return { sessionId: first.session.sessionId, runs };
}

function begin({ call }: Machine, chance: SeededRandom, more: JsonObject): Promise<Told> {
  return call('start_workflow', {
    workflowId: chance.pick(SMALL_WORKFLOWS),
    workspacePath: HERE,
    goal: `Goal ${chance.below(1_000)} 😀`,
    context: { files: ['a.ts', 'b.ts'], depth: chance.pick(['deep', 'flat']) },
    ...(chance.chance(0.5) ? { mode: 'full_auto_never_stop' } : {}),
    ...more,
  });
}

async function act({ call }: Machine, chance: SeededRandom, seen: readonly Told[]): Promise<Told> {
  const last = seen.at(-1) as Told;
  const notes = `Note ${chance.below(1_000)} about zebra${chance.below(9)}.`;
  const artifacts = [{ kind: 'note', text: notes }];
  const kind = chance.below(10);
  if (kind < 2 || last.isComplete) {
    const { checkpointToken } = chance.pick(seen);
    return call('checkpoint_workflow', { checkpointToken, output: { notesMarkdown: notes, artifacts } });
  }
  // Nothing at all is handed in: that is blocked, or leaves a gap.
  if (kind < 4 && last.ackToken !== undefined) return call('continue_workflow', { ackToken: last.ackToken });
  const { stateToken } = kind < 6 ? chance.pick(seen) : last;
  const shown = await call('continue_workflow', { stateToken });
  if (shown.nextCall === null) return shown;
  const { tool, arguments: sent } = nextCall(shown, notes);
  return call(tool, sent as JsonObject);
}
