import { ownJsonBytes, type Sha256 } from '../json/canonical-json.ts';
import { isList, isObject, type JsonValue } from '../json/json-value.ts';
import { leadsOutside, orList } from '../text/words.ts';
import { isRoutineId } from './builtins/templates.ts';
import type { CompiledWorkflow } from './compiled/compiled-workflow.ts';
import {
  type CompilerFinding,
  collectDiagnostics,
  type Diagnostic,
  type Diagnostics,
} from './diagnostics/diagnostic.ts';
import { activeFeatures, withFeatureGuidance } from './emit/apply-features.ts';
import { checkCycles, checkUses } from './emit/check-workflow.ts';
import { emitWorkflow, functionsOf } from './emit/emit-workflow.ts';
import { expandSteps } from './expand/expand-steps.ts';
import {
  type Bindings,
  type BrokenTemplate,
  type Brought,
  EMPTY_EXPANSION,
  type ExpandedWorkflow,
  mergeDeclarations,
  type Template,
} from './expand/expanded.ts';
import { checkArgumentPlaces, checkPlaces, fillWorkflow } from './expand/fill-workflow.ts';
import { requiredProbes } from './expand/generated-steps.ts';
import { checkBlockSizes } from './expand/render-prompt.ts';
import { LEGACY_ID, NAMESPACED_ID } from './format/limits.ts';
import { openReader, readWorkflow } from './format/read-workflow.ts';
import type { ExtensionPoint, WorkflowSyntax } from './format/workflow-fields.ts';
import { locateFinding } from './locate-finding.ts';
import type { CompilePattern } from './pattern.ts';
import { parseSource } from './source/parse-source.ts';
import type { SourceNode } from './source/source-node.ts';

export type CompileInput = {
  readonly text: string;
  /** Only the bundle may define `wr.*`. */
  readonly isBundled: boolean;
  /** A file in a folder of routines is one, whatever its id is. */
  readonly isInRoutines?: boolean;
  readonly templates: ReadonlyMap<string, Template>;
  /** Templates that are there but cannot be called, by id. */
  readonly broken?: ReadonlyMap<string, BrokenTemplate>;
  /** What the workspace puts into extension points. */
  readonly bindings: Bindings;
};

export type CompileTools = { readonly sha256: Sha256; readonly compilePattern: CompilePattern };

export type CompileResult =
  | {
      readonly kind: 'compiled';
      readonly workflow: CompiledWorkflow;
      readonly syntax: WorkflowSyntax;
      /** The ids of the templates it calls, also by way of each other. */
      readonly called: readonly string[];
      /** Warnings: the workflow can be used. */
      readonly diagnostics: readonly Diagnostic[];
    }
  | { readonly kind: 'refused'; readonly diagnostics: readonly Diagnostic[] };

/** From an author's file to what is pinned and run. Everything that is wrong with it is reported at once. */
export function compileWorkflow(input: CompileInput, tools: CompileTools): CompileResult {
  const diagnostics = collectDiagnostics();
  const read = readSyntax(input, tools, diagnostics);
  if (read === undefined) return { kind: 'refused', diagnostics: diagnostics.all() };
  const called = new Set<string>();
  const workflow = emit(read, { ...input, called }, tools);
  for (const finding of read.findings) locateFinding(finding, read.root, diagnostics);
  if (diagnostics.hasErrors()) return { kind: 'refused', diagnostics: diagnostics.all() };
  return {
    kind: 'compiled',
    workflow: withBindingOrigins(workflow, read, { input, tools, called }),
    syntax: read.syntax,
    called: [...called].sort(),
    diagnostics: diagnostics.all(),
  };
}

/** Marks what the project's bindings put in. */
function withBindingOrigins(
  workflow: CompiledWorkflow,
  read: Read,
  {
    input,
    tools,
    called,
  }: { readonly input: CompileInput; readonly tools: CompileTools; readonly called: Set<string> },
): CompiledWorkflow {
  const { bindings, templates } = input;
  const points = [read.syntax, ...[...called].flatMap((id) => templates.get(id) ?? [])].flatMap(({ extensionPoints }) =>
    extensionPoints.map(({ slotId }) => slotId),
  );
  const without = (slotId: string) => {
    const { [slotId]: _, ...others } = bindings;
    return emit({ ...read, findings: [] }, { ...input, bindings: others, called: new Set() }, tools);
  };
  const marked = bindingOrigins(workflow, points, { bindings, without });
  return marked.length === 0 ? workflow : { ...workflow, origins: [...(workflow.origins ?? []), ...marked] };
}

