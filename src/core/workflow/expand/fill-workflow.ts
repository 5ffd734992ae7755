import { DIAGNOSTICS_OF_A_KIND_MAX } from '../diagnostics/collect-diagnostics.ts';
import type { CompilerFinding } from '../diagnostics/diagnostic.ts';
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

/** A context value in double braces, as prompts have them. What is filled while compiling is not meant. */
const PLACE = /\{\{[ \t]*(?!wr\.)[\p{L}\p{N}_$-]+(?:\.[\p{L}\p{N}_$-]+)*[ \t]*\}\}/u;

/** What an agent is told word for word, whatever is in context. */
const AS_WRITTEN: ReadonlySet<string> = new Set([
  'agentRole',
  'guidance',
  'metaGuidance',
  'preconditions',
  'clarificationPrompts',
  'definition',
  'hints',
  'message',
  'purpose',
]);
/** What no agent is told, and what holds keys of the author's own. */
const OTHER: ReadonlySet<string> = new Set([
  'extensionPoints',
  'args',
  'config',
  'contextMapping',
  'items',
  'default',
  'enum',
  'schema',
]);

/** Warns where an author expects a value to be put in and none will be. */
export function checkPlaces(root: SourceNode, findings: CompilerFinding[]): void {
  visit(root, false, findings);
}

function visit(node: SourceNode, isAsWritten: boolean, findings: CompilerFinding[]): void {
  if (node.kind === 'array') for (const item of node.items) visit(item, isAsWritten, findings);
  if (node.kind === 'object') {
    for (const { name, value } of node.fields.values()) {
      if (OTHER.has(name)) continue;
      // What is asked of the user is told with the requirements, which are not filled either.
      const asked = name === 'userDependency' && value.kind === 'object' ? value.fields.get('prompt') : undefined;
      if (asked === undefined) visit(value, isAsWritten || AS_WRITTEN.has(name), findings);
      else visit(asked.value, true, findings);
    }
  }
  const [place] = node.kind === 'string' && isAsWritten ? (node.value.match(PLACE) ?? []) : [];
  if (place === undefined) return;
  const message = `${place} would reach the agent as it stands: values of context are put into prompts, fragments and titles only. Say it in the prompt.`;
  findings.push({ code: 'place_not_filled', severity: 'warning', at: node.pointer, message });
}
