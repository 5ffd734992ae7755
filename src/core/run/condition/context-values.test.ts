import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../json/json-value.ts';
import { readPath } from './context-values.ts';

const context: JsonObject = {
  plan: { slices: [{ name: 'first' }, { name: 'second' }], owner: null },
  'plan.literal': 'a key with a dot',
  currentItem: { name: 'of context' },
  title: 'text',
};

describe('a path into context', () => {
  it.each([
    ['title', 'text'],
    ['plan.slices.1.name', 'second'],
    ['plan.literal', 'a key with a dot'],
    ['plan.owner', null],
    ['currentItem.name', 'of context'],
  ])('%s leads to %j', (path, value) => {
    expect(readPath({ context, loopVariables: {} }, path)).toBe(value);
  });

  it.each([
    'absent',
    'plan.slices.2.name',
    'plan.slices.01.name',
    'plan.slices.-1',
    'plan.slices.length',
    'plan.owner.name',
    'title.length',
    'title.0',
    '',
    '.',
    'plan.',
    'constructor',
    '__proto__',
    'plan.__proto__',
    'plan.constructor.name',
    'plan.hasOwnProperty',
    'plan.slices.map',
  ])('%j leads nowhere', (path) => {
    expect(readPath({ context, loopVariables: {} }, path)).toBeUndefined();
  });

  it('sees a loop variable instead of the context value of that name, also where it has less', () => {
    const loopVariables = { currentItem: { id: 7 }, currentIndex: 0 };
    expect(readPath({ context, loopVariables }, 'currentItem.id')).toBe(7);
    expect(readPath({ context, loopVariables }, 'currentItem.name')).toBeUndefined();
    expect(readPath({ context, loopVariables }, 'currentIndex')).toBe(0);
    expect(readPath({ context, loopVariables }, 'title')).toBe('text');
  });
});
