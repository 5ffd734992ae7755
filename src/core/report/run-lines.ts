import type { JsonValue } from '../json/json-value.ts';
import { readableJson } from '../json/readable-json.ts';
import type { NodeId } from '../log/ids.ts';
import type { ReportBranch, ReportEntry, ReportRun } from './report.ts';

/** A line of a run with what happened on it and on no line before it. */
export type BranchEntries = { readonly branch: ReportBranch; readonly entries: readonly ReportEntry[] };

/** The lines of a run in the order in which a report tells them. */
export function entriesByBranch({ branches, entries }: ReportRun): readonly BranchEntries[] {
  const byBranch = new Map<string, ReportEntry[]>(branches.map(({ name }) => [name, []]));
  for (const entry of entries) byBranch.get(entry.branch)?.push(entry);
  return branches.map((branch) => ({ branch, entries: byBranch.get(branch.name) ?? [] }));
}

/**
 * The number of each entry's step in its workflow, as replies tell it; without the workflow, the how-manieth of its line
 * it is. An attempt or checkpoint has the number of the step it was made at.
 */
export function stepNumbers(entries: readonly ReportEntry[]): ReadonlyMap<NodeId, number> {
  const done = new Map<NodeId, number>();
  const numbers = new Map<NodeId, number>();
  for (const entry of entries) {
    const { nodeId, parentNodeId, kind } = entry;
    const position = entry.kind === 'start' ? undefined : entry.step?.position;
    const before = parentNodeId === null ? 0 : (done.get(parentNodeId) ?? 0);
    done.set(nodeId, kind === 'step' ? before + 1 : before);
    numbers.set(nodeId, kind === 'start' ? 0 : (position ?? before + 1));
  }
  return numbers;
}

const CONTENT_LENGTH_MAX = 8_000;

/** As much of an artifact as a page shows; a report as JSON has all of it. */
export function shownContent(content: JsonValue): { readonly text: string; readonly isCut: boolean } {
  const whole = readableJson(content);
  const isCut = whole.length > CONTENT_LENGTH_MAX;
  return { text: isCut ? whole.slice(0, CONTENT_LENGTH_MAX).toWellFormed() : whole, isCut };
}

/** Bytes as people read them. */
export function shownSize(bytes: number): string {
  return bytes < 1_000 ? `${bytes} B` : `${(bytes / 1_000).toFixed(1)} kB`;
}
