import type { Condition } from '../compiled/condition.ts';
import type { Criteria } from '../compiled/criteria.ts';
import type { LoopControlSyntax, StepSyntax, WholeCondition } from '../format/syntax.ts';

type Rename = (conditionId: string) => string;

/** The condition with the names it refers to changed. */
function renamedCondition(condition: Condition, rename: Rename): Condition {
  switch (condition.kind) {
    case 'ref':
      return { kind: 'ref', conditionId: rename(condition.conditionId) };
    case 'and':
    case 'or':
      return { kind: condition.kind, conditions: condition.conditions.map((one) => renamedCondition(one, rename)) };
    case 'not':
      return { kind: 'not', condition: renamedCondition(condition.condition, rename) };
    default:
      return condition;
  }
}

/** The same for one that may stand for the decision about a loop, which names nothing. */
export function renamedWhole(condition: WholeCondition, rename: Rename): WholeCondition {
  return condition.kind === 'loop_control' ? condition : renamedCondition(condition, rename);
}

/** The step with every condition of its own changed; the steps of a loop's body are left as they are. */
export function renamedConditions<Step extends StepSyntax>(step: Step, rename: Rename): Step {
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
        ...(step.criteria === undefined ? {} : { criteria: renamedCriteria(step.criteria, change) }),
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

function renamedCriteria(criteria: Criteria, change: (condition: Condition) => Condition): Criteria {
  switch (criteria.kind) {
    case 'and':
    case 'or':
      return { kind: criteria.kind, criteria: criteria.criteria.map((one) => renamedCriteria(one, change)) };
    case 'not':
      return { kind: 'not', criteria: renamedCriteria(criteria.criteria, change) };
    default:
      return criteria.when === undefined ? criteria : { ...criteria, when: change(criteria.when) };
  }
}
