/** Checks a claim about our own code. A false claim is a bug, so it throws; the entry point catches it once. */
export function assert(claim: boolean, message: string): asserts claim {
  if (!claim) throw new Error(`bug: ${message}`);
}

/** Ends an exhaustive switch: this does not compile while a case is missing. */
export function unreachable(value: never): never {
  throw new Error(`bug: unexpected ${JSON.stringify(value)}`);
}

/** One function per variant of a union with the tag `code`. This does not compile while one is missing. */
export type ByCode<Union extends { readonly code: string }, Out, More extends readonly unknown[] = []> = {
  readonly [code in Union['code']]: (value: Extract<Union, { readonly code: code }>, ...more: More) => Out;
};

/** Calls the function for the variant. */
export function byCode<Code extends string, Out, More extends readonly unknown[]>(
  cases: Readonly<Record<Code, (value: never, ...more: More) => Out>>,
  value: { readonly code: Code },
  ...more: More
): Out {
  return cases[value.code](value as never, ...more);
}

/** The same for a union with the tag `kind`. */
export type ByKind<Union extends { readonly kind: string }, Out, More extends readonly unknown[] = []> = {
  readonly [kind in Union['kind']]: (value: Extract<Union, { readonly kind: kind }>, ...more: More) => Out;
};

export function byKind<Kind extends string, Out, More extends readonly unknown[]>(
  cases: Readonly<Record<Kind, (value: never, ...more: More) => Out>>,
  value: { readonly kind: Kind },
  ...more: More
): Out {
  return cases[value.kind](value as never, ...more);
}
