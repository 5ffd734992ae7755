import { assert } from '../../assert.ts';
import type { JsonValue } from '../../json/json-value.ts';
import type { NodeId, RunId } from '../../log/ids.ts';
import { isoTime } from '../../text/utc-time.ts';
import { decisionTrace } from '../../views/advance-outcomes.ts';
import { type OutputEntry, outputHistory } from '../../views/current-outputs.ts';
import type { NodeRecord } from '../../views/history.ts';
import type { RunNode } from '../../views/run-graph.ts';
import type { ReportArtifact, ReportEntry } from '../report.ts';
import type { Branches } from './report-branches.ts';
import { attemptedStep, type ReportSource, reportStep } from './report-source.ts';

/** What was written down at the nodes of a session. */
export type NodeRecords = ReadonlyMap<NodeId, NodeRecord>;

/** What happened in a run, node by node in the order of the log. */
export function entriesOf(
  source: ReportSource,
  runId: RunId,
  { records, branchOf }: { readonly records: NodeRecords } & Pick<Branches, 'branchOf'>,
): ReportEntry[] {
  const nodes = [...source.view.graph.nodes.values()].filter((node) => node.runId === runId);
  return nodes.map((node): ReportEntry => {
    const record = records.get(node.nodeId);
    assert(record !== undefined, 'a node is made by an event');
    const facts = factsOf(source, node, record);
    const branch = branchOf.get(node.nodeId) ?? 'main';
    const step = attemptedStep(source, node);
    if (node.kind === 'checkpoint') return { kind: 'checkpoint', ...facts, branch, step };
    if (node.kind === 'blocked_attempt') {
      return { kind: 'blocked_attempt', ...facts, branch, step, blockers: blockersOf(record) };
    }
    if (node.parentNodeId === null) return { kind: 'start', ...facts, branch };
    return { kind: 'step', ...facts, branch, step, isFork: node.edge?.cause.kind === 'non_tip_advance' };
  });
}

type Facts = Omit<Extract<ReportEntry, { kind: 'start' }>, 'kind' | 'branch'>;

function factsOf(source: ReportSource, node: RunNode, record: NodeRecord): Facts {
  const { view } = source;
  const { at } = record;
  const outputs = outputHistory(view.outputs, node.nodeId);
  return {
    nodeId: node.nodeId,
    parentNodeId: node.parentNodeId,
    eventIndex: node.createdIndex,
    ...(at === undefined ? {} : { at: isoTime(at) }),
    notes: outputs.flatMap(({ output: { data }, isSuperseded }) =>
      data.outputChannel === 'recap' ? [{ markdown: data.payload.notesMarkdown, isSuperseded }] : [],
    ),
    artifacts: outputs.flatMap((output) => artifactOf(source, output)),
    decisions: decisionTrace(view.trace, node.nodeId).map(({ kind, summary }) => ({ kind, summary })),
    divergences: record.divergences.map(({ reason, summary }) => ({ reason, summary })),
    skipped: record.skipped.map((step) => reportStep(source, node.workflowHash, step)),
    preferences: record.preferences.map(({ source, effective: { autonomy, riskPolicy }, warnings = [] }) => ({
      source,
      autonomy,
      riskPolicy,
      warnings: warnings.map(({ recommended, effective }) => `${effective} goes beyond ${recommended}`),
    })),
    capabilities: record.capabilities.map(({ capability, status, provenance }) => ({
      capability,
      status,
      how: provenance.kind,
    })),
    contextKeys: [...record.contextKeys],
  };
}

function artifactOf({ artifacts }: ReportSource, { output, isSuperseded }: OutputEntry): readonly ReportArtifact[] {
  const { data } = output;
  if (data.outputChannel !== 'artifact') return [];
  const { sha256, contentType, byteLength } = data.payload;
  const value = artifacts.get(sha256);
  const content = value === undefined ? {} : { content: value };
  return [{ sha256, contentType, byteLength, isSuperseded, ...kindOf(value), ...content }];
}

function kindOf(value: JsonValue | undefined): { readonly kind?: string } {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return {};
  return typeof value['kind'] === 'string' ? { kind: value['kind'] } : {};
}

function blockersOf({ block }: NodeRecord): Extract<ReportEntry, { kind: 'blocked_attempt' }>['blockers'] {
  assert(block !== undefined, 'an attempt is made by a block');
  return block.blockers.map(({ code, message, suggestedFix }) => ({
    code,
    message,
    ...(suggestedFix === undefined ? {} : { suggestedFix }),
  }));
}
