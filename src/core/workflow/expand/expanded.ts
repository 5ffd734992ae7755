import type { CompiledStep } from '../compiled/compiled-step.ts';
import type { Condition } from '../compiled/condition.ts';
import type { Finding } from '../finding.ts';
import type { LoopStep, StandardStep, WorkflowSyntax } from '../syntax.ts';

/** A workflow whose steps are all real: no template, parallel step or shorthand is left. */
export type ExpandedWorkflow = Omit<WorkflowSyntax, 'steps'> & { readonly entries: readonly ExpandedEntry[] };

export type ExpandedEntry =
  | { readonly kind: 'step'; readonly step: ExpandedStep }
  | { readonly kind: 'loop'; readonly loop: ExpandedLoop };

export type ExpandedStep = {
  readonly syntax: StandardStep;
  readonly provenance: CompiledStep['provenance'];
  readonly purpose: CompiledStep['purpose'];
};

export type ExpandedLoop = Omit<LoopStep, 'body' | 'kind' | 'loopId'> & {
  readonly loopId: string;
  readonly body: readonly ExpandedEntry[];
};

/** What expansion needs from outside, and where it puts what it finds. */
export type Expansion = {
  /** Templates by id: the routines as syntax trees. */
  readonly templates: ReadonlyMap<string, Template>;
  /** Fills extension points, which may name a template. */
  readonly bind: (text: string, at: string) => string;
  /** What the workspace puts into extension points, those of templates too. */
  readonly bindings: Bindings;
  readonly findings: Finding[];
  /** What called templates bring along beside their steps. */
  readonly brought: Pick<Mutable<WorkflowSyntax>, 'conditions' | 'assessments'>;
  /** Steps and calls met so far: templates that call templates multiply. */
  readonly made: { steps: number; calls: number };
};

type Mutable<Tree> = { [key in keyof Tree]: Tree[key] extends readonly (infer Item)[] ? Item[] : Tree[key] };

export type Bindings = { readonly [slot: string]: string };

/** A routine as others call it. */
export type Template = Pick<
  WorkflowSyntax,
  'agentRole' | 'steps' | 'functions' | 'conditions' | 'assessments' | 'extensionPoints'
> & { readonly templateId: string };

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
      ? { kind: 'step', step: change(entry.step) }
      : { kind: 'loop', loop: { ...entry.loop, body: mapSteps(entry.loop.body, change) } },
  );
}

/** Both conditions at once. */
export function both(a: Condition | undefined, b: Condition | undefined): Condition | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return { kind: 'and', conditions: [a, b] };
}
