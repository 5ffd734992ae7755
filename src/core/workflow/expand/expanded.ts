import { CAPABILITIES, type Capability } from '../../log/blockers.ts';
import { WORKFLOW_ENTRIES_MAX } from '../../log/budgets.ts';
import { routineTemplateId } from '../builtins/templates.ts';
import type { Guard } from '../compiled/compiled-loop.ts';
import type { CompiledStep, Confirmation } from '../compiled/compiled-step.ts';
import type { CompilerFinding } from '../diagnostics/diagnostic.ts';
import type { LoopStep, StandardStep } from '../format/step-fields.ts';
import type { FeatureUse, ReferenceSyntax, WorkflowSyntax } from '../format/workflow-fields.ts';

export type ExpandedEntry = { readonly guards?: readonly Guard[] } & (
  | { readonly kind: 'step'; readonly step: ExpandedStep }
  | { readonly kind: 'loop'; readonly loop: ExpandedLoop }
);

export type ExpandedStep = {
  readonly syntax: StandardStep & { readonly confirmation: Confirmation };
  readonly provenance: CompiledStep['provenance'];
  readonly purpose: CompiledStep['purpose'];
};

/** What a loop says about confirmation and notes applies to its steps, and is stored with them. */
export type ExpandedLoop = Omit<LoopStep, 'body' | 'kind' | 'loopId' | 'confirmation' | 'isNotesOptional'> & {
  readonly loopId: string;
  /** For the step that decides, where the compiler makes one. */
  readonly agentRole?: string;
  readonly body: readonly ExpandedEntry[];
};

/** What expansion needs from outside, and where it puts what it finds. */
export type Expansion = {
  /** Templates by id: the routines as syntax trees. */
  readonly templates: ReadonlyMap<string, Template>;
  /** Templates that are there but cannot be called. */
  readonly broken: ReadonlyMap<string, BrokenTemplate>;
  /** Takes the id of every template that is called. */
  readonly called: Set<string>;
  /** What the workspace puts into extension points, those of templates too. */
  readonly bindings: Bindings;
  readonly findings: CompilerFinding[];
  readonly brought: Brought;
  readonly made: ExpansionSize;
};

/** What called templates bring along besides their steps. */
export type Brought = {
  /** Those of the workflow itself, too. */
  readonly conditions: WorkflowSyntax['conditions'][number][];
  readonly assessments: WorkflowSyntax['assessments'][number][];
  readonly declarations: BroughtDeclarations[];
};

/** What a called template declares for the whole run, and where it was called. */
export type BroughtDeclarations = Pick<WorkflowSyntax, 'capabilities' | 'features' | 'metaGuidance' | 'references'> & {
  readonly at: string;
  readonly originId: string;
};

export type Bindings = { readonly [slot: string]: string };

/** A routine as others call it. */
export type Template = Omit<WorkflowSyntax, 'id' | 'name' | 'description'> & { readonly templateId: string };

/** Steps at every level, in order. */
export function* stepsOf(entries: readonly ExpandedEntry[]): Generator<ExpandedStep> {
  for (const entry of entries) {
    if (entry.kind === 'step') yield entry.step;
    else yield* stepsOf(entry.loop.body);
  }
}

/** The same tree with every step changed. */
export function mapSteps(
  entries: readonly ExpandedEntry[],
  change: (step: ExpandedStep) => ExpandedStep,
): readonly ExpandedEntry[] {
  return entries.map((entry) =>
    entry.kind === 'step'
      ? { ...entry, step: change(entry.step) }
      : { ...entry, loop: { ...entry.loop, body: mapSteps(entry.loop.body, change) } },
  );
}

/** A routine that cannot be called because its own file is wrong, with the first thing that is wrong with it. */
export type BrokenTemplate = {
  /** Names the file as listings do. */
  readonly ref: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
};

/** Reported where the routine is called. */
export function brokenTemplate(
  templateId: string,
  { ref, line, column, message }: BrokenTemplate,
): Pick<CompilerFinding, 'code' | 'message'> {
  return {
    code: 'broken_template',
    message: `The routine "${templateId}" has an error. Fix it first: ${ref}, line ${line}, column ${column}: ${message}`,
  };
}

/** A routine as the template that other workflows call. It must compile on its own, too. */
export function templateOf(
  { id, name: _, description: _text, ...routine }: WorkflowSyntax,
  templateId = routineTemplateId(id),
): Template {
  return { ...routine, templateId };
}

/** What expansion has made so far. Templates that call templates multiply, so each of these has an end. */
export type ExpansionSize = { steps: number; calls: number; texts: number; characters: number };

/** More than honest use will ever need. */
export const EXPANSION_MAX: { readonly [kind in keyof ExpansionSize]: number } = {
  steps: WORKFLOW_ENTRIES_MAX,
  calls: 1000,
  texts: 300_000,
  characters: 4_194_304,
};

export const EMPTY_EXPANSION: Readonly<ExpansionSize> = { steps: 0, calls: 0, texts: 0, characters: 0 };

/** Adds to what was made. What is one too many is reported, what comes after it need not be. */
export function countExpansion(
  made: ExpansionSize,
  { kind, amount }: { readonly kind: keyof ExpansionSize; readonly amount: number },
  { at, findings }: { readonly at: string; readonly findings: CompilerFinding[] },
): void {
  const isFirst = made[kind] <= EXPANSION_MAX[kind];
  made[kind] += amount;
  if (isFirst && made[kind] > EXPANSION_MAX[kind]) findings.push({ severity: 'error', at, ...tooMuch(kind) });
}

