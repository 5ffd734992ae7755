/** Checks a claim about our own code. A false claim is a bug, so it throws; the entry point catches it once. */
export function assert(claim: boolean, message: string): asserts claim {
  if (!claim) throw new Error(`bug: ${message}`);
}

/** Ends an exhaustive switch: this does not compile while a case is missing. */
export function unreachable(value: never): never {
  throw new Error(`bug: unexpected ${JSON.stringify(value)}`);
}
