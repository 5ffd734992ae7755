import { expect, test } from 'vitest';
import { boundedCache } from './bounded-cache.ts';

const keysOf = (cache: ReturnType<typeof boundedCache<string, string>>) => cache.newestFirst().map(([key]) => key);

test('a cache drops the entries that were not used for longest', () => {
  const cache = boundedCache<string, string>(2);
  cache.set('a', 'one');
  cache.set('b', 'two');
  cache.get('a');
  cache.set('c', 'three');
  expect(keysOf(cache)).toEqual(['c', 'a']);
});

test('a cache with a limit in bytes keeps no more than that, and nothing that is larger', () => {
  const cache = boundedCache<string, string>(100, { bytesMax: 10, bytesOf: ({ length }) => length });
  cache.set('a', '1234');
  cache.set('b', '1234');
  cache.set('b', '12345');
  cache.set('c', '1');
  expect(keysOf(cache)).toEqual(['c', 'b', 'a']);
  cache.set('d', '1234567');
  expect(keysOf(cache)).toEqual(['d', 'c']);
  cache.set('e', '12345678901');
  expect(keysOf(cache)).toEqual([]);
  cache.set('f', '1234567890');
  cache.delete('f');
  cache.set('g', '1234567890');
  expect(keysOf(cache)).toEqual(['g']);
});
