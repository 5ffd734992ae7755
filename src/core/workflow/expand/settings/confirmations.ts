import type { Condition } from '../../compiled/condition.ts';
import type { Confirmation, Gate } from '../../compiled/confirmation.ts';

/** A person's word weighs more than a coordinator's, and both more than a question that never blocks. */
const BY_STRENGTH = ['human_approval', 'coordinator_eval', 'confirm'] as const;

/** Both confirmations in one: at any time the strongest of those whose condition holds. */
export function strongest(a: Confirmation, b: Confirmation): Confirmation {
  const asked = [...gatesOf(a), ...gatesOf(b)];
  const merged = BY_STRENGTH.flatMap((kind): Gate[] => {
    const conditions = asked.filter((gate) => gate.kind === kind).map(({ when }) => when);
    return conditions.length === 0 ? [] : [{ kind, when: anyOf(conditions) }];
  });
  const last = merged.findIndex(({ when }) => when.kind === 'always');
  const needed = last === -1 ? merged : merged.slice(0, last + 1);
  return needed.reduceRight<Confirmation>(
    (weaker, gate) => (weaker.kind === 'none' ? gate : { ...gate, otherwise: weaker }),
    { kind: 'none' },
  );
}

function gatesOf(confirmation: Confirmation): readonly Gate[] {
  if (confirmation.kind === 'none') return [];
  const { otherwise, ...gate } = confirmation;
  return [gate, ...(otherwise === undefined ? [] : gatesOf(otherwise))];
}

function anyOf(conditions: readonly Condition[]): Condition {
  const [first, ...others] = conditions.filter(({ kind }) => kind !== 'never');
  if (conditions.some(({ kind }) => kind === 'always')) return { kind: 'always' };
  if (first === undefined) return { kind: 'never' };
  return others.length === 0 ? first : { kind: 'or', conditions: [first, ...others] };
}
