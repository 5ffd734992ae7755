import { type Condition, mapCondition } from '../compiled/condition.ts';
import { mapCriteria } from '../compiled/criteria.ts';
import type { CompilerFinding } from '../diagnostics/diagnostic.ts';
import type {
  FunctionSyntax,
  LoopControlSyntax,
  StandardStep,
  StepSyntax,
  TemplateStep,
  WholeCondition,
} from '../format/syntax.ts';
import { pointerTo } from '../source/source-node.ts';
import type { Expansion, Template } from './expanded.ts';
import { countExpansion, isOverBudget } from './expansion-budget.ts';
import { filler } from './fill-text.ts';
import { mapSyntaxTexts } from './syntax-texts.ts';

/** A template for one call. */
export type Instance = Pick<Template, 'agentRole' | 'preconditions' | 'clarificationPrompts' | 'steps'>;

/**
 * A template with arguments in their places and all its ids under the call's id, so that two calls never meet. What it
 * declares beside its steps is brought along. What goes wrong is told at the call: that is the file the author has open.
 */
export function instantiate(template: Template, call: TemplateStep, expansion: Expansion): Instance {
  const { tree, used } = filledTemplate(template, call, expansion);
  const rename = (id: string) => `${call.id}--${id}`;
  bring(tree, { call, rename }, expansion);
  if (!isOverBudget(expansion.made)) checkArguments(call, used, expansion.findings);
  return { ...tree, steps: tree.steps.map((step) => renamed(step, { rename, functions: tree.functions })) };
}

type UsedArguments = {
  readonly needed: Set<string>;
  /** Those in values, where braces may mean themselves, are never missed. */
  readonly known: Set<string>;
};

function filledTemplate(template: Template, call: TemplateStep, { bindings, made, findings }: Expansion) {
  const used: UsedArguments = { needed: new Set(), known: new Set() };
  const fill = filler(
    {
      points: template.extensionPoints,
      bindings,
      argument: (name, use) => {
        used[use === 'text' ? 'needed' : 'known'].add(name);
        return Object.hasOwn(call.args, name) ? call.args[name] : undefined;
      },
    },
    (problem) => findings.push({ ...problem, severity: 'error', at: call.callAt }),
  );
  const tree = mapSyntaxTexts(template, {
    place: (_, key) => (key === 'callAt' ? call.callAt : call.at),
    text: (text, use, at) => {
      countExpansion(made, { kind: 'texts', amount: 1 }, { at: call.callAt, findings });
      if (isOverBudget(made)) return text;
      const filled = fill(text, use, at);
      const added = Math.max(0, filled.length - text.length);
      countExpansion(made, { kind: 'characters', amount: added }, { at: call.callAt, findings });
      return filled;
    },
  });
  return { tree, used };
}

type Names = { readonly rename: (id: string) => string };

function bring(
  template: Template,
  { call, rename }: Names & { readonly call: TemplateStep },
  { brought }: Expansion,
): void {
  const { capabilities, metaGuidance, templateId: originId } = template;
  const at = `${call.callAt}/templateId`;
  for (const one of template.conditions) {
    const condition = renamedWhole(one.condition, rename);
    brought.conditions.push({ at: one.at, conditionId: rename(one.conditionId), condition });
  }
  for (const one of template.assessments) brought.assessments.push({ ...one, id: rename(one.id) });
  const features = template.features.map((use) => ({ ...use, at, idAt: at }));
  const references = template.references.map((one) => ({ ...one, id: rename(one.id) }));
  brought.declarations.push({ at, originId, capabilities, features, metaGuidance, references });
}

function checkArguments(call: TemplateStep, { needed, known }: UsedArguments, findings: CompilerFinding[]): void {
  for (const name of [...needed].filter((one) => !Object.hasOwn(call.args, one)).sort()) {
    const message = `The template "${call.templateId}" needs the argument "${name}". Add it to "args".`;
    findings.push({ code: 'missing_argument', severity: 'error', at: `${call.callAt}/args`, message });
  }
  for (const name of Object.keys(call.args).filter((one) => !needed.has(one) && !known.has(one))) {
    findings.push(unknownArgument(call, name, [...needed]));
  }
}

