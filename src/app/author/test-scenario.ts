import { type ByCode, byCode } from '../../core/assert.ts';
import type { Met } from '../../core/author/coverage.ts';
import type { ExpectedEnd, Scenario, SentStep } from '../../core/author/scenario.ts';
import type { Autonomy } from '../../core/log/autonomy.ts';
import { lossyAgent } from './lossy-agent.ts';
import { listedAnswers, type PlayedCall, type PlayedRun, playRun, type Send, type Stuck } from './play-run.ts';
import type { Rehearsal } from './rehearsal.ts';

/** One scenario in one mode, played by a careful agent and by a lossy one. */
export type TestedScenario = {
  readonly name: string;
  readonly mode: Autonomy;
  /** How it differs from what was expected; empty if it passed. */
  readonly failures: readonly string[];
  readonly path: readonly string[];
  /** The size of all replies to a careful agent. */
  readonly bytesRead: number;
};

type Asked = {
  readonly workflowId: string;
  readonly workspace: string;
  readonly scenario: Scenario;
  readonly mode: Autonomy;
  /** The first fault of the lossy agent. */
  readonly number: number;
  readonly yieldNow: () => Promise<void>;
};

const NOTHING_MET: Met = { stepIds: [], outcomes: [] };

/** Plays a scenario twice, each time on a new store. A lossy agent must not change the outcome. */
export async function testScenario(
  stage: () => Promise<Rehearsal>,
  asked: Asked,
): Promise<{ readonly tested: TestedScenario; readonly met: Met }> {
  const head = { name: asked.scenario.name, mode: asked.mode };
  const careful = await stage();
  const plain = await played(careful, careful.send, asked);
  if (plain.isErr()) {
    return {
      tested: { ...head, failures: [`does not start: ${plain.error}`], path: [], bytesRead: 0 },
      met: NOTHING_MET,
    };
  }
  const { run, failures } = plain.value;
  const { path, bytesRead, met } = run;
  if (failures.length > 0) return { tested: { ...head, failures, path, bytesRead }, met };
  const world = await stage();
  const lossy = lossyAgent(world, asked.number);
  const again = await played(world, lossy.send, asked);
  const differing = again.match(
    (one) => [...lossy.problems, ...one.failures, ...differences(run, one.run)],
    (code) => [`does not start: ${code}`],
  );
  const lossyFailures = differing.map((words) => `with a lossy agent: ${words}`);
  return { tested: { ...head, failures: lossyFailures, path, bytesRead }, met };
}

async function played(stage: Rehearsal, send: Send, { scenario, workflowId, workspace, mode, yieldNow }: Asked) {
  const { answer, left } = listedAnswers(scenario.steps ?? []);
  const { goal, context, modeSetBy, expect: expected } = scenario;
  const request = { workflowId, workspace, mode, modeSetBy, goal, context };
  const run = await playRun({ stage, send, answer, yieldNow }, request);
  return run.map((one) => ({ run: one, failures: judgeScenario(one, { expected, left }) })).mapErr(({ code }) => code);
}

function differences(careful: PlayedRun, lossy: PlayedRun): readonly string[] {
  if (careful.path.join() === lossy.path.join()) return [];
  return [`took a different path: ${lossy.path.join(', ')}`];
}

/** How a run differs from what was expected; empty if it passed. */
function judgeScenario(
  run: PlayedRun,
  { expected, left }: { readonly expected: ExpectedEnd; readonly left: readonly SentStep[] },
): readonly string[] {
  const unexpected = run.calls.flatMap(judgeCall);
  return [
    ...unexpected,
    ...(run.stuck === undefined || expected.complete === false ? [] : [stuckWords(run.stuck)]),
    ...left.map(({ at }) => `"${at}" is listed under "steps", but was not the pending step at its turn`),
    ...judgePath(run.path, expected.path),
    ...(expected.skipped ?? [])
      .filter((stepId) => !run.skipped.includes(stepId))
      .map((stepId) => `"${stepId}" was not skipped; skipped: ${listed(run.skipped)}`),
    ...judgeBlocks(run, expected.blocks),
    ...judgeGaps(run, expected.gaps),
    ...(expected.complete === undefined || expected.complete === run.isComplete
      ? []
      : [`the run is ${run.isComplete ? '' : 'not '}complete`]),
  ];
}

/** A block that only asks the user is not a failure, unless the author expects the step to pass. */
function judgeCall({ stepId, listed: sent, blockers }: PlayedCall): readonly string[] {
  if (sent === undefined) return [];
  const at = `"${stepId ?? ''}"`;
  const isBlocked = blockers.length > 0;
  const said = blockers.map(({ code, message }) => `${code}: ${message}`).join('; ');
  if (sent.expect === 'blocked') {
    if (!isBlocked) return [`${at} should be blocked, but was accepted`];
    const codes = blockers.map(({ code }) => code);
    const missing = (sent.blockers ?? []).filter((code) => !codes.includes(code));
    return missing.map((code) => `${at} was not blocked with ${code}, but with ${said}`);
  }
  const isOnlyAsked = sent.expect === undefined && blockers.every(({ code }) => code === 'USER_ONLY_DEPENDENCY');
  return isBlocked && !isOnlyAsked ? [`${at} is blocked: ${said}`] : [];
}

export function stuckWords(stuck: Stuck): string {
  return byCode(STUCK_WORDS, stuck);
}

const STUCK_WORDS: ByCode<Stuck, string> = {
  no_way_on: ({ stepId = 'the start', blockers }) => {
    const why = blockers.map(({ code, message }) => `${code}: ${message}`).join('; ');
    return `stuck at "${stepId}": sending what the reply asks for does not help (${why})`;
  },
  refused: ({ stepId = 'the start', refusal }) => `the call at "${stepId}" was refused with ${refusal}`,
  stopped: ({ stepId = 'the start' }) => `stopped at "${stepId}"`,
  too_long: ({ calls }) => `not complete after ${calls} calls. Check that every loop ends.`,
};

function judgePath(path: readonly string[], expected: readonly string[] | undefined): readonly string[] {
  if (expected === undefined) return [];
  const length = Math.max(path.length, expected.length);
  const at = Array.from({ length }, (_, i) => i).find((i) => path[i] !== expected[i]);
  if (at === undefined) return [];
  const due = path[at] === undefined ? 'the run was complete' : `"${path[at]}" was pending`;
  const wanted = expected[at] === undefined ? 'the end' : `"${expected[at]}"`;
  return [`the path differs at place ${at + 1}: expected ${wanted}, but ${due}; the path was ${listed(path)}`];
}

function judgeBlocks({ blocks, calls }: PlayedRun, expected: number | undefined): readonly string[] {
  if (expected === undefined || expected === blocks) return [];
  const where = calls.filter(({ blockers }) => blockers.length > 0).map(({ stepId }) => stepId ?? 'the start');
  return [`blocks: expected ${expected}, got ${blocks}${blocks === 0 ? '' : `: at ${listed(where)}`}`];
}

function judgeGaps({ gaps }: PlayedRun, expected: ExpectedEnd['gaps']): readonly string[] {
  if (expected === undefined) return [];
  const left = gaps.map(({ reason }) => reason);
  const missing = expected.filter(({ category, detail }) => {
    const at = left.findIndex((gap) => gap.category === category && (detail === undefined || gap.detail === detail));
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
  return [
    ...missing.map(({ category, detail }) => `missing open gap ${category}${detail ? `:${detail}` : ''}`),
    ...left.map(({ category, detail }) => `unexpected gap ${category}:${detail}`),
  ];
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ');
}
