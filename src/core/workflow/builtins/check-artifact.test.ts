import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { JsonValue } from '../../json/json-value.ts';
import { checkShape } from './check-artifact.ts';
import { inStableOrder, shapeOfSchema } from './shape.ts';

const shape = shapeOfSchema(
  z.strictObject({ name: z.string().min(1), size: z.int().min(1).max(9), tags: z.array(z.string()) }),
);
const parsed = (text: string) => JSON.parse(text) as JsonValue;

describe('checking a value against a shape', () => {
  it('checking an artifact reports every violation in the order of field names, unknown fields last', () => {
    expect(checkShape(shape, { tags: [1, 'a', null], size: 10, colour: 'red' })._unsafeUnwrapErr()).toEqual([
      { code: 'missing', path: '/name', found: 'nothing', allowed: 'text' },
      { code: 'too_large', path: '/size', found: '10', allowed: 'whole number from 1 to 9' },
      { code: 'wrong_type', path: '/tags/0', found: '1', allowed: 'text' },
      { code: 'wrong_type', path: '/tags/2', found: 'null', allowed: 'text' },
      { code: 'unknown_key', path: '/colour', found: 'an unknown field', allowed: 'name, size, tags' },
    ]);
  });

  it('field names like __proto__ are reported as unknown, never taken for known ones', () => {
    const value = parsed('{"name":"a","size":1,"tags":[],"__proto__":{"x":1},"constructor":1}');
    expect(
      checkShape(shape, value)
        ._unsafeUnwrapErr()
        .map(({ code, path }) => `${code} ${path}`),
    ).toEqual(['unknown_key /__proto__', 'unknown_key /constructor']);
    expect(checkShape(shape, parsed('{"__proto__":{"name":"a"},"size":1,"tags":[]}'))._unsafeUnwrapErr()).toMatchObject(
      [
        { code: 'missing', path: '/name' },
        { code: 'unknown_key', path: '/__proto__' },
      ],
    );
  });

  it('a violation escapes names in its path and shortens a long value', () => {
    expect(
      checkShape(shape, { name: 'a', size: 'x'.repeat(99), tags: [], 'a/b~': 1 })._unsafeUnwrapErr(),
    ).toMatchObject([{ path: '/size', found: `"${'x'.repeat(47)}…"` }, { path: '/a~1b~0' }]);
    const [escaped] = checkShape(shape, { name: 'a', size: `${'x'.repeat(46)}\n\n`, tags: [] })._unsafeUnwrapErr();
    expect(escaped?.found).toBe(`"${'x'.repeat(46)}…"`);
  });

  it('an artifact that is not an object is refused', () => {
    for (const value of [null, [], 'text', 1, true]) {
      expect(checkShape(shape, value)._unsafeUnwrapErr()).toMatchObject([{ code: 'wrong_type', path: '' }]);
      expect(checkShape({}, value).isErr()).toBe(true);
    }
  });

  it('a shape gives the same answers after it is put into its stored order', () => {
    const stored = inStableOrder(shape);
    expect(Object.keys(stored)).toEqual(Object.keys(stored).toSorted());
    for (const value of [{ name: 'a', size: 1, tags: [] }, { tags: 1 }, { size: 1.5, more: 1 }]) {
      expect(checkShape(stored, value)).toEqual(checkShape(shape, value));
    }
  });
});