export function unknownArgument(
  { templateId, callAt }: TemplateStep,
  name: string,
  known: readonly string[],
): CompilerFinding {
  const message = `The template "${templateId}" has no argument "${name}".`;
  const at = pointerTo(`${callAt}/args`, name);
  return { code: 'unknown_argument', severity: 'warning', at, message, unknown: { name, known, isKey: true } };
}

/** The functions are the template's own, as far as they are not hidden by a loop's. */
type Scope = Names & { readonly functions: readonly FunctionSyntax[] };

function renamed(step: StepSyntax, scope: Scope): StepSyntax {
  const { rename } = scope;
  const own = { ...renamedConditions(step, rename), id: rename(step.id) };
  switch (own.kind) {
    case 'standard':
      return renamedStandard(own, scope);
    case 'loop': {
      const hidden = new Set(own.functions.map(({ name }) => name));
      const inner = { rename, functions: scope.functions.filter(({ name }) => !hidden.has(name)) };
      const body =
        own.body.kind === 'steps'
          ? { kind: 'steps' as const, steps: own.body.steps.map((one) => renamed(one, inner)) }
          : { ...own.body, stepId: rename(own.body.stepId) };
      return { ...own, ...(own.loopId === undefined ? {} : { loopId: rename(own.loopId) }), body };
    }
    case 'template':
    case 'parallel':
      return own;
  }
}

function renamedStandard(step: StandardStep, { rename, functions }: Scope): StandardStep {
  const own = new Set(step.functions.map(({ name }) => name));
  const wanted = new Set([...step.functionReferences, ...step.functionCalls].map(({ name }) => name));
  return {
    ...step,
    functions: [...step.functions, ...functions.filter(({ name }) => wanted.has(name) && !own.has(name))],
    assessmentRefs: step.assessmentRefs.map(({ at, id }) => ({ at, id: rename(id) })),
    consequences: step.consequences.map(({ forAssessment, ...one }) => ({
      ...one,
      ...(forAssessment === undefined ? {} : { forAssessment: rename(forAssessment) }),
    })),
  };
}

type Rename = (conditionId: string) => string;

/** The condition with the names it refers to changed. */
function renamedCondition(condition: Condition, rename: Rename): Condition {
  return mapCondition(condition, (leaf) =>
    leaf.kind === 'ref' ? { kind: 'ref', conditionId: rename(leaf.conditionId) } : leaf,
  );
}

/** The same for one that may stand for the decision about a loop, which names nothing. */
function renamedWhole(condition: WholeCondition, rename: Rename): WholeCondition {
  return condition.kind === 'loop_control' ? condition : renamedCondition(condition, rename);
}

/** The step with every condition of its own changed; the steps of a loop's body are left as they are. */
function renamedConditions<Step extends StepSyntax>(step: Step, rename: Rename): Step {
  const change = (condition: Condition) => renamedCondition(condition, rename);
  const { runCondition, confirmation } = step;
  const head = {
    ...(runCondition === undefined ? {} : { runCondition: change(runCondition) }),
    confirmation:
      confirmation.kind === 'none' ? confirmation : { kind: confirmation.kind, when: change(confirmation.when) },
  };
  return { ...step, ...head, ...renamedInside(step, rename) };
}

function renamedInside(step: StepSyntax, rename: Rename): Partial<StepSyntax> {
  const change = (condition: Condition) => renamedCondition(condition, rename);
  switch (step.kind) {
    case 'standard':
      return {
        fragments: step.fragments.map((fragment) => ({ ...fragment, when: change(fragment.when) })),
        ...(step.criteria === undefined
          ? {}
          : {
              criteria: mapCriteria(step.criteria, (rule) =>
                rule.when === undefined ? rule : { ...rule, when: change(rule.when) },
              ),
            }),
      };
    case 'loop':
      return { control: renamedControl(step.control, rename) };
    case 'parallel':
      return {
        delegations: step.delegations.map((one) =>
          one.runCondition === undefined ? one : { ...one, runCondition: change(one.runCondition) },
        ),
      };
    case 'template':
      return {};
  }
}

function renamedControl(control: LoopControlSyntax, rename: Rename): LoopControlSyntax {
  const { kind } = control;
  if (kind === 'while' || kind === 'until') return { ...control, condition: renamedWhole(control.condition, rename) };
  if (kind !== 'undeclared' || control.fallback === undefined) return control;
  return { kind, fallback: { ...control.fallback, condition: renamedWhole(control.fallback.condition, rename) } };
}