/** Whether nothing more is to be made: the workflow is refused already. */
export function isOverBudget({ steps, calls, texts, characters }: ExpansionSize): boolean {
  return (
    steps > EXPANSION_MAX.steps ||
    calls > EXPANSION_MAX.calls ||
    texts > EXPANSION_MAX.texts ||
    characters > EXPANSION_MAX.characters
  );
}

function tooMuch(kind: keyof ExpansionSize): Pick<CompilerFinding, 'code' | 'message'> {
  const max = EXPANSION_MAX[kind];
  switch (kind) {
    case 'steps':
    case 'calls': {
      const what = kind === 'steps' ? 'steps and loops' : 'calls';
      const message = `With this the workflow has more than ${max} ${what}, those of its templates included. ${SPLIT}`;
      return { code: 'too_many_steps', message };
    }
    case 'texts':
      return { code: 'too_many_values', message: `With this call the templates bring more than ${max} texts in all.` };
    case 'characters': {
      const message = `With this call more than ${max} characters are put into templates in all. Call fewer, or with shorter arguments.`;
      return { code: 'text_too_long', message };
    }
  }
}

/** What to do about a workflow that is too long. */
export const SPLIT = 'Split it into several workflows.';

/** What the author of the file did not write says which template it is from. */
export type Originated<Declaration> = Declaration & { readonly originId?: string };

type Need = NonNullable<WorkflowSyntax['capabilities'][Capability]>;
export type Needs = {
  readonly [capability in Capability]?: Originated<{ readonly need: Need; readonly at: string }>;
};

/** What a workflow and the templates it calls declare for the whole run. */
export type MergedDeclarations = {
  readonly needs: Needs;
  /** The workflow's own come first: their settings count. */
  readonly features: readonly Originated<FeatureUse>[];
  readonly metaGuidance: readonly Originated<{ readonly text: string }>[];
  readonly references: readonly Originated<ReferenceSyntax>[];
};

/** A workflow whose steps are all real: no template, parallel step or shorthand is left. */
export type ExpandedWorkflow = Omit<WorkflowSyntax, 'steps' | 'capabilities' | keyof MergedDeclarations> &
  MergedDeclarations & { readonly entries: readonly ExpandedEntry[] };

type Declared = Pick<WorkflowSyntax, 'at' | 'capabilities' | 'features' | 'metaGuidance' | 'references'>;

/** Adds what templates bring to what the workflow declares itself, each thing once. */
export function mergeDeclarations(
  syntax: Declared,
  { declarations }: Brought,
  findings: CompilerFinding[],
): MergedDeclarations {
  const features = declarations.flatMap((one) => one.features.map((use) => ({ ...use, originId: one.originId })));
  const rules = declarations.flatMap((one) => one.metaGuidance.map((text) => ({ text, originId: one.originId })));
  const references = declarations.flatMap((one) => one.references.map((ref) => ({ ...ref, originId: one.originId })));
  return {
    needs: mergeNeeds(syntax, declarations, findings),
    features: [...syntax.features, ...features],
    metaGuidance: addNew<Originated<{ text: string }>>(
      syntax.metaGuidance.map((text) => ({ text })),
      rules,
      ({ text }) => text,
    ),
    references: addNew<Originated<ReferenceSyntax>>(syntax.references, references, sameDocument),
  };
}

/** Appends what is not there yet. What the author wrote twice stays. */
function addNew<Item>(own: readonly Item[], added: readonly Item[], keyOf: (item: Item) => string): readonly Item[] {
  const known = new Set(own.map(keyOf));
  const isNew = (item: Item) => {
    const key = keyOf(item);
    if (known.has(key)) return false;
    known.add(key);
    return true;
  };
  return [...own, ...added.filter(isNew)];
}

/** Two references to one document, under whatever id, are one. */
function sameDocument({ at: _, id: _id, originId: _origin, ...reference }: Originated<ReferenceSyntax>): string {
  return Object.values(reference).join('\u0000');
}

function mergeNeeds(
  { at, capabilities }: Declared,
  declarations: readonly BroughtDeclarations[],
  findings: CompilerFinding[],
): Needs {
  const needs: { -readonly [capability in Capability]?: Needs[capability] } = {};
  for (const capability of CAPABILITIES) {
    const own = capabilities[capability];
    if (own !== undefined) needs[capability] = { need: own, at: `${at}/capabilities/${capability}` };
    for (const { originId, at: calledAt, capabilities: wanted } of declarations) {
      const need = wanted[capability];
      const before = needs[capability];
      // A mere preference gives way to whatever somebody else insists on.
      if (need === undefined || need === before?.need || (before !== undefined && need === 'preferred')) continue;
      if (before !== undefined && before.need !== 'preferred') {
        const message = `Here ${capability} is "${before.need}", but the template "${originId}" has it as "${need}". Change one of them, or do without the call.`;
        findings.push({ code: 'template_conflict', severity: 'error', at: calledAt, message });
      } else needs[capability] = { need, at: calledAt, originId };
    }
  }
  return needs;
}
