import { assert } from '../../assert.ts';
import { defined, isObject, type JsonObject, type JsonValue } from '../../json/json-value.ts';
import type { RunId } from '../../log/ids.ts';
import { skipReason, stepsSkipped } from '../../prompt/reply/run-result.ts';
import type { NodeHistory, NodeRecord } from '../../views/history.ts';
import { checksAt, type EvidenceLine, evidenceAt, evidenceBefore, evidenceWords } from '../../views/line-checks.ts';
import { contextAt } from '../../views/lineage.ts';
import { decisionTrace, type OutputEntry, outputHistory } from '../../views/node-facts.ts';
import type { RunNode } from '../../views/run-graph.ts';
import { indexWorkflow } from '../../workflow/compiled/workflow-index.ts';
import type { ReportArtifact, ReportEntry } from '../report.ts';
import type { Branches } from './report-branches.ts';
import { type ReportSource, reportStep, type StepSource, shownValue, stepBefore, timeText } from './report-source.ts';

/** The entries of a run, one for each node, in the order of the log. */
export function entriesOf(
  source: ReportSource,
  runId: RunId,
  { history, branchOf }: { readonly history: NodeHistory } & Pick<Branches, 'branchOf'>,
): ReportEntry[] {
  const nodes = [...source.view.graph.nodes.values()].filter((node) => node.runId === runId);
  return nodes.map((node): ReportEntry => {
    const record = history.at(node.nodeId);
    assert(record !== undefined, 'every node was created by an event');
    return entryOf(source, node, { record, branch: branchOf.get(node.nodeId) ?? 'main' });
  });
}

/** What was recorded at one node. */
export function entryOf(
  source: StepSource,
  node: RunNode,
  { record, branch }: { readonly record: NodeRecord; readonly branch: string },
): ReportEntry {
  const facts = factsOf(source, node, record);
  const step = stepBefore(source, node);
  if (node.kind === 'checkpoint') return { kind: 'checkpoint', ...facts, branch, step };
  if (node.kind === 'blocked_attempt') {
    return { kind: 'blocked_attempt', ...facts, branch, step, blockers: blockersOf(record) };
  }
  if (node.parentNodeId === null) return { kind: 'start', ...facts, branch };
  return { kind: 'step', ...facts, branch, step, isFork: node.edge?.cause.kind === 'non_tip_advance' };
}

type Facts = Omit<Extract<ReportEntry, { kind: 'start' }>, 'kind' | 'branch'>;

function factsOf(source: StepSource, node: RunNode, record: NodeRecord): Facts {
  const { view } = source;
  const outputs = outputHistory(view.outputs, node.nodeId);
  return {
    nodeId: node.nodeId,
    parentNodeId: node.parentNodeId,
    eventIndex: node.createdIndex,
    ...defined({ at: timeText(record.at) }),
    notes: outputs.flatMap(({ output: { data }, isSuperseded }) =>
      data.outputChannel === 'recap' ? [{ markdown: data.payload.notesMarkdown, isSuperseded }] : [],
    ),
    artifacts: assessmentsLast(outputs.flatMap((output) => artifactOf(source, output))),
    decisions: decisionTrace(view.trace, node.nodeId).map(({ kind, summary }) => ({ kind, summary })),
    divergences: record.divergences.map(({ reason, summary }) => ({ reason, summary })),
    ...shownEvidence(source, node),
    skipped: record.skipped.map((step) =>
      defined({
        ...reportStep(source, node.workflowHash, step),
        why: whySkipped(source, node, step),
        steps: stepsOf(source, node, step),
      }),
    ),
    preferences: record.preferences.map(({ source, setBy, effective: { autonomy, riskPolicy }, warnings = [] }) => ({
      source,
      setBy,
      autonomy,
      riskPolicy,
      warnings: warnings.map(({ code, recommended, effective }) => {
        const what = code === 'exceeds_recommended_autonomy' ? 'mode' : 'risk policy';
        return `The ${what} is ${effective}; the workflow recommends a more cautious one, ${recommended}.`;
      }),
    })),
    capabilities: record.capabilities.map(({ capability, status, provenance }) => ({
      capability,
      status,
      how: provenance.kind,
    })),
    contextKeys: [...record.contextKeys],
    ...(record.contextKeys.length === 0 ? {} : { contextValues: shownValues(record.context) }),
  };
}

