import { expect, test } from 'vitest';
import { type Place, partsAt } from '../../../../test/examples/replies.ts';
import { renderStep } from './render-step.ts';

const loop = (id: string, settings: object, body: readonly object[]) => ({
  id,
  type: 'loop',
  title: `Loop ${id} {{what}}`,
  loop: { maxIterations: 4, ...settings },
  body,
});
const step = (prompt = 'Do it.') => ({ id: 'in', title: 'In', prompt, notesOptional: true });
const file = (entry: object) => ({ id: 'wr.l', name: 'L', description: 'Loops.', steps: [entry] });
const at = (entry: object, place: Place = {}) =>
  renderStep(partsAt(file(entry), { context: { what: 'here' }, ...place }))
    .prompt.split('\n\n')
    .slice(1);

test('a step outside of loops has no round', () => {
  expect(at(step())).toEqual([]);
});

test('a round is shown with its number, the number of rounds and the item', () => {
  expect(at(loop('a', { type: 'forEach', items: ['x', { n: 1 }] }, [step()]), { done: 1 })).toEqual([
    'Loop "Loop a here": round 2 of 2, currentItem: {"n":1}.',
  ]);
  expect(at(loop('a', { type: 'for', count: 3 }, [step()]), { done: 2 })).toEqual([
    'Loop "Loop a here": round 3 of 3.',
  ]);
});

test('a round of a loop without a known length shows the limit', () => {
  const condition = { var: 'what', equals: 'here' };
  expect(at(loop('a', { type: 'while', condition }, [step()]))).toEqual(['Loop "Loop a here": round 1 of at most 4.']);
});

test('an item that the prompt already shows is not shown twice', () => {
  const each = (prompt: string) => at(loop('a', { type: 'forEach', items: [{ name: 'x' }] }, [step(prompt)]));
  expect(each('Do {{currentItem.name}}.')).toEqual(['Loop "Loop a here": round 1 of 1.']);
  expect(each('Do {{currentItems}}.')).toEqual(['Loop "Loop a here": round 1 of 1, currentItem: {"name":"x"}.']);
});

test('of nested loops the outermost comes first, and an item hidden by an inner one is not shown', () => {
  const inner = (itemVar: string) => loop('b', { type: 'forEach', items: ['in'], itemVar }, [step()]);
  const outer = (itemVar: string) => at(loop('a', { type: 'forEach', items: ['out'] }, [inner(itemVar)]));
  expect(outer('part')).toEqual([
    'Loop "Loop a here": round 1 of 1, currentItem: "out".\nLoop "Loop b here": round 1 of 1, part: "in".',
  ]);
  expect(outer('currentItem')).toEqual([
    'Loop "Loop a here": round 1 of 1.\nLoop "Loop b here": round 1 of 1, currentItem: "in".',
  ]);
});
