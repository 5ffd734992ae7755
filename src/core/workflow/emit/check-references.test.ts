import { describe, expect, it } from 'vitest';
import type { Condition } from '../compiled/condition.ts';
import type { CompilerFinding } from '../diagnostics/diagnostic.ts';
import type { WorkflowSyntax } from '../format/workflow-fields.ts';
import { checkCycles } from './check-workflow.ts';

const to = (...ids: readonly string[]): Condition => ({
  kind: 'and',
  conditions: ids.map((conditionId) => ({ kind: 'ref', conditionId })),
});

function circular(references: { readonly [id: string]: readonly string[] }): readonly string[] {
  const findings: CompilerFinding[] = [];
  const conditions = Object.entries(references).map(([conditionId, ids]) => ({
    at: conditionId,
    conditionId,
    condition: to(...ids),
  }));
  checkCycles({ conditions } as unknown as WorkflowSyntax, findings);
  return findings.map(({ at }) => at);
}

describe('conditions that refer to each other', () => {
  it('conditions in a circle are reported, but not those that only lead into or out of it', () => {
    expect(circular({ a: ['b'], b: ['c'], c: ['b', 'd'], d: [] })).toEqual(['b', 'c']);
    expect(circular({ a: ['a'] })).toEqual(['a']);
    expect(circular({ a: ['b', 'c'], b: ['d'], c: ['d'], d: [], e: ['nowhere'] })).toEqual([]);
  });

  it('conditions may refer to each other in a chain of any length', () => {
    const chain = Array.from({ length: 20_000 }, (_, i) => [`c${i}`, [`c${i + 1}`]] as const);
    expect(circular(Object.fromEntries(chain))).toEqual([]);
    expect(circular(Object.fromEntries([...chain, ['c20000', ['c0']]]))).toHaveLength(20_001);
  });
});
