import fc from 'fast-check';
import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { ROOT, RUN, SESSION } from '../../../../test/examples/ids.ts';
import { sha256 } from '../../../../test/examples/sha256.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { parseEvent, placeEvents } from '../event.ts';
import { applyContextDeltas, contextDelta } from './context-delta.ts';
import { contextId } from './derived-ids.ts';

const MAX = 262_144;
const context: JsonObject = { goal: 'leak', ticket: { id: 7, labels: ['a'] } };

test('a change holds only the keys that really change', () => {
  enforces('context_set_only_on_change');
  expect(contextDelta(context, { goal: 'leak', depth: 2 })).toEqual(
    ok({ delta: { depth: 2 }, context: { ...context, depth: 2 } }),
  );
  expect(contextDelta(context, { ticket: { labels: ['a'], id: 8 } })).toEqual(
    ok({ delta: { ticket: { labels: ['a'], id: 8 } }, context: { goal: 'leak', ticket: { labels: ['a'], id: 8 } } }),
  );
});

test.each([
  ['an empty argument', {}],
  ['the same values', { goal: 'leak', ticket: { labels: ['a'], id: 7 } }],
  ['taking away what is not there', { missing: null }],
])('%s changes nothing, so nothing is written', (_, argument) => {
  enforces('context_set_only_on_change');
  expect(contextDelta(context, argument)).toEqual(ok({ delta: undefined, context }));
});

test('null removes a context key', () => {
  enforces('context_set_shape');
  expect(contextDelta(context, { goal: null })).toEqual(
    ok({ delta: { goal: null }, context: { ticket: { id: 7, labels: ['a'] } } }),
  );
});

test('a null inside a value is a value', () => {
  expect(contextDelta({}, { ticket: { id: null } })).toEqual(
    ok({ delta: { ticket: { id: null } }, context: { ticket: { id: null } } }),
  );
});

test.each([null, 'text', 7, [], undefined])('%j is not a context', (argument) => {
  expect(contextDelta(context, argument)).toEqual(err({ code: 'context_not_object' }));
});

test.each(['__proto__', 'constructor', 'prototype'])('the key %s is refused by name', (key) => {
  const argument = JSON.parse(`{"a":1,"${key}":{}}`);
  expect(contextDelta(context, argument)).toEqual(err({ code: 'context_reserved_key', key }));
});

test('a reserved key is refused at every depth', () => {
  const argument = JSON.parse('{"a":[{"b":{"__proto__":{"polluted":true}}}]}');
  expect(contextDelta(context, argument)).toEqual(err({ code: 'context_reserved_key', key: '__proto__' }));
  expect(contextDelta(context, { a: [{ constructor: 1 }] })).toEqual(
    err({ code: 'context_reserved_key', key: 'constructor' }),
  );
});

test('what is not JSON is refused with its path', () => {
  expect(contextDelta(context, { a: [Number.NaN] })).toEqual(err({ code: 'not_json', offence: 'nan', path: '/a/0' }));
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  expect(contextDelta(context, cycle)._unsafeUnwrapErr()).toMatchObject({ code: 'not_json', offence: 'too_deep' });
});

test('an argument may fill the budget; over it the refusal says size, limit and how it was measured', () => {
  expect(contextDelta({}, { t: 'é'.repeat((MAX - 8) / 2) }).isOk()).toBe(true);
  expect(contextDelta({}, { t: 'é'.repeat((MAX - 6) / 2) })).toEqual(
    err({
      code: 'context_too_large',
      part: 'argument',
      bytes: MAX + 2,
      bytesMax: MAX,
      method: 'utf8_bytes_of_rfc_8785_json',
    }),
  );
});

test('a small argument cannot push the whole context over its budget', () => {
  const full: JsonObject = { t: 'x'.repeat(MAX - 8) };
  expect(contextDelta(full, { a: 1 })).toEqual(
    err({
      code: 'context_too_large',
      part: 'whole',
      bytes: MAX + 6,
      bytesMax: MAX,
      method: 'utf8_bytes_of_rfc_8785_json',
    }),
  );
  expect(contextDelta(full, { a: 1, t: null })).toEqual(ok({ delta: { a: 1, t: null }, context: { a: 1 } }));
});

test('context is at most 48 deep', () => {
  const nested = (depth: number) => ({ a: JSON.parse('['.repeat(depth - 1) + ']'.repeat(depth - 1)) });
  expect(contextDelta({}, nested(48)).isOk()).toBe(true);
  expect(contextDelta({}, nested(49))).toEqual(err({ code: 'context_too_deep', depth: 49, depthMax: 48 }));
});

test('applying the change gives the context that was promised, and making it again changes nothing', () => {
  enforces('context_set_only_on_change');
  const key = fc.constantFrom('a', 'b', 'c', 'd');
  const isPlain = (one: unknown) => one !== null && !/__proto__|constructor|prototype/.test(JSON.stringify(one));
  const value = fc.jsonValue({ maxDepth: 2 }).filter(isPlain) as fc.Arbitrary<JsonObject>;
  const before = fc.dictionary(key, value);
  const argument = fc.dictionary(key, fc.option(value));
  fc.assert(
    fc.property(before, argument, (held, sent) => {
      const change = contextDelta(held, sent)._unsafeUnwrap();
      expect(applyContextDeltas(held, [change.delta ?? {}])).toEqual(change.context);
      expect(contextDelta(change.context, sent)).toEqual(ok({ delta: undefined, context: change.context }));
    }),
  );
});

test('the log accepts every context change', () => {
  const { delta } = contextDelta(context, { goal: null, more: [1] })._unsafeUnwrap();
  const [event] = placeEvents(
    [
      {
        kind: 'context_set',
        scope: { runId: RUN, nodeId: ROOT },
        data: { contextId: contextId(ROOT, sha256), context: delta ?? {}, source: 'agent_delta' },
      },
    ],
    { sessionId: SESSION, firstEventIndex: 0 },
    sha256,
  );
  expect(parseEvent(event).isOk()).toBe(true);
});