type Read = { readonly syntax: WorkflowSyntax; readonly root: SourceNode; readonly findings: CompilerFinding[] };

function readSyntax(input: CompileInput, tools: CompileTools, diagnostics: Diagnostics): Read | undefined {
  const parsed = parseSource(input.text, diagnostics);
  if (parsed.isErr()) {
    diagnostics.add(parsed.error);
    return undefined;
  }
  const reader = openReader(diagnostics, parsed.value);
  const syntax = readWorkflow(reader);
  if (syntax === undefined) return undefined;
  const { findings } = reader;
  if (!input.isBundled && syntax.id.startsWith('wr.')) {
    const message = 'Ids that begin with "wr." are reserved for bundled workflows. Choose your own namespace.';
    findings.push({ code: 'reserved_namespace', severity: 'error', at: '/id', message });
  }
  checkUses(reader.uses, syntax, { compilePattern: tools.compilePattern, findings });
  checkCycles(syntax, findings);
  checkBlockSizes(syntax.steps, findings);
  checkSlots(syntax.extensionPoints, input, findings);
  checkDocuments(syntax, findings);
  checkPlaces(reader, findings);
  const isRoutine = input.isInRoutines === true || isRoutineId(syntax.id);
  checkArgumentPlaces(syntax, parsed.value, { isRoutine, findings });
  return { syntax, root: parsed.value, findings };
}

/** The phases, in the one order in which they are defined. */
function emit(
  { root, findings, ...read }: Read,
  {
    templates,
    broken = new Map(),
    bindings,
    called,
    isInRoutines = false,
  }: CompileInput & { readonly called: Set<string> },
  tools: CompileTools,
): CompiledWorkflow {
  const { steps, ...syntax } = fillWorkflow(read.syntax, { root, bindings, findings });
  const { conditions, assessments } = syntax;
  const brought: Brought = { conditions: [...conditions], assessments: [...assessments], declarations: [] };
  const made = { ...EMPTY_EXPANSION };
  const expanded = expandSteps(steps, { templates, broken, called, bindings, findings, brought, made });
  const declared = mergeDeclarations(syntax, brought, findings);
  const active = activeFeatures(declared.features, findings);
  const entries = withFeatureGuidance([...requiredProbes(declared.needs), ...expanded], active);
  const workflow: ExpandedWorkflow = { ...syntax, ...brought, ...declared, entries };
  const emission = {
    ...(syntax.agentRole === undefined ? {} : { agentRole: syntax.agentRole }),
    conditions: new Map(brought.conditions.map(({ conditionId, condition }) => [conditionId, condition])),
    assessments: new Map(brought.assessments.map((assessment) => [assessment.id, assessment])),
    functions: functionsOf(workflow),
    isLegacy: !NAMESPACED_ID.test(syntax.id),
    isRoutine: isInRoutines || isRoutineId(syntax.id),
    boundTexts: Object.values(bindings).filter((text) => text !== ''),
    hashText: (text: string) => hashText(text, tools.sha256),
    contracts: new Map(),
    longIds: new Set<string>(),
    measured: new Map<string, number>(),
    findings,
  };
  return emitWorkflow(workflow, emission, active);
}

function hashText(text: string, sha256: Sha256): string {
  return sha256(ownJsonBytes(text));
}

/** What a workspace and a catalog offer to put into extension points. */
type Offered = Pick<CompileInput, 'bindings' | 'templates' | 'broken'>;

