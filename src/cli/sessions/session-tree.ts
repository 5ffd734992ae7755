import { err } from 'neverthrow';
import { defined } from '../../core/json/json-value.ts';
import { placeData, runHeadData } from '../../core/sessions/describe-session.ts';
import { skippedTitle } from '../../core/sessions/due-step.ts';
import { type LineStep, type RunLine, runLines } from '../../core/sessions/run-lines.ts';
import type { RunStanding } from '../../core/sessions/run-standing.ts';
import { indexWorkflow, stepsInside } from '../../core/workflow/compiled/workflow-index.ts';
import { command, done } from '../command.ts';
import { loadSession, type NamedSession, nextFor, ONE_SESSION } from './load-session.ts';
import { bannerOf } from './run-words.ts';
import { treeLines } from './tree-lines.ts';
import {
  type SessionTreeData,
  sessionTreeData,
  type TreeLineData,
  type TreeRunData,
  type TreeStepData,
} from './tree-steps.ts';

export const sessionTree = command({
  operands: [ONE_SESSION],
  example: 'workrail session tree 7f3a',
  data: sessionTreeData,
  run: async (context, { operands }) => {
    const opened = await loadSession(context, operands[0], 'history');
    if (opened.isErr()) return err(opened.error);
    const { looked, head, runs, nowMs, width } = opened.value;
    const data: SessionTreeData = { ...head, runs: runs.map((run) => treeRun(opened.value, run)) };
    const layout = { nowMs, width, isWhole: context.switches.isVerbose, loopTitle: loopTitles(opened.value) };
    return done({
      data,
      lines: [...bannerOf(looked, width), ...treeLines(data, layout)],
      next: nextFor(opened.value),
    });
  },
});

function treeRun({ looked }: NamedSession, run: RunStanding): TreeRunData {
  return {
    ...runHeadData(run),
    ...defined({ startedAt: run.startedAt }),
    lines: runLines(looked, run.runId).map((line) => lineData(looked, line)),
    blockers: [...run.blockers],
  };
}

function lineData(looked: NamedSession['looked'], { name, from, isCurrent, steps, leftAt }: RunLine): TreeLineData {
  return {
    name,
    ...(isCurrent ? { isCurrent } : {}),
    ...defined({ from, lastAt: leftAt }),
    steps: steps.map((step) => stepData(looked, step)),
  };
}

function stepData({ view, workflowOf }: NamedSession['looked'], step: LineStep): TreeStepData {
  const { nodeId, place, state, blocked, checkpoints, gaps, skipped, startedAt, endedAt } = step;
  const hash = view.graph.nodes.get(nodeId)?.workflowHash;
  const workflow = hash === undefined ? undefined : workflowOf(hash);
  return {
    nodeId,
    place: placeData(place),
    state,
    blocked,
    checkpoints,
    gaps,
    skipped: skipped.map(({ stepId, conditionId, through, count }) => {
      const title = skippedTitle({ stepId, through }, workflow);
      const steps = count ?? (workflow === undefined ? 1 : stepsInside(indexWorkflow(workflow), stepId));
      return defined({ stepId, title, conditionId, steps: steps === 1 ? undefined : steps });
    }),
    ...defined({ startedAt, endedAt }),
  };
}

function loopTitles({ looked }: NamedSession): (loopId: string) => string {
  const titles = new Map<string, string>();
  for (const { pinned } of looked.view.graph.runs.values()) {
    const workflow = looked.workflowOf(pinned.workflowHash);
    if (workflow === undefined) continue;
    for (const [loopId, { title }] of indexWorkflow(workflow).loops) titles.set(loopId, title);
  }
  return (loopId) => titles.get(loopId) ?? loopId;
}