/** Conditions read the whole context of the line, not only what this step added. */
function whySkipped(
  { workflows, view }: StepSource,
  { workflowHash, nodeId }: RunNode,
  step: Parameters<typeof skipReason>[1],
): string | undefined {
  const workflow = workflows.get(workflowHash);
  return workflow && skipReason(indexWorkflow(workflow), step, contextAt(view.context, nodeId));
}

/** One step is what a record stands for unless it says otherwise. */
function stepsOf({ workflows }: StepSource, { workflowHash }: RunNode, step: Parameters<typeof stepsSkipped>[1]) {
  const workflow = workflows.get(workflowHash);
  const steps = workflow && stepsSkipped(indexWorkflow(workflow), step);
  return steps === 1 ? undefined : steps;
}

function shownValues(context: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(context).map(([key, value]) => [key, shownValue(value)]));
}

function shownEvidence(source: StepSource, node: RunNode): Pick<Facts, 'checks' | 'answers'> {
  const { view } = source;
  const checks = checksAt(view, node.nodeId);
  const evidence = evidenceOf(source, node);
  const answers = evidence.flatMap(({ kind, words }) => (kind === 'answer' ? [words] : []));
  const shown = checks.map(({ checkId, minimum, grade }) => {
    const line = evidence.find((one) => one.checkId === checkId);
    return defined({ checkId, minimum, grade, run: line && evidenceWords(line), command: line?.command });
  });
  return { ...(shown.length === 0 ? {} : { checks: shown }), ...(answers.length === 0 ? {} : { answers }) };
}

/** An attempt that led nowhere yet shows its answers itself; those of a step that was done are at the step. */
function evidenceOf({ view, workflows }: StepSource, node: RunNode): readonly EvidenceLine[] {
  const workflow = workflows.get(node.workflowHash);
  if (node.kind === 'step') return evidenceAt(view, node.nodeId, { workflow });
  const isLast = node.kind === 'blocked_attempt' && !node.hasStepBelow && node.children.length === 0;
  return isLast ? evidenceBefore(view, { nodeId: node.nodeId, end: 'pending', workflow }) : [];
}

function artifactOf({ artifacts }: StepSource, { output, isSuperseded }: OutputEntry): readonly ReportArtifact[] {
  const { data } = output;
  if (data.outputChannel !== 'artifact') return [];
  const { sha256, contentType, byteLength } = data.payload;
  const content = artifacts.get(sha256);
  return [defined({ sha256, contentType, byteLength, isSuperseded, kind: kindOf(content), content })];
}

/** What a step produced is read before the judgement about it. */
function assessmentsLast(artifacts: readonly ReportArtifact[]): ReportArtifact[] {
  const isAssessment = ({ kind }: ReportArtifact) => kind === 'wr.assessment';
  return [...artifacts.filter((one) => !isAssessment(one)), ...artifacts.filter(isAssessment)];
}

function kindOf(content: JsonValue | undefined): string | undefined {
  const kind = isObject(content) && Object.hasOwn(content, 'kind') ? content['kind'] : undefined;
  return typeof kind === 'string' ? kind : undefined;
}

function blockersOf({ block }: NodeRecord): Extract<ReportEntry, { kind: 'blocked_attempt' }>['blockers'] {
  assert(block !== undefined, 'a blocked attempt has its outcome');
  return block.blockers.map(({ code, message, suggestedFix }) => defined({ code, message, suggestedFix }));
}
