import { err, ok, type Result } from 'neverthrow';
import { creatableId, type IdRefusal } from '../../../core/workflow/read/names/creatable-id.ts';
import { authorCatalog } from '../../author/author-catalog.ts';
import type { AuthorServices } from '../../author/author-services.ts';
import { findWorkflow } from '../../catalog/catalog.ts';
import { SOURCE_NAMESPACES } from '../../catalog/file-claim.ts';

export type Destination = 'project' | 'user';

export type PlaceRefusal = IdRefusal | { readonly code: 'id_taken'; readonly id: string; readonly path: string };

/** Where a workflow of this id belongs that is to be written. */
export async function placeFor(
  bench: AuthorServices,
  { id, to, isRoutine = false }: { readonly id: string; readonly to: Destination; readonly isRoutine?: boolean },
): Promise<Result<string, PlaceRefusal>> {
  const creatable = creatableId(id);
  if (creatable.isErr()) return err(creatable.error);
  const { all } = await authorCatalog(bench);
  const found = findWorkflow(all, id);
  if (found.kind === 'found' && found.alias === undefined) {
    return err({ code: 'id_taken', id, path: found.listed.file.path });
  }
  if (found.kind === 'invalid') return err({ code: 'id_taken', id, path: found.invalid.file.path });
  return ok(`${bench.folders[to]}/${isRoutine ? 'routines/' : ''}${id}.json`);
}

/** The id that a copy gets when none is chosen. */
export function ownId(id: string, to: Destination): string {
  return `${SOURCE_NAMESPACES[to]}.${id.slice(id.indexOf('.') + 1)}`;
}
