import { type JsonValue, quote } from '../../json/json-value.ts';
import type { CompiledWorkflow } from '../compiled/compiled-workflow.ts';

/** A field that is not the same on both sides; what one side does not have is `undefined`. */
export type FieldChange = {
  readonly field: string;
  readonly before: JsonValue | undefined;
  readonly after: JsonValue | undefined;
};

/** A step, loop or declaration that is there on one side only, or differs. */
export type PartChange = {
  readonly part: 'step' | 'loop' | 'workflow';
  readonly id: string;
  readonly kind: 'added' | 'removed' | 'changed';
  readonly changes: readonly FieldChange[];
};

export type WorkflowDiff = {
  readonly parts: readonly PartChange[];
  /** Whether steps that both sides have come in another order. */
  readonly isReordered: boolean;
};

type Part = { readonly [field: string]: unknown };

/** What differs between two compiled workflows, step by step, in the order of the second. */
export function workflowDiff(before: CompiledWorkflow, after: CompiledWorkflow): WorkflowDiff {
  const steps = partsDiff('step', byId(before.steps, 'stepId'), byId(after.steps, 'stepId'));
  const loops = partsDiff('loop', byId(before.loops, 'loopId'), byId(after.loops, 'loopId'));
  const whole = fieldChanges(declarations(before), declarations(after));
  return {
    parts: [
      ...(whole.length === 0
        ? []
        : [{ part: 'workflow', id: after.workflowId, kind: 'changed', changes: whole } as const]),
      ...steps,
      ...loops,
    ],
    isReordered: isReordered(before, after),
  };
}

/** Steps and loops are compared one by one; what is derived from them is left out. */
function declarations({
  steps: _s,
  loops: _l,
  entries: _e,
  schemaVersion: _v,
  contracts: _c,
  ...rest
}: CompiledWorkflow): Part {
  return rest;
}

function byId<Key extends string>(
  parts: readonly { readonly [key in Key]: string }[],
  key: Key,
): ReadonlyMap<string, Part> {
  return new Map(parts.map((part) => [part[key], part as Part]));
}

function partsDiff(
  part: 'step' | 'loop',
  before: ReadonlyMap<string, Part>,
  after: ReadonlyMap<string, Part>,
): readonly PartChange[] {
  const kept = [...after].flatMap(([id, now]): readonly PartChange[] => {
    const old = before.get(id);
    if (old === undefined) return [{ part, id, kind: 'added', changes: [] }];
    const changes = fieldChanges(old, now);
    return changes.length === 0 ? [] : [{ part, id, kind: 'changed', changes }];
  });
  const removed = [...before.keys()].filter((id) => !after.has(id));
  return [...kept, ...removed.map((id): PartChange => ({ part, id, kind: 'removed', changes: [] }))];
}

function fieldChanges(before: Part, after: Part): readonly FieldChange[] {
  const fields = [...new Set([...Object.keys(after), ...Object.keys(before)])];
  return fields.flatMap((field) => {
    const [old, now] = [before[field], after[field]] as (JsonValue | undefined)[];
    return quote(old) === quote(now) ? [] : [{ field, before: old, after: now }];
  });
}

function isReordered(before: CompiledWorkflow, after: CompiledWorkflow): boolean {
  const old = before.steps.map(({ stepId }) => stepId);
  const now = after.steps.map(({ stepId }) => stepId);
  return old.filter((id) => now.includes(id)).join() !== now.filter((id) => old.includes(id)).join();
}
