import { unreachable } from '../../../core/assert.ts';
import type { ExpectedEnd, SentStep } from '../../../core/author/scenario.ts';
import type { PlayedCall, PlayedRun, Stuck } from '../../author/play-run.ts';

/** Everything in which a run differs from what was expected of it; none when it went as it should. */
export function judgeScenario(
  run: PlayedRun,
  { expected, left }: { readonly expected: ExpectedEnd; readonly left: readonly SentStep[] },
): readonly string[] {
  const unexpected = run.calls.flatMap(judgeCall);
  return [
    ...unexpected,
    ...(run.stuck === undefined || expected.complete === false ? [] : [stuckWords(run.stuck)]),
    ...left.map(({ at }) => `"${at}" is listed under "steps", but was not due when its turn came`),
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

/** A block that only asks the user says nothing against the step, unless its author was sure that it passes. */
function judgeCall({ stepId, listed: sent, blockers }: PlayedCall): readonly string[] {
  if (sent === undefined) return [];
  const at = `"${stepId ?? ''}"`;
  const isBlocked = blockers.length > 0;
  const said = blockers.map(({ code, message }) => `${code}: ${message}`).join('; ');
  if (sent.expect === 'blocked') {
    if (!isBlocked) return [`${at} was to be blocked, but was taken as done`];
    const codes = blockers.map(({ code }) => code);
    const missing = (sent.blockers ?? []).filter((code) => !codes.includes(code));
    return missing.map((code) => `${at} was not blocked with ${code}, but with ${said}`);
  }
  const isOnlyAsked = sent.expect === undefined && blockers.every(({ code }) => code === 'USER_ONLY_DEPENDENCY');
  return isBlocked && !isOnlyAsked ? [`${at} is blocked: ${said}`] : [];
}

export function stuckWords(stuck: Stuck): string {
  switch (stuck.code) {
    case 'no_way_on': {
      const why = stuck.blockers.map(({ code, message }) => `${code}: ${message}`).join('; ');
      return `stuck at "${stuck.stepId ?? 'the start'}": sending what the reply asks for does not lead on (${why})`;
    }
    case 'refused':
      return `the call at "${stuck.stepId ?? 'the start'}" was refused with ${stuck.refusal}`;
    case 'stopped':
      return `stopped at "${stuck.stepId ?? 'the start'}"`;
    case 'too_long':
      return `not complete after ${stuck.calls} calls: does a loop ever end?`;
    default:
      return unreachable(stuck);
  }
}

function judgePath(path: readonly string[], expected: readonly string[] | undefined): readonly string[] {
  if (expected === undefined) return [];
  const length = Math.max(path.length, expected.length);
  const at = Array.from({ length }, (_, i) => i).find((i) => path[i] !== expected[i]);
  if (at === undefined) return [];
  const due = path[at] === undefined ? 'the run was over' : `"${path[at]}" was due`;
  const wanted = expected[at] === undefined ? 'the end' : `"${expected[at]}"`;
  return [`the path differs at place ${at + 1}: expected ${wanted}, but ${due}; the path was ${listed(path)}`];
}

function judgeBlocks({ blocks, calls }: PlayedRun, expected: number | undefined): readonly string[] {
  if (expected === undefined || expected === blocks) return [];
  const where = calls.filter(({ blockers }) => blockers.length > 0).map(({ stepId }) => stepId ?? 'the start');
  return [`there were ${blocks} blocks, not ${expected}${blocks === 0 ? '' : `: at ${listed(where)}`}`];
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
    ...missing.map(({ category, detail }) => `there is no open gap ${category}${detail ? `:${detail}` : ''}`),
    ...left.map(({ category, detail }) => `there is a gap that was not expected, ${category}:${detail}`),
  ];
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ');
}
