import * as z from 'zod';
import { eventIndexSchema } from './ids.ts';

/** A damage of a stored session. `place` is relative to the store, so that no absolute path is shown. */
export type Damage = { readonly reason: DamageReason; readonly place: string; readonly offset: number };

export const DAMAGE_REASONS = [
  'manifest_not_json',
  'manifest_wrong_record',
  'manifest_foreign_session',
  'manifest_chain_broken',
  'manifest_index_gap',
  'manifest_events_not_contiguous',
  'manifest_pin_without_segment',
  'manifest_pins_missing',
  'manifest_cut_short',
  'manifest_replaced',
  'segment_missing',
  'segment_digest_mismatch',
  'segment_not_json',
  'segment_wrong_events',
  'content_missing',
  'content_digest_mismatch',
  'content_not_json',
  'content_wrong_shape',
  'salvaged',
] as const;
export type DamageReason = (typeof DAMAGE_REASONS)[number];

const OF_WHOLE_FILES: readonly DamageReason[] = [
  'segment_missing',
  'segment_digest_mismatch',
  'content_missing',
  'content_digest_mismatch',
  'content_not_json',
  'content_wrong_shape',
  'salvaged',
];

/** Whether a damage is at its offset. Otherwise a whole file is missing or wrong. */
export function isLocated(reason: DamageReason): boolean {
  return !OF_WHOLE_FILES.includes(reason);
}

/**
 * How much of a session can be trusted. An incomplete append at the very end was never acknowledged, so the session is
 * healthy. Only a healthy session can continue; the valid start of a damaged one can be viewed.
 */
export type SessionHealth =
  | { readonly kind: 'healthy' }
  | { readonly kind: 'corrupt_tail'; readonly damage: Damage }
  | { readonly kind: 'corrupt_head'; readonly damage: Damage }
  | { readonly kind: 'unknown_version'; readonly place: string; readonly offset: number; readonly version: string };

/** Why only part of a session is there: the damage when it was exported, or an import that did not finish. */
const SALVAGE_HEALTHS = ['corrupt_tail', 'unknown_version', 'import_unfinished'] as const;

/** Marks a session of which only the start could be read. It can be viewed but not continued. */
export const salvageSchema = z.strictObject({ health: z.enum(SALVAGE_HEALTHS), lastEventIndex: eventIndexSchema });
export type Salvage = z.infer<typeof salvageSchema>;

export const AUDIT_FINDING_KINDS = [
  'session_damaged',
  'unknown_version',
  'event_invalid',
  'history_inconsistent',
  'content_missing',
  'content_damaged',
  'unreadable',
  'orphan_segment',
  'torn_tail',
  'torn_bytes_kept',
  'leftover_file',
  'salvage_mark',
  'origin_damaged',
] as const;
export type AuditFindingKind = (typeof AUDIT_FINDING_KINDS)[number];
