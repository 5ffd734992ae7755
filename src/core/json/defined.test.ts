import { describe, expect, it } from 'vitest';
import { defined } from './defined.ts';

describe('optional fields', () => {
  it('a field that is undefined is left out, and every other value stays', () => {
    const line: string | undefined = undefined as string | undefined;
    const fields: { readonly id: string; readonly line?: string; readonly count?: number } = defined({
      id: 'a',
      line,
      count: 0,
    });
    expect(fields).toStrictEqual({ id: 'a', count: 0 });
    expect(Object.keys(defined({ a: null, b: false, c: '' }))).toEqual(['a', 'b', 'c']);
  });
});
