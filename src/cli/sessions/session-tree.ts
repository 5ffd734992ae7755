import { err } from 'neverthrow';
import { defined } from '../../core/json/json-value.ts';
import { stepsSkipped } from '../../core/prompt/reply/run-result.ts';
import { placeData, runHeadData, saidData } from '../../core/sessions/describe-session.ts';
import { skippedTitle } from '../../core/sessions/due-step.ts';
import { type LineStep, type RunLine, runLines } from '../../core/sessions/run-lines.ts';
import type { RunStanding } from '../../core/sessions/run-standing.ts';
import { indexWorkflow } from '../../core/workflow/compiled/workflow-index.ts';
import { command, done } from '../command.ts';
import { loadSession, nextFor, ONE_SESSION, type ShownSession } from './load-session.ts';
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

function treeRun({ looked }: ShownSession, run: RunStanding): TreeRunData {
  return {
    ...runHeadData(run),
    ...defined({ startedAt: run.startedAt }),
    lines: runLines(looked, run.runId).map((line) => lineData(looked, line)),
    blockers: [...run.blockers],
    ...saidData(run),
  };
}

function lineData(looked: ShownSession['looked'], { name, from, isCurrent, steps, leftAt }: RunLine): TreeLineData {
  return {
    name,
    ...(isCurrent ? { isCurrent } : {}),
    ...defined({ from, lastAt: leftAt }),
    steps: steps.map((step) => stepData(looked, step)),
  };
}

function stepData({ view, workflowOf }: ShownSession['looked'], step: LineStep): TreeStepData {
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
    skipped: skipped.map((one) => {
      const { stepId, conditionId, count = 1 } = one;
      const title = skippedTitle(one, workflow);
      const steps = workflow === undefined ? count : stepsSkipped(indexWorkflow(workflow), one);
      return defined({ stepId, title, conditionId, steps: steps === 1 ? undefined : steps });
    }),
    ...defined({ startedAt, endedAt }),
  };
}

function loopTitles({ looked }: ShownSession): (loopId: string) => string {
  const titles = new Map<string, string>();
  for (const { pinned } of looked.view.graph.runs.values()) {
    const workflow = looked.workflowOf(pinned.workflowHash);
    if (workflow === undefined) continue;
    for (const [loopId, { title }] of indexWorkflow(workflow).loops) titles.set(loopId, title);
  }
  return (loopId) => titles.get(loopId) ?? loopId;
}
