import * as z from 'zod';
import { eventIndexSchema } from './ids.ts';

/** What is wrong with a stored session, where. `place` is relative to the store; nothing absolute is ever told. */
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

/** Whether a damage lies at its offset. Where it does not, a file as a whole is missing or wrong. */
export function isLocated(reason: DamageReason): boolean {
  return !OF_WHOLE_FILES.includes(reason);
}

/**
 * How much of a session can be trusted. An append that was cut off at the very end was never acknowledged, so it
 * leaves a session healthy. Only a healthy session may go on; the valid start of a damaged one may be looked at.
 */
export type SessionHealth =
  | { readonly kind: 'healthy' }
  | { readonly kind: 'corrupt_tail'; readonly damage: Damage }
  | { readonly kind: 'corrupt_head'; readonly damage: Damage }
  | { readonly kind: 'unknown_version'; readonly place: string; readonly offset: number; readonly version: string };

/** Why a session is only part of one: how the whole was when it was exported, or an import that did not come to its end. */
const SALVAGE_HEALTHS = ['corrupt_tail', 'unknown_version', 'import_unfinished'] as const;

/** Says of a session that it was taken from one that could not be read to its end. It can be looked at, never gone on with. */
export const salvageSchema = z.strictObject({ health: z.enum(SALVAGE_HEALTHS), lastEventIndex: eventIndexSchema });
export type Salvage = z.infer<typeof salvageSchema>;