/** Checks that what goes into an extension point is of a kind that it accepts. */
function checkSlots(points: readonly ExtensionPoint[], offered: Offered, findings: CompilerFinding[]): void {
  for (const { at, slotId, acceptedKinds, default: fallback } of points) {
    if (acceptedKinds.length === 0) continue;
    const bound = Object.hasOwn(offered.bindings, slotId) ? offered.bindings[slotId] : undefined;
    const value = bound ?? fallback;
    if (acceptedKinds.some((kind) => isOfKind(value, kind, offered))) continue;
    const wanted = orList(acceptedKinds.map((kind) => KIND_WORDS[kind]));
    if (bound !== undefined) {
      const message = `The workspace binds "${slotId}" to "${bound}", but it needs ${wanted}. Change it in .workrail/bindings.json.`;
      findings.push({ code: 'wrong_kind', severity: 'error', at: `${at}/acceptedKinds`, message });
      continue;
    }
    const message = `"${slotId}" needs ${wanted}, but its default is something else.`;
    const unknown = acceptedKinds.includes('routine')
      ? { unknown: { name: value, known: [...offered.templates.keys()].sort() } }
      : {};
    findings.push({ code: 'wrong_kind', severity: 'error', at: `${at}/default`, message, ...unknown });
  }
}

/** A document that other machines do not have at that place. A web address is the same everywhere. */
function checkDocuments({ references }: WorkflowSyntax, findings: CompilerFinding[]): void {
  for (const reference of references) {
    const { at, source } = reference;
    if (/^https?:/.test(source) || !leadsOutside(reference)) continue;
    const message = `"${source}" leads out of the project, so other machines may not have it, and agents are asked to check with the user first. Use a path inside the project or a web address.`;
    findings.push({ code: 'reference_outside', severity: 'warning', at: `${at}/source`, message });
  }
}

type SlotKind = ExtensionPoint['acceptedKinds'][number];

const KIND_WORDS: { readonly [kind in SlotKind]: string } = {
  text: 'a text',
  routine: 'the template id of a routine',
  workflow: 'the id of a workflow',
};

/** A broken routine is still a routine; what is wrong with it is reported where it is called. */
function isOfKind(value: string, kind: SlotKind, { templates, broken }: Offered): boolean {
  switch (kind) {
    case 'text':
      return true;
    case 'routine':
      return templates.has(value) || broken?.has(value) === true;
    case 'workflow':
      return NAMESPACED_ID.test(value) || LEGACY_ID.test(value);
  }
}

type Origin = NonNullable<CompiledWorkflow['origins']>[number];

/**
 * Which texts the project's bindings put into a workflow. A text is compared with the same text compiled without the
 * binding, so nothing that the project wrote can hide and nothing that the author wrote is marked.
 */
function bindingOrigins(
  workflow: CompiledWorkflow,
  slotIds: readonly string[],
  { bindings, without }: { readonly bindings: Bindings; readonly without: (slotId: string) => CompiledWorkflow },
): readonly Origin[] {
  const bound = slotIds.filter((slotId) => Object.hasOwn(bindings, slotId));
  return [...new Set(bound)].sort().flatMap((slotId) =>
    changedTexts(workflow, without(slotId)).map((pointer): Origin => {
      return { pointer, originId: slotId, source: 'project_binding', text: bindings[slotId] ?? '' };
    }),
  );
}

/** Steps are compared by id: a binding may also choose a routine, and then the steps are others. */
function changedTexts({ steps, ...whole }: CompiledWorkflow, other: CompiledWorkflow): readonly string[] {
  const { steps: otherSteps, ...otherWhole } = other;
  const known = new Map(otherSteps.map((step) => [String(step.stepId), step]));
  const { conditions: _, entries: _entries, compiledWarnings: _warnings, ...texts } = whole;
  return [
    ...differing(texts as JsonValue, otherWhole as JsonValue, ''),
    ...steps.flatMap((step, i) => differing(step as JsonValue, known.get(step.stepId) as JsonValue, `/steps/${i}`)),
  ];
}

function differing(value: JsonValue, other: JsonValue | undefined, pointer: string): readonly string[] {
  if (typeof value === 'string') return value === other ? [] : [pointer];
  if (isList(value)) {
    return value.flatMap((one, i) => differing(one, isList(other) ? other[i] : undefined, `${pointer}/${i}`));
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, one]) =>
    differing(one, isObject(other) ? other[key] : undefined, `${pointer}/${key}`),
  );
}
