import { nearest } from '../../text/spelling.ts';
import { type CompilerFinding, DIAGNOSTICS_OF_A_KIND_MAX } from '../diagnostics/diagnostic.ts';
import type { TextUse } from '../format/field.ts';
import type { Reader } from '../format/reader.ts';
import { mapTexts, visitTexts } from '../format/text-walk.ts';
import { type WorkflowSyntax, workflow } from '../format/workflow-fields.ts';
import { type SourceNode, sourceTexts } from '../source/source-node.ts';
import type { Bindings } from './expanded.ts';
import { AS_IT_IS, filler, PLACE, type ReportTextProblem, unsupportedIn } from './fill-text.ts';

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
  const argument = contextArgument(syntax);
  const text = filler({ points: syntax.extensionPoints, bindings, argument }, report);
  return mapTexts(workflow, syntax, { text, place: (pointer) => pointer });
}

/**
 * A routine that is started directly has no call to give its arguments: they are values of context, which the form of the
 * first step asks for.
 */
function contextArgument({ arguments: declared = [] }: WorkflowSyntax) {
  return (name: string, use: TextUse): string | undefined => {
    if (!declared.some((one) => one.name === name)) return undefined;
    if (use === 'prompt' || use === 'command' || use === 'argument') return `{{${name}}}`;
    return use === 'text' ? `"${name}" in context` : undefined;
  };
}

const ARGUMENT = /(?<!\{)\{([A-Za-z_][A-Za-z0-9_]*)\}(?!\})/g;

/** Reports names in single braces that are not what their author thinks, and arguments that nothing uses. */
export function checkArgumentPlaces(
  { arguments: declared }: WorkflowSyntax,
  root: SourceNode,
  { isRoutine, findings }: { readonly isRoutine: boolean; readonly findings: CompilerFinding[] },
): void {
  if (declared === undefined && !isRoutine) return;
  const used = new Map<string, string>();
  const names = declared?.map(({ name }) => name) ?? [];
  visitTexts(workflow, root, ({ value, pointer }, { use }) => {
    if (use === 'never' || use === 'name' || !value.includes('{')) return;
    for (const [, name = ''] of value.matchAll(ARGUMENT)) {
      if (!AS_IT_IS.has(use) || names.includes(name)) used.set(name, used.get(name) ?? pointer);
      if (use !== 'phrase' || !names.includes(name)) continue;
      const message = `{${name}} is filled in here only when a workflow calls the routine. Started directly, it stays as written; write the rule without it.`;
      findings.push({ code: 'place_not_filled', severity: 'warning', at: pointer, message });
    }
  });
  for (const [name, place] of used) {
    const meant = nearest(name, names);
    if (declared !== undefined && (names.includes(name) || meant === undefined)) continue;
    const message =
      declared === undefined
        ? `{${name}} counts as an argument, because the file does not declare its arguments. Add "arguments": [{"name": "${name}", "description": "…"}], or "arguments": [] if braces are plain text.`
        : `{${name}} is plain text, because it is not in "arguments". Did you mean {${meant}}?`;
    findings.push({ code: 'argument_undeclared', severity: 'warning', at: place, message });
  }
  for (const { name, at } of declared ?? []) {
    if (used.has(name)) continue;
    const message = `No text uses {${name}}. Use it in a prompt, or remove the argument.`;
    findings.push({ code: 'argument_unused', severity: 'warning', at: `${at}/name`, message });
  }
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

const READ_BY_AGENTS: ReadonlySet<string> = new Set(['prompt', 'text', 'argument']);

/** Reports what an author expects to be filled in and the agent would see as written. */
export function checkPlaces({ root, renamed }: Pick<Reader, 'root' | 'renamed'>, findings: CompilerFinding[]): void {
  const wrongNames = [...renamed.keys()].flatMap((key) =>
    key.startsWith(KEY_ROLE) ? [key.slice(KEY_ROLE.length)] : [],
  );
  const severity = hasNamespace(root) ? 'error' : 'warning';
  visitTexts(workflow, root, ({ value, pointer: at }, { use }) => {
    const isDefault = EXTENSION_DEFAULT.test(at);
    if (!/\{\{|\}\}/.test(value) || !(READ_BY_AGENTS.has(use) || isDefault)) return;
    // A name that is wrong is reported where it is given, with a fix that also changes these texts.
    const isRenamed = (one: string) => wrongNames.some((name) => isPlaceOf(one, name));
    const message = unsupportedIn(value, isRenamed);
    // A default may also be a command with braces of its own.
    const weight = isDefault ? 'warning' : severity;
    if (message !== undefined) findings.push({ code: 'place_unsupported', severity: weight, at, message });
    const [place] = use === 'text' ? (value.match(PLACE) ?? []) : [];
    if (place === undefined) return;
    const unfilled = `The agent would see ${place} as written: values of context are filled into prompts, titles, guidance, roles, rules and functions only. Move it into the prompt.`;
    findings.push({ code: 'place_not_filled', severity: 'warning', at, message: unfilled });
  });
}

/** Put into texts that agents read. */
const EXTENSION_DEFAULT = /^\/extensionPoints\/\d+\/default$/;

/** Older files have an id without a namespace. They keep working as they did. */
function hasNamespace(root: SourceNode): boolean {
  const id = root.kind === 'object' ? root.fields.get('id')?.value : undefined;
  return id?.kind !== 'string' || id.value.includes('.');
}

/** How a renamed context value is kept: by its role and its name. */
const KEY_ROLE = 'context_key ';

function isPlaceOf(place: string, name: string): boolean {
  const path = place.slice(2, -2).trim();
  return path === name || path.startsWith(`${name}.`);
}
