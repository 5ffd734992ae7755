import { describe, expect, it } from 'vitest';
import { compileValue, found } from '../../../../test/compiler/compile-file.ts';
import { work, workflow } from '../../../../test/compiler/routine-calls.ts';
import { refs } from '../builtins/refs.ts';
import { PROMPT_BYTES_MAX } from '../format/limits.ts';

const blocks = (promptBlocks: object) => work('a', { prompt: undefined, promptBlocks });
const half = 'ä'.repeat(PROMPT_BYTES_MAX / 4);
const [ref] = refs.all;

describe('a prompt in blocks', () => {
  it('all prompt blocks together may be as long as a prompt', () => {
    expect(found(compileValue(workflow([blocks({ goal: half, verify: [half] })])))).toEqual([]);
    expect(found(compileValue(workflow([blocks({ goal: half, verify: [half, 'x'] })])))).toEqual([
      'error text_too_long /steps/0/promptBlocks',
    ]);
    const loop = { id: 'l', type: 'loop', loop: { type: 'for', count: 1, maxIterations: 1 } };
    const body = [blocks({ constraints: [half], procedure: [half], outputRequired: { x: 'y' } })];
    expect(found(compileValue(workflow([{ ...loop, body }])))).toEqual([
      'error text_too_long /steps/0/body/0/promptBlocks',
    ]);
  });

  it('bundled texts do not count towards the length of prompt blocks', () => {
    const part = { kind: 'ref', refId: ref?.refId };
    expect(found(compileValue(workflow([blocks({ goal: half, verify: [half], procedure: [[part]] })])))).toEqual([]);
  });

  it('filled-in values cannot make prompt blocks grow without limit', () => {
    const slots = '{{wr.bindings.s}}'.repeat(20);
    const points = { extensionPoints: [{ slotId: 's', purpose: 'P.', default: 'x' }] };
    const file = workflow([blocks({ constraints: [slots, slots] })], points);
    expect(found(compileValue(file, { bindings: { s: 'y'.repeat(1000) } }))).toEqual([]);
    expect(found(compileValue(file, { bindings: { s: 'y'.repeat(1500) } }))).toEqual([
      'error text_too_long /steps/0/promptBlocks',
    ]);
  });
});
