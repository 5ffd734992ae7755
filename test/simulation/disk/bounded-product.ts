import { seededRandom } from '../seeded-random.ts';

export type ProductBounds = {
  /** Up to so many combinations, all of them are made. */
  readonly fullMax: number;
  /** Beyond that: every pair of values, or so many pairs where there are more, and as many more at random. */
  readonly pairsMax: number;
  readonly seed: number;
};

type Choice = readonly number[];

/**
 * One choice for each dimension: every combination when they are few. Otherwise values of two dimensions meet in
 * pairs, against a background that a seed draws; the extremes, nothing and everything, are always among them.
 */
export function boundedProduct(sizes: readonly number[], bounds: ProductBounds): readonly Choice[] {
  const product = sizes.reduce((whole, size) => whole * size, 1);
  if (product <= bounds.fullMax) return everyChoice(sizes);
  const random = seededRandom(bounds.seed);
  const drawn = () => sizes.map((size) => random.below(size));
  const choices = new Map<string, Choice>();
  const add = (choice: Choice) => choices.set(choice.join(), choice);
  add(sizes.map(() => 0));
  add(sizes.map((size) => Math.min(1, size - 1)));
  const pairs = everyPair(sizes);
  const stride = Math.max(1, pairs.length / bounds.pairsMax);
  for (let at = random.below(stride); at < pairs.length; at += stride) {
    const pair = pairs[Math.floor(at)] ?? [];
    const choice = drawn();
    for (const [dimension, value] of pair) choice[dimension] = value;
    add(choice);
  }
  for (let i = 0; i < Math.min(pairs.length, bounds.pairsMax); i++) add(drawn());
  return [...choices.values()];
}

function everyChoice(sizes: readonly number[]): readonly Choice[] {
  return sizes.reduce<readonly Choice[]>(
    (choices, size) => choices.flatMap((choice) => Array.from({ length: size }, (_, value) => [...choice, value])),
    [[]],
  );
}

type Fixed = readonly (readonly [dimension: number, value: number])[];

function everyPair(sizes: readonly number[]): readonly Fixed[] {
  const pairs: Fixed[] = [];
  for (const [i, size] of sizes.entries()) {
    for (let j = i + 1; j < sizes.length; j++) {
      for (const [a, b] of everyChoice([size, sizes[j] ?? 1]) as readonly [number, number][]) {
        pairs.push([
          [i, a],
          [j, b],
        ]);
      }
    }
  }
  return pairs;
}
