import type { Met } from '../../core/author/coverage.ts';
import type { Scenario } from '../../core/author/scenario.ts';
import type { Autonomy } from '../../core/log/autonomy.ts';
import { listedAnswers } from '../bench/play/listed-answers.ts';
import { judgeScenario } from '../bench/scenario/judge-scenario.ts';
import { lossyAgent } from './lossy-agent.ts';
import { type PlayedRun, playRun, type Send } from './play-run.ts';
import type { Rehearsal } from './rehearsal.ts';

/** One scenario in one mode, played by a careful agent and by a lossy one. */
export type TestedScenario = {
  readonly name: string;
  readonly mode: Autonomy;
  /** In which it differs from what was expected; none when it went as it should. */
  readonly failures: readonly string[];
  readonly path: readonly string[];
  /** All that a careful agent reads on the way. */
  readonly bytesRead: number;
};

type Asked = {
  readonly workflowId: string;
  readonly workspace: string;
  readonly scenario: Scenario;
  readonly mode: Autonomy;
  /** With which fault the lossy agent begins. */
  readonly number: number;
  readonly breathe: () => Promise<void>;
};

const NOTHING_MET: Met = { stepIds: [], outcomes: [] };

/** Plays a scenario twice, each time on a stage of its own. What a lossy agent does must change nothing. */
export async function testScenario(
  stage: () => Rehearsal,
  asked: Asked,
): Promise<{ readonly tested: TestedScenario; readonly met: Met }> {
  const head = { name: asked.scenario.name, mode: asked.mode };
  const careful = stage();
  const plain = await played(careful, careful.send, asked);
  if (plain.isErr()) {
    return {
      tested: { ...head, failures: [`it does not start: ${plain.error}`], path: [], bytesRead: 0 },
      met: NOTHING_MET,
    };
  }
  const { run, failures } = plain.value;
  const { path, bytesRead, met } = run;
  if (failures.length > 0) return { tested: { ...head, failures, path, bytesRead }, met };
  const world = stage();
  const lossy = lossyAgent(world, asked.number);
  const again = await played(world, lossy.send, asked);
  const differing = again.match(
    (one) => [...lossy.problems, ...one.failures, ...differences(run, one.run)],
    (code) => [`it does not start: ${code}`],
  );
  const lossyFailures = differing.map((words) => `with a lossy agent: ${words}`);
  return { tested: { ...head, failures: lossyFailures, path, bytesRead }, met };
}

async function played(stage: Rehearsal, send: Send, { scenario, workflowId, workspace, mode, breathe }: Asked) {
  const { answer, left } = listedAnswers(scenario.steps ?? []);
  const { goal, context, expect: expected } = scenario;
  const run = await playRun({ stage, send, answer, breathe }, { workflowId, workspace, mode, goal, context });
  return run.map((one) => ({ run: one, failures: judgeScenario(one, { expected, left }) })).mapErr(({ code }) => code);
}

function differences(careful: PlayedRun, lossy: PlayedRun): readonly string[] {
  if (careful.path.join() === lossy.path.join()) return [];
  return [`it went another way: ${lossy.path.join(', ')}`];
}
