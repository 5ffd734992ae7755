type Method = (this: unknown, ...args: unknown[]) => unknown;
type Prototype = { readonly size?: number; readonly length?: number };

/** Methods that look at one entry. */
const SINGLE: readonly (readonly [object, readonly PropertyKey[]])[] = [
  [Map.prototype, ['get', 'set', 'has', 'delete']],
  [Set.prototype, ['add', 'has', 'delete']],
  [Array.prototype, ['push', 'pop', 'at']],
];

/** Methods that may look at all entries. Spreading and `for of` go through the iterator. */
const WHOLE: readonly (readonly [object, readonly PropertyKey[]])[] = [
  [Map.prototype, ['forEach', 'entries', 'keys', 'values', Symbol.iterator]],
  [Set.prototype, ['forEach', 'values', Symbol.iterator]],
  [
    Array.prototype,
    ['concat', 'slice', 'splice', 'sort', 'reverse', 'map', 'filter', 'flatMap', 'reduce', 'find', 'findLast'],
  ],
  [Array.prototype, ['findIndex', 'indexOf', 'includes', 'some', 'every', 'shift', 'unshift', Symbol.iterator]],
];

/** How many entries of maps, sets, arrays and objects a function touches: work without a clock. */
export function countOperations(work: () => void): number {
  const counter = startCounting();
  try {
    work();
    return counter.count();
  } finally {
    counter.stop();
  }
}

/** The same for work that waits. Whatever else goes on in the process meanwhile is counted with it. */
export async function countOperationsDuring(work: () => Promise<unknown>): Promise<number> {
  const counter = startCounting();
  try {
    await work();
    return counter.count();
  } finally {
    counter.stop();
  }
}

function startCounting(): { readonly count: () => number; readonly stop: () => void } {
  let operations = 0;
  const restore = [
    ...SINGLE.flatMap(([on, names]) => names.map((name) => patch(on, name, () => (operations += 1)))),
    ...WHOLE.flatMap(([on, names]) => names.map((name) => patch(on, name, (entries) => (operations += 1 + entries)))),
    patch(Object, 'entries', (_, [object]) => (operations += 1 + Object.keys(object as object).length)),
  ];
  operations = 0;
  return {
    count: () => operations,
    stop: () => {
      // Without an iterator of its own: the patched one is still in place.
      for (let i = 0; i < restore.length; i++) restore[i]?.();
    },
  };
}

function patch(on: object, name: PropertyKey, count: (entries: number, args: IArguments) => void): () => void {
  const original = Reflect.get(on, name) as Method;
  const counted = function (this: Prototype) {
    // biome-ignore lint/complexity/noArguments: a rest parameter would go through the patched iterator.
    const args = arguments;
    count(this?.size ?? this?.length ?? 0, args);
    return Reflect.apply(original, this, args);
  };
  Reflect.defineProperty(on, name, { value: counted, configurable: true, writable: true });
  return () => {
    Reflect.defineProperty(on, name, { value: original, configurable: true, writable: true });
  };
}
