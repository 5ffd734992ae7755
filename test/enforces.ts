import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

type Invariant = { readonly id: string };

const path = fileURLToPath(new URL('../docs/internals/invariants.json', import.meta.url));
const known = new Set((JSON.parse(readFileSync(path, 'utf8')) as Invariant[]).map(({ id }) => id));

/** Names the rules of the invariant registry that the surrounding test holds. An unknown id fails the test. */
export function enforces(...ids: readonly string[]): void {
  const unknown = ids.filter((id) => !known.has(id));
  if (unknown.length > 0) throw new Error(`not in docs/internals/invariants.json: ${unknown.join(', ')}`);
}
