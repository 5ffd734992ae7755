import type { NodeId } from '../../core/log/ids.ts';
import type { CheckRecord, EvidenceFacts } from '../../core/run/evidence/judge-check.ts';
import { nodeOf } from '../../core/views/run-graph.ts';
import type { SessionView } from '../../core/views/session-view.ts';
import type { CompiledStep } from '../../core/workflow/compiled/compiled-step.ts';
import type { Hasher } from '../ports/system-services.ts';
import { triedStep } from './earlier-attempts.ts';

/** What commands showed at the step of a node; `undefined` for a step without checks. */
export function evidenceFacts(
  { sha256 }: Hasher,
  view: SessionView,
  at: { readonly nodeId: NodeId; readonly step: CompiledStep | undefined; readonly tree: EvidenceFacts['tree'] },
): EvidenceFacts | undefined {
  const { nodeId, step, tree } = at;
  if (step?.checks === undefined) return undefined;
  const own = triedStep(view, nodeId).step;
  const records = attemptsAt(view, own.nodeId)
    .flatMap((id) => view.attestations.get(id) ?? [])
    .sort((a, b) => a.eventIndex - b.eventIndex);
  const runs = records.flatMap(({ data }): readonly CheckRecord[] => {
    const { subject, statement, by } = data;
    const isMeant =
      subject.kind === 'step' && subject.stepId === step.stepId && subject.snapshotRef === own.snapshotRef;
    return isMeant && statement.kind === 'check' ? [{ run: statement, via: by.via }] : [];
  });
  return { runs, tree, sha256 };
}

/** The node of a step with everything that was tried and saved there before the step was done. */
function attemptsAt({ graph }: SessionView, stepNodeId: NodeId): readonly NodeId[] {
  const found: NodeId[] = [];
  const left: NodeId[] = [stepNodeId];
  for (let id = left.pop(); id !== undefined; id = left.pop()) {
    found.push(id);
    left.push(...nodeOf(graph, id).children.filter((child) => nodeOf(graph, child).kind !== 'step'));
  }
  return found;
}
