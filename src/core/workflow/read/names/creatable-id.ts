import { err, ok, type Result } from 'neverthrow';
import { LEGACY_ID, NAMESPACED_ID, TEXT_LIMITS } from '../../format/limits.ts';

export type IdRefusal =
  | { readonly code: 'id_legacy'; readonly id: string }
  | { readonly code: 'id_reserved'; readonly id: string }
  | { readonly code: 'id_malformed'; readonly id: string };

/** Whether a workflow may be written under an id. Ids of the old kind run, but no further one comes into being. */
export function creatableId(id: string): Result<string, IdRefusal> {
  if (id.startsWith('wr.')) return err({ code: 'id_reserved', id });
  if (NAMESPACED_ID.test(id) && id.length <= TEXT_LIMITS.id) return ok(id);
  return err({ code: LEGACY_ID.test(id) ? 'id_legacy' : 'id_malformed', id });
}
