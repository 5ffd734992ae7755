import { defined } from '../json/json-value.ts';
import { runTag, type SessionId } from '../log/ids.ts';
import { shownOrigin } from '../log/origin.ts';
import { attestationWords } from '../views/attestations.ts';
import { checksWithRuns, evidenceWords } from '../views/line-checks.ts';
import { isAgentsDecision } from '../views/node-facts.ts';
import type { ListedSessionData } from '../wire/list-shapes.ts';
import type { GapData, PlaceData, RunData } from '../wire/session-shapes.ts';
import { isAt, type SessionRow, titleOf } from './board-rows.ts';
import type { DuePlace } from './due-step.ts';
import type { PlacedGap, RunStanding } from './run-standing.ts';

type Known = { readonly shortId: (sessionId: SessionId) => string; readonly workspaces: readonly string[] };

export function listedSessionData(row: SessionRow, { shortId, workspaces }: Known): ListedSessionData {
  const { sessionId, state, summary, closed, marks } = row;
  const { isKept, origin } = marks;
  const title = summary && titleOf(summary.runs);
  const { repo_root: workspace, git_branch: branch } = summary?.observed ?? {};
  return {
    sessionId,
    shortId: shortId(sessionId),
    state,
    ...defined({ title, lastAt: summary?.lastAt, workspace, branch, author: summary?.author }),
    runs: (summary?.runs ?? []).map(({ runId, workflowId, goal, status }) => ({
      runId,
      tag: runTag(runId),
      workflowId,
      ...defined({ goal }),
      status,
      isClosed: closed.has(runId),
    })),
    isHere: isAt(row, workspaces),
    isKept,
    ...(origin === undefined ? {} : { origin: shownOrigin(origin) }),
  };
}

export function placeData(place: DuePlace): PlaceData {
  if (place.kind !== 'step') return place;
  const { stepId, title, position, loopPath } = place;
  return {
    kind: 'step',
    stepId,
    title,
    ...defined({ position }),
    ...(loopPath.length > 0 && {
      rounds: loopPath.map(({ loopId, iteration }) => ({ loopId, round: iteration + 1 })),
    }),
  };
}

type RunHeadData = Pick<
  RunData,
  'runId' | 'tag' | 'workflowId' | 'workflowName' | 'goal' | 'status' | 'isClosed' | 'openGaps'
>;

export function runHeadData(run: RunStanding): RunHeadData {
  const { runId, tag, workflowId, workflowName, goal, status, isClosed } = run;
  return {
    runId,
    tag,
    workflowId,
    ...defined({ workflowName, goal, status }),
    isClosed,
    openGaps: run.gaps.filter((gap) => !isAgentsDecision(gap)).length,
  };
}

export function runData(run: RunStanding): RunData {
  const { startedAt, activeAt, place, stepsTotal, branches, checkpoints, attempts, blockers, gaps, preferences } = run;
  return {
    ...runHeadData(run),
    source: run.source,
    ...defined({ startedAt, lastAt: activeAt, stepsTotal }),
    place: placeData(place),
    branches,
    ...(branches > 0 ? defined({ branch: run.branch }) : {}),
    checkpoints,
    attempts,
    blockers: [...blockers],
    ...saidData(run),
    gaps: gaps.map(shownGap),
    ...(run.dueChecks.length === 0
      ? {}
      : {
          dueChecks: run.dueChecks.map(({ checkId, minimum }) => ({
            checkId,
            minimum,
            command: `workrail attest ${run.tag} ${checkId}`,
          })),
        }),
    ...evidenceData(run),
    preferences,
    ...defined({ setBy: run.setBy }),
  };
}

function evidenceData({ checks, evidence }: RunStanding): Pick<RunData, 'checks' | 'answers'> {
  const answers = evidence.flatMap(({ kind, about, words }) => (kind === 'answer' ? [{ about, words }] : []));
  const shown = checksWithRuns(checks, evidence).map(({ check, run }) =>
    defined({ ...check, run: run && evidenceWords(run), command: run?.command }),
  );
  return { ...(shown.length === 0 ? {} : { checks: shown }), ...(answers.length === 0 ? {} : { answers }) };
}

/** What people and commands said since the agent's last call. */
export function saidData({ answer, shownChecks }: RunStanding): Pick<RunData, 'answer' | 'shownChecks'> {
  const said = answer?.statement.kind;
  return {
    ...(answer === undefined || said === undefined || said === 'check'
      ? {}
      : { answer: { statement: said, words: attestationWords(answer) } }),
    ...(shownChecks.length === 0 ? {} : { shownChecks: [...shownChecks] }),
  };
}

export function shownGap({ severity, reason, summary, place }: PlacedGap): GapData {
  const at = place === undefined ? undefined : placeData(place);
  return {
    severity,
    category: reason.category,
    detail: reason.detail,
    summary,
    ...(at?.kind === 'step' ? { place: at } : {}),
  };
}
