import { nodeAt } from '../source/source-node.ts';
import { type FunctionSyntax, reportWrongScope } from './function-fields.ts';
import { checkUnique, type Reader } from './reader.ts';
import type { StepSyntax } from './step-fields.ts';
import type { WorkflowSyntax } from './workflow-fields.ts';

type Settled = Pick<WorkflowSyntax, 'functions' | 'steps'>;

/** Puts every function where it is visible from, so that no later phase has to know where it was written. */
export function settleFunctions(reader: Reader, { functions, steps }: Settled): Settled {
  const wide: FunctionSyntax[] = [];
  const settled = settleSteps(steps, { reader, wide, round: undefined });
  return { functions: unique(reader, [...functions, ...wide]), steps: settled };
}

type Where = {
  readonly reader: Reader;
  /** Takes what the whole workflow sees. */
  readonly wide: FunctionSyntax[];
  /** Takes what the loop around sees; at the top level there is no loop. */
  readonly round: FunctionSyntax[] | undefined;
};

function settleSteps(steps: readonly StepSyntax[], where: Where): readonly StepSyntax[] {
  const bodies = new Map<string, FunctionSyntax[]>(
    steps.flatMap((step) => (step.kind === 'loop' && step.body.kind === 'reference' ? [[step.body.stepId, []]] : [])),
  );
  // What a step brings to a loop that names it as its body must be known before that loop is settled.
  const settled = steps.map((step) => settleStep(step, { ...where, round: bodies.get(step.id) ?? where.round }));
  return settled.map((step) => {
    if (step.kind !== 'loop' || step.body.kind === 'steps') return step;
    return { ...step, functions: unique(where.reader, [...step.functions, ...(bodies.get(step.body.stepId) ?? [])]) };
  });
}

function settleStep(step: StepSyntax, where: Where): StepSyntax {
  if (step.kind === 'standard') {
    const own = step.functions.filter((one) => staysAtStep(one, where));
    return { ...step, functions: unique(where.reader, own) };
  }
  if (step.kind !== 'loop') return step;
  const own = step.functions.filter((one) => !isTaken(one, 'workflow', where.wide));
  if (step.body.kind === 'reference') return { ...step, functions: own };
  const round: FunctionSyntax[] = [];
  const steps = settleSteps(step.body.steps, { ...where, round });
  return { ...step, functions: unique(where.reader, [...own, ...round]), body: { kind: 'steps', steps } };
}

function staysAtStep(one: FunctionSyntax, { reader, wide, round }: Where): boolean {
  if (isTaken(one, 'workflow', wide)) return false;
  if (one.scope === 'loop' && round === undefined) {
    const message = 'This step is not in a loop, so only the step sees this. Write "step", or move it into a loop.';
    reportWrongScope(reader, nodeAt(reader.root, `${one.at}/scope`), { place: 'step', message });
  }
  return round === undefined || !isTaken(one, 'loop', round);
}

function isTaken(one: FunctionSyntax, scope: FunctionSyntax['scope'], taken: FunctionSyntax[]): boolean {
  if (one.scope !== scope) return false;
  taken.push(one);
  return true;
}

function unique(reader: Reader, functions: readonly FunctionSyntax[]): readonly FunctionSyntax[] {
  checkUnique(functions, { what: 'function', name: 'name' }, reader.findings);
  return functions;
}
