import { DIAGNOSTICS_OF_A_KIND_MAX } from '../diagnostics/collect-diagnostics.ts';
import type { CompilerFinding } from '../diagnostics/diagnostic.ts';
import { mapTexts, visitTexts } from '../format/text-walk.ts';
import { type WorkflowSyntax, workflow } from '../format/workflow-fields.ts';
import { type SourceNode, sourceTexts } from '../source/source-node.ts';
import type { Bindings } from './expanded.ts';
import { filler, type ReportTextProblem } from './fill-text.ts';

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
  const reported = new Set<string>();
  const reportOnce = (finding: CompilerFinding) => {
    const key = `${finding.at} ${finding.message}`;
    if (!reported.has(key)) findings.push(finding);
    reported.add(key);
  };
  // The tree knows only the object that a text belongs to, so the text itself is looked for in there.
  const placesIn = (at: string, wanted: string) => {
    places ??= placesOfTexts(root);
    const found = (places.get(wanted) ?? []).filter((pointer) => pointer.startsWith(`${at}/`));
    return found.length === 0 ? [at] : found;
  };
  const report: ReportTextProblem = (problem, { at, text }) => {
    // What comes after those that are listed is only counted, and a file may be wrong in a hundred thousand places.
    const found = reported.size < DIAGNOSTICS_OF_A_KIND_MAX ? placesIn(at, text) : [at];
    for (const pointer of found) reportOnce({ ...problem, severity: 'error', at: pointer });
  };
  const text = filler({ points: syntax.extensionPoints, bindings, argument: () => undefined }, report);
  return mapTexts(workflow, syntax, { text, place: (pointer) => pointer });
}

function placesOfTexts(root: SourceNode): ReadonlyMap<string, readonly string[]> {
  const places = new Map<string, string[]>();
  for (const { value, pointer } of sourceTexts(root)) {
    const known = places.get(value);
    if (known === undefined) places.set(value, [pointer]);
    else known.push(pointer);
  }
  return places;
}

/** A context value in double braces, as prompts have them. What is filled while compiling is not meant. */
const PLACE = /\{\{[ \t]*(?!wr\.)[\p{L}\p{N}_$-]+(?:\.[\p{L}\p{N}_$-]+)*[ \t]*\}\}/u;

/** Warns where an author expects a value to be filled in and none will be. */
export function checkPlaces(root: SourceNode, findings: CompilerFinding[]): void {
  visitTexts(workflow, root, ({ value, pointer }, { use }) => {
    const [place] = use === 'text' ? (value.match(PLACE) ?? []) : [];
    if (place === undefined) return;
    const message = `The agent would see ${place} as written: values of context are filled into prompts, fragments and titles only. Move it into the prompt.`;
    findings.push({ code: 'place_not_filled', severity: 'warning', at: pointer, message });
  });
}
