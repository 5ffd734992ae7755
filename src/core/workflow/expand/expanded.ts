import { routineTemplateId } from '../builtins/templates.ts';
import type { Guard } from '../compiled/compiled-loop.ts';
import type { CompiledStep, Confirmation } from '../compiled/compiled-step.ts';
import type { CompilerFinding } from '../diagnostics/diagnostic.ts';
import type { LoopStep, StandardStep } from '../format/step-fields.ts';
import type { WorkflowSyntax } from '../format/workflow-fields.ts';
import type { ExpansionSize } from './expansion-budget.ts';

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
