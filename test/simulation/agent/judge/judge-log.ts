import type { Services } from '../../../../src/app/services.ts';
import type { SessionEvent } from '../../../../src/core/log/event.ts';
import type { CompiledWorkflow } from '../../../../src/core/workflow/compiled/compiled-workflow.ts';
import { type Leg, naiveRun } from '../../../examples/naive-run.ts';
import { eventsAt, lineOf, type RunNodes, type SeenNode } from '../witness/run-nodes.ts';
import { tokensIn } from '../witness/token-book.ts';
import { unmetAt } from './unmet-at.ts';

/**
 * Reads a finished log as a stranger would, and tells every step that was taken out of order, without what it asks for,
 * or twice by one attempt. Which step may follow is worked out by a run of its own that knows nothing of the engine.
 */
export async function judgeLog(
  services: Services,
  nodes: RunNodes,
  events: readonly SessionEvent[],
): Promise<readonly string[]> {
  const violations = tokensIn(events).map((token) => `a token is in the log: ${token}`);
  const followed = new Set(
    [...nodes.byId.values()].flatMap(({ kind, parent }) => (kind === 'step' ? (parent ?? []) : [])),
  );
  for (const node of nodes.byId.values()) {
    violations.push(...wrongWithAttempts(node), ...wrongWithParent(node));
    if (node.kind !== 'step' || followed.has(node)) continue;
    const workflow = await workflowOf(services, events, node.runId);
    violations.push(...(await wrongWithLine(services, workflow, lineOf(node))));
  }
  return violations;
}

async function workflowOf(
  services: Services,
  events: readonly SessionEvent[],
  runId: string,
): Promise<CompiledWorkflow> {
  const start = events.find((event) => event.kind === 'run_started' && event.scope.runId === runId);
  if (start?.kind !== 'run_started') throw new Error('every run has a beginning');
  return (await services.pinnedWorkflows.get(start.data.workflowHash))._unsafeUnwrap();
}

/** Attempts are counted from 0, each was decided once, and each that advanced made one node. */
function wrongWithAttempts(node: SeenNode): readonly string[] {
  const attempts = eventsAt(node, 'advance_recorded').map(({ data }) => Number(data.attemptId));
  const isCounted = [...attempts].sort((a, b) => a - b).every((attempt, i) => attempt === i);
  return isCounted ? [] : [`attempts of ${node.nodeId} are ${attempts.join(', ')}`];
}

/** A step below another exists because an attempt at that one says so. */
function wrongWithParent({ nodeId, kind, parent }: SeenNode): readonly string[] {
  if (parent === undefined || kind === 'checkpoint') return [];
  const made = eventsAt(parent, 'advance_recorded').filter(({ data: { outcome } }) =>
    outcome.kind === 'advanced' ? outcome.toNodeId === nodeId : outcome.attemptNodeId === nodeId,
  );
  return made.length === 1 ? [] : [`${nodeId} was made by ${made.length} attempts`];
}

async function wrongWithLine(
  services: Services,
  workflow: CompiledWorkflow,
  line: readonly SeenNode[],
): Promise<readonly string[]> {
  const violations: string[] = [];
  let context = {};
  let run: ReturnType<typeof naiveRun> | undefined;
  let from = 'init';
  for (const node of line) {
    context = contextAfter(context, node);
    const artifacts = await artifactsAt(services, node);
    // A run that cannot choose its first step yet begins anew with what it is given.
    if (from === 'init') run = naiveRun(workflow, context);
    else violations.push(...unmetAt(workflow, { from, node, context, artifacts }));
    const leg = run?.next({ context, decision: decisionIn(workflow, artifacts, from) });
    from = await stepAt(services, node);
    if (from !== 'init') violations.push(...wrongLeg(node, from, leg?.value));
  }
  return violations;
}

function wrongLeg(node: SeenNode, due: string, leg: Leg | undefined): readonly string[] {
  if (leg === undefined) return [`out of order: ${due} is due at ${node.nodeId}, and the run should be over`];
  const skipped = eventsAt(node, 'step_skipped').map(({ data: { stepId, loopPath, conditionId } }) => {
    const path = loopPath.map(({ loopId, iteration }) => `${loopId}@${iteration}`).join('/');
    return `${path === '' ? '' : `${path}::`}${stepId}${conditionId === undefined ? '' : ` by ${conditionId}`}`;
  });
  return [
    ...(due === leg.step ? [] : [`out of order: ${due} is due at ${node.nodeId}, and should be ${leg.step}`]),
    ...(skipped.join() === leg.skipped.join()
      ? []
      : [`skipped ${skipped.join()}, and should be ${leg.skipped.join()}`]),
  ];
}

/** The step that is due at a node: `loop@0::step`, or `complete`. */
async function stepAt({ snapshots }: Services, { snapshotRef }: SeenNode): Promise<string> {
  const snapshot = (await snapshots.get(snapshotRef as Parameters<typeof snapshots.get>[0]))._unsafeUnwrap();
  const { state } = snapshot.enginePayload;
  if (state.kind !== 'running' || state.pending.kind === 'none') return state.kind;
  const { stepId, loopPath } = state.pending.step;
  const path = loopPath.map(({ loopId, iteration }) => `${loopId}@${iteration}`).join('/');
  return path === '' ? stepId : `${path}::${stepId}`;
}

/** The context of a step's node: what stood above it, and what the attempts that led to it changed. */
function contextAfter(above: object, node: SeenNode): object {
  const chain: SeenNode[] = [node];
  for (let at = node.parent; at !== undefined && at.kind !== 'step'; at = at.parent) chain.unshift(at);
  const context: Record<string, unknown> = { ...above };
  for (const { data } of chain.flatMap((one) => eventsAt(one, 'context_set'))) {
    for (const [key, value] of Object.entries(data.context)) {
      if (value === null) delete context[key];
      else context[key] = value;
    }
  }
  return context;
}

async function artifactsAt({ artifacts }: Services, node: SeenNode): Promise<readonly Record<string, unknown>[]> {
  const found: Record<string, unknown>[] = [];
  for (const { data } of eventsAt(node, 'node_output_appended')) {
    if (data.outputChannel !== 'artifact') continue;
    found.push((await artifacts.getJson(data.payload.sha256))._unsafeUnwrap().value as Record<string, unknown>);
  }
  return found;
}

/** What was decided about the innermost loop that is decided at all, by the last word on it. */
function decisionIn(workflow: CompiledWorkflow, artifacts: readonly Record<string, unknown>[], from: string) {
  const open = from.includes('::') ? (from.split('::')[0] ?? '').split('/').map((part) => part.split('@')[0]) : [];
  const loopId = open.findLast((id) =>
    workflow.loops.some((loop) => loop.loopId === id && loop.control.kind === 'artifact'),
  );
  const last = artifacts.findLast(isDecision);
  return loopId === undefined || last === undefined ? undefined : { loopId, decision: String(last['decision']) };
}

/** What is not written as the contract says decides nothing. */
function isDecision({ kind, decision, loopId, summary }: Record<string, unknown>): boolean {
  const isText = (value: unknown) => value === undefined || (typeof value === 'string' && value.trim() !== '');
  const isWord = decision === 'continue' || decision === 'stop';
  return kind === 'wr.loop_control' && isWord && isText(loopId) && isText(summary);
}
