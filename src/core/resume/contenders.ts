import type { RankedRun } from './rank-runs.ts';
import type { ResumeQuestion } from './resume-question.ts';

/** The last tier whose match says that a run is meant, and not only that it exists. */
const TELLING_TIER_MAX = 3;

/**
 * The runs that may be the one that is meant, best first. Exactly one is a strong match: it was named, or it is the only
 * unfinished run of the best telling tier, in the workspace where one is known. Who says nothing but the workspace means
 * the only unfinished run in it.
 */
export function likelyRuns(ranked: readonly RankedRun[], question: ResumeQuestion): readonly RankedRun[] {
  const open = ranked.filter(({ run }) => run.status === 'in_progress' || run.status === 'blocked');
  if (question.sessionId !== undefined || question.runId !== undefined) return [...open, ...ranked].slice(0, 1);
  const isPlaced = question.workspaces.length > 0;
  const here = isPlaced ? open.filter(({ isSameWorkspace }) => isSameWorkspace) : open;
  const bestTier = ranked[0]?.tier ?? Number.POSITIVE_INFINITY;
  const telling = bestTier > TELLING_TIER_MAX ? [] : here.filter(({ tier }) => tier === bestTier);
  if (telling.length === 1) return telling;
  return question.isOfWorkspaceOnly && isPlaced ? here : telling;
}
