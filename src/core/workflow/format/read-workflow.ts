import { type CompilerFinding, collectDiagnostics, type Diagnostics } from '../diagnostics/diagnostic.ts';
import { parseSource } from '../source/parse-source.ts';
import { nodeAt, type SourceNode } from '../source/source-node.ts';
import { LOOP_DECISIONS } from './condition-fields.ts';
import { type FunctionSyntax, reportWrongScope } from './function-fields.ts';
import { readValue } from './read-fields.ts';
import { checkUnique, type Mentions, type Reader, type Uses } from './reader.ts';
import { mentionsIn } from './rename-everywhere.ts';
import type { StepSyntax } from './step-fields.ts';
import { type WorkflowSyntax, workflow } from './workflow-fields.ts';

export function openReader(diagnostics: Diagnostics, root: SourceNode): Reader {
  let found: Mentions | undefined;
  const mentions = () => {
    found ??= mentionsIn(workflow, root);
    return found;
  };
  const uses = { conditions: [], patterns: [], loopControls: new Map(), wrapped: new Map(), loopConditions: [] };
  return { diagnostics, root, renamed: new Map(), mentions, uses, findings: [] };
}

/** The whole file in one tree, whichever spelling it uses. What could not be read was reported and is left out. */
export function readWorkflow(reader: Reader): WorkflowSyntax | undefined {
  const read = readValue(reader, workflow, { node: reader.root, what: 'A workflow file' });
  if (read === undefined) return undefined;
  checkLoopDecisions(reader.uses, read, reader.findings);
  return { ...read, ...settleFunctions(reader, read) };
}

/** What a file says, if it can be read without an error. Compiling it reports what is wrong. */
export function syntaxIn(text: string): WorkflowSyntax | undefined {
  const diagnostics = collectDiagnostics();
  const root = parseSource(text, diagnostics);
  if (root.isErr() || root.value.kind !== 'object') return undefined;
  const syntax = readWorkflow(openReader(diagnostics, root.value));
  return diagnostics.hasErrors() ? undefined : syntax;
}

/** Every step that an author wrote, including those in loops, each after the step that contains it. */
export function authoredSteps(steps: readonly StepSyntax[]): readonly StepSyntax[] {
  return steps.flatMap((step) =>
    step.kind === 'loop' && step.body.kind === 'steps' ? [step, ...authoredSteps(step.body.steps)] : [step],
  );
}

type Settled = Pick<WorkflowSyntax, 'functions' | 'steps'>;

/** Puts every function where it is visible from, so that no later phase has to know where it was written. */
function settleFunctions(reader: Reader, { functions, steps }: Settled): Settled {
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

type Named = Pick<WorkflowSyntax, 'conditions'>;
type Place = string;
type Reference = Uses['conditions'][number];

/** How conditions lead to each other. */
type Ways = {
  /** The condition that one stands for, where it only holds another. */
  readonly unwrapped: (at: Place) => Place;
  readonly references: ReadonlyMap<Place, Reference>;
  /** The decision about a loop that a condition comes down to, by way of names. */
  readonly decisionAt: (at: Place) => Place | undefined;
};

/** Checks that the decision about a loop is asked for where there is one, and only there. */
function checkLoopDecisions(uses: Uses, { conditions }: Named, findings: CompilerFinding[]): void {
  if (uses.loopControls.size === 0) return;
  const { unwrapped, references, decisionAt } = waysOf(uses, { conditions });
  const whole = new Set([...uses.loopConditions, ...conditions].map(({ at }) => unwrapped(at)));
  for (const at of uses.loopControls.keys()) if (!whole.has(at)) findings.push(misplaced(at));
  for (const [place, { at }] of references) {
    if (!whole.has(place) && decisionAt(place) !== undefined) findings.push(misplaced(at));
  }
  for (const { at, type } of uses.loopConditions) {
    const reference = references.get(unwrapped(at));
    const decision = reference && decisionAt(at);
    const said = decision === undefined ? undefined : uses.loopControls.get(decision);
    const { fitting, message } = LOOP_DECISIONS[type];
    if (reference === undefined || said === undefined || said === fitting) continue;
    const explained = `"${reference.conditionId}" says "continueWhen": "${said}". ${message}`;
    findings.push({ code: 'wrong_value', severity: 'error', at: reference.at, message: explained });
  }
}

function waysOf(uses: Uses, { conditions }: Named): Ways {
  const named = new Map(conditions.map(({ conditionId, at }) => [conditionId, at]));
  const references = new Map(uses.conditions.map((one) => [one.at.slice(0, one.at.lastIndexOf('/')), one]));
  const unwrapped = (at: Place): Place => {
    const inner = uses.wrapped.get(at);
    return inner === undefined ? at : unwrapped(inner);
  };
  const known = new Map<Place, Place | undefined>();
  const decisionAt = (start: Place): Place | undefined => {
    const way = new Set<Place>();
    let at: Place | undefined = unwrapped(start);
    // One that leads in a circle is reported elsewhere.
    while (at !== undefined && !known.has(at) && !uses.loopControls.has(at) && !way.has(at)) {
      way.add(at);
      const next = named.get(references.get(at)?.conditionId ?? '');
      at = next === undefined ? undefined : unwrapped(next);
    }
    const decision = at === undefined || way.has(at) ? undefined : known.has(at) ? known.get(at) : at;
    for (const place of way) known.set(place, decision);
    return decision;
  };
  return { unwrapped, references, decisionAt };
}

function misplaced(at: string): CompilerFinding {
  const message =
    'The decision about a loop can only be the whole condition of that loop. Compare a context value here, or leave this out.';
  return { code: 'loop_control_misplaced', severity: 'error', at, message };
}
