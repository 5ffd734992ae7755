import { DIAGNOSTICS_OF_A_KIND_MAX } from '../diagnostics/collect-diagnostics.ts';
import type { CompilerFinding } from '../finding.ts';
import type { WorkflowSyntax } from '../format/syntax.ts';
import type { SourceNode } from '../source/source-node.ts';
import type { Bindings } from './expanded.ts';
import { filler, type ReportTextProblem } from './fill-text.ts';
import { mapSyntaxTexts } from './syntax-texts.ts';

/** The workflow with its extension points filled, in every text there is. */
export function fillWorkflow(
  syntax: WorkflowSyntax,
  {
    root,
    bindings,
    findings,
  }: { readonly root: SourceNode; readonly bindings: Bindings; readonly findings: CompilerFinding[] },
): WorkflowSyntax {
  let places: ReadonlyMap<string, readonly string[]> | undefined;
  const told = new Set<string>();
  const tell = (finding: CompilerFinding) => {
    const key = `${finding.at} ${finding.message}`;
    if (!told.has(key)) findings.push(finding);
    told.add(key);
  };
  // The tree knows only the object that a text belongs to, so the text itself is looked for in there.
  const placesIn = (at: string, wanted: string) => {
    places ??= placesOfTexts(root);
    const found = (places.get(wanted) ?? []).filter((pointer) => pointer.startsWith(`${at}/`));
    return found.length === 0 ? [at] : found;
  };
  const report: ReportTextProblem = (problem, { at, text }) => {
    // What comes after those that are listed is only counted, and a file may be wrong in a hundred thousand places.
    const found = told.size < DIAGNOSTICS_OF_A_KIND_MAX ? placesIn(at, text) : [at];
    for (const pointer of found) tell({ ...problem, severity: 'error', at: pointer });
  };
  const text = filler({ points: syntax.extensionPoints, bindings, argument: () => undefined }, report);
  return mapSyntaxTexts(syntax, { text, place: (pointer) => pointer });
}

function placesOfTexts(root: SourceNode): ReadonlyMap<string, readonly string[]> {
  const places = new Map<string, string[]>();
  const visit = (node: SourceNode) => {
    if (node.kind === 'array') node.items.forEach(visit);
    if (node.kind === 'object') for (const { value } of node.fields.values()) visit(value);
    if (node.kind !== 'string') return;
    const known = places.get(node.value);
    if (known === undefined) places.set(node.value, [node.pointer]);
    else known.push(node.pointer);
  };
  visit(root);
  return places;
}
