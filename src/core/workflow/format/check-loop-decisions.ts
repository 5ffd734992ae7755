import type { CompilerFinding } from '../diagnostics/diagnostic.ts';
import { LOOP_DECISIONS } from './condition-fields.ts';
import type { Uses } from './reader.ts';
import type { WorkflowSyntax } from './workflow-fields.ts';

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
export function checkLoopDecisions(uses: Uses, { conditions }: Named, findings: CompilerFinding[]): void {
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
