import { describe, expect, it } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import type { CompilerFinding } from '../finding.ts';
import type { LoopStep, StepSyntax } from '../format/syntax.ts';
import { plainStep } from './generated-steps.ts';
import { takeBodies } from './take-bodies.ts';

const step = (id: string): StepSyntax => ({ ...plainStep({ at: `/${id}`, id: 'x' }, 'y', id), id });

function loop(id: string, stepId: string): LoopStep {
  return {
    kind: 'loop',
    at: `/${id}`,
    id,
    title: id,
    confirmation: { kind: 'none' },
    isNotesOptional: false,
    loopIdAt: `/${id}/id`,
    control: { kind: 'for', count: 1 },
    maxIterations: 1,
    variables: { iteration: 'i', item: 'j', index: 'k' },
    functions: [],
    body: { kind: 'reference', stepId, at: `/${id}/body` },
  };
}

/** The order of ids, with what a loop holds in parentheses. */
function order(steps: readonly StepSyntax[]): string {
  const ids = steps.map((one) => {
    if (one.kind !== 'loop') return one.id;
    return `${one.id}(${one.body.kind === 'steps' ? order(one.body.steps) : one.body.stepId})`;
  });
  return ids.join(' ');
}

function taken(...steps: readonly StepSyntax[]) {
  const findings: CompilerFinding[] = [];
  return { order: order(takeBodies(steps, findings)), findings: findings.map(({ code, at }) => `${code} ${at}`) };
}

describe('a body that is named', () => {
  it('moves into its loop, wherever it stands', () => {
    enforces('loop_body_by_reference');
    expect(taken(step('a'), loop('l', 'b'), step('b'), step('c'))).toEqual({ order: 'a l(b) c', findings: [] });
    expect(taken(step('b'), loop('l', 'b'))).toEqual({ order: 'l(b)', findings: [] });
  });

  it('may be a loop with a named body itself', () => {
    expect(taken(loop('l', 'm'), loop('m', 'a'), step('a'))).toEqual({ order: 'l(m(a))', findings: [] });
  });

  it('is reported when it is missing, by the loop that names it', () => {
    expect(taken(loop('l', 'm'), loop('m', 'nowhere')).findings).toEqual(['body_not_found /m/body']);
  });

  it('is reported when it leads back to its loop, and no step is lost', () => {
    expect(taken(loop('l', 'l'))).toEqual({ order: 'l()', findings: ['body_not_found /l/body'] });
    expect(taken(loop('l', 'm'), loop('m', 'l'))).toEqual({
      order: 'l() m()',
      findings: ['body_not_found /l/body', 'body_not_found /m/body'],
    });
  });
});
