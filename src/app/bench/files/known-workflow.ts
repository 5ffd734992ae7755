import { type Catalog, type FoundWorkflow, findWorkflow } from '../../catalog/catalog.ts';

/** What a person means by an id: all of it, its beginning, or the beginning of the part behind the namespace. */
export function knownWorkflow(all: Catalog, asked: string): FoundWorkflow {
  const exact = findWorkflow(all, asked);
  if (exact.kind !== 'unknown' || asked === '') return exact;
  const begins = exact.known.filter((id) => id.startsWith(asked) || id.slice(id.indexOf('.') + 1).startsWith(asked));
  const [only, ...others] = begins;
  return only !== undefined && others.length === 0 ? findWorkflow(all, only) : exact;
}
