import type { SessionAudit } from '../../src/app/ports/upkeep.ts';
import { salvageSchema } from '../../src/core/log/health.ts';
import { OTHER_SESSION, SESSION } from './ids.ts';

/** What verifying sessions may find. */
export const HEALTHY: SessionAudit = {
  sessionId: SESSION,
  health: { kind: 'healthy' },
  events: 53,
  bytes: 40_210,
  findings: [],
  signature: { kind: 'unsigned' },
};
export const NOTED: SessionAudit = {
  ...HEALTHY,
  findings: [{ severity: 'note', what: 'orphan_segment', place: 'sessions/x/events/9.jsonl' }],
};
export const SALVAGED: SessionAudit = {
  ...HEALTHY,
  health: { kind: 'salvaged', salvage: salvageSchema.parse({ health: 'corrupt_tail', lastEventIndex: 52 }) },
  findings: [{ severity: 'note', what: 'salvage_mark', place: 'sessions/x/salvaged' }],
};
export const DAMAGED: SessionAudit = {
  signature: { kind: 'unsigned' },
  sessionId: OTHER_SESSION,
  health: {
    kind: 'corrupt_tail',
    damage: { reason: 'segment_digest_mismatch', place: 'sessions/y/events/4.jsonl', offset: 0 },
  },
  events: 4,
  bytes: 900,
  findings: [
    {
      severity: 'damage',
      what: 'session_damaged',
      place: 'sessions/y/events/4.jsonl',
      reason: 'segment_digest_mismatch',
    },
    {
      severity: 'damage',
      what: 'session_damaged',
      place: 'sessions/y/manifest.jsonl',
      offset: 812,
      reason: 'manifest_chain_broken',
    },
  ],
};
const SNAPSHOT_DAMAGE = { reason: 'content_digest_mismatch', place: 'snapshots/ab.json', offset: 0 } as const;
export const WITHOUT_CONTENT: SessionAudit = {
  ...HEALTHY,
  health: { kind: 'corrupt_tail', damage: SNAPSHOT_DAMAGE },
  findings: [
    { severity: 'damage', what: 'content_damaged', place: 'snapshots/ab.json', reason: 'content_digest_mismatch' },
  ],
};
export const NEWER: SessionAudit = {
  signature: { kind: 'unsigned' },
  sessionId: OTHER_SESSION,
  health: { kind: 'unknown_version', place: 'sessions/y/manifest.jsonl', offset: 3, version: '9' },
  events: 0,
  bytes: 10,
  findings: [
    { severity: 'damage', what: 'unknown_version', place: 'sessions/y/manifest.jsonl', offset: 3, version: '9' },
  ],
};
export const HIDDEN: SessionAudit = {
  signature: { kind: 'unsigned' },
  sessionId: OTHER_SESSION,
  health: { kind: 'unreadable', place: 'sessions/y/manifest.jsonl', code: 'EACCES' },
  events: 0,
  bytes: 0,
  findings: [{ severity: 'damage', what: 'unreadable', place: 'sessions/y/manifest.jsonl', code: 'EACCES' }],
};
