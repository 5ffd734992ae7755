import type { AuditFinding, AuditFindingKind } from '../../../app/ports/upkeep/store-audit.ts';
import type { DamageReason } from '../../../core/log/health.ts';

/** What is wrong at the place of a finding, or what lies there, as the second half of a sentence. */
export function findingWords({ what, offset, reason, version, code }: AuditFinding): string {
  if (what === 'unknown_version') return `has version ${version}, which this workrail does not know`;
  if (what === 'unreadable') return `cannot be read (${code})`;
  if (reason === 'manifest_cut_short' && offset === undefined) return 'is missing or empty, although there are events';
  const words = WORDS_BY_KIND[what];
  return words ?? (reason === undefined ? 'is damaged' : WORDS_BY_REASON[reason]);
}

/** Kinds that say more than the reason does. */
const WORDS_BY_KIND: { readonly [kind in AuditFindingKind]?: string } = {
  event_invalid: 'has an event that no workrail writes',
  history_inconsistent: 'has an event that contradicts those before it',
  orphan_segment: 'is named by no record of the manifest, so it is ignored',
  torn_tail: 'ends in an append that was cut off and never acknowledged, so the next one clears it away',
  torn_bytes_kept: 'keeps what an append that was cut off had written',
  leftover_file: 'is no part of the session, so it is ignored',
  salvage_mark: 'says that this is only part of a session: it can be read and exported, and never goes on',
};

const WORDS_BY_REASON: { readonly [reason in DamageReason]: string } = {
  manifest_not_json: 'has a line that is no JSON',
  manifest_wrong_record: 'has a record of a wrong shape',
  manifest_foreign_session: 'has a record of another session',
  manifest_chain_broken: 'has a record that was changed, moved or doubled',
  manifest_index_gap: 'has a record with a wrong number',
  manifest_events_not_contiguous: 'leaves out events between two records',
  manifest_pin_without_segment: 'has a record without the one it belongs to',
  manifest_pins_missing: 'lacks records of an append that is not the last',
  manifest_cut_short: 'ends too early: there are events behind that',
  segment_missing: 'is missing',
  segment_digest_mismatch: 'has changed since it was written',
  segment_not_json: 'has a line that is no JSON',
  segment_wrong_events: 'has other events than those that were recorded',
  content_missing: 'is missing',
  content_digest_mismatch: 'has changed since it was written',
  content_not_json: 'is no JSON',
  content_wrong_shape: 'has a wrong shape',
  salvaged: 'says that this is only part of a session, which never goes on',
};
