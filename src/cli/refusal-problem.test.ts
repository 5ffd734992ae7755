import { describe, expect, it } from 'vitest';
import { enforces } from '../../test/enforces.ts';
import { OTHER_SESSION, SESSION } from '../../test/examples/ids.ts';
import { digest } from '../../test/examples/sha256.ts';
import { errorEnvelopeSchema } from '../core/log/error-envelope.ts';
import { snapshotRefSchema, workflowHashSchema } from '../core/log/ids.ts';
import { EXIT } from './problem.ts';
import { type CommandRefusal, refusalProblem } from './refusal-problem.ts';

type Code = CommandRefusal['code'];

const DATA_DIR = '/data/workrail';
const explain = (refusal: CommandRefusal) => refusalProblem(refusal, DATA_DIR).error;

const REFUSALS: { readonly [code in Code]: Extract<CommandRefusal, { code: code }> } = {
  session_unmatched: { code: 'session_unmatched', asked: 'sess_0123', near: [SESSION, OTHER_SESSION], untold: [] },
  session_ambiguous: { code: 'session_ambiguous', asked: 'sess', sessionIds: [SESSION, OTHER_SESSION] },
  session_not_found: { code: 'session_not_found', sessionId: SESSION },
  session_locked: { code: 'session_locked', sessionId: SESSION, holder: 'process 4711' },
  not_owner: { code: 'not_owner', owner: 'https://idp.example|42' },
  space_full: { code: 'space_full', limit: 'bytesMax', max: 10_000_000_000 },
  transport_twice: { code: 'transport_twice' },
  port_unusable: { code: 'port_unusable', asked: 'http', portMax: 65_535 },
  port_taken: { code: 'port_taken', port: 7_433 },
  port_refused: { code: 'port_refused', port: 80, cause: 'EACCES' },
  secret_failed: { code: 'secret_failed', file: '/data/workrail/keys/http-token', cause: 'EACCES' },
  io_failed: { code: 'io_failed', operation: 'list sessions', place: 'sessions', cause: 'EACCES' },
  busy: { code: 'busy', running: 'key_rotation', holder: 'process 4711' },
  lock_lost: { code: 'lock_lost', place: 'sessions/x' },
  limit_reached: { code: 'limit_reached', setting: 'store.sessionMiB', maxMiB: 256 },
  unreachable: { code: 'unreachable', operation: 'append', retryAfterMs: 2_000 },
  database_refused: { code: 'database_refused', operation: 'append, session', cause: '53100' },
  store_went_back: { code: 'store_went_back', sessionId: SESSION, known: 12, found: 9 },
  master_key_unfit: { code: 'master_key_unfit' },
  unsafe_permissions: { code: 'unsafe_permissions', place: 'keys/keyring.json', found: '644', wanted: '600' },
  damaged: { code: 'damaged', damage: { reason: 'manifest_not_json', place: 'sessions/x/manifest.jsonl', offset: 7 } },
  unknown_version: { code: 'unknown_version', place: 'sessions/x/manifest.jsonl', offset: 3, version: '9' },
  BUNDLE_INVALID_FORMAT: { code: 'BUNDLE_INVALID_FORMAT', reason: 'not_json', offset: 12 },
  BUNDLE_UNSUPPORTED_VERSION: { code: 'BUNDLE_UNSUPPORTED_VERSION', path: 'bundleSchemaVersion', version: '2' },
  BUNDLE_INTEGRITY_FAILED: { code: 'BUNDLE_INTEGRITY_FAILED', reason: 'wrong_bundle_id', path: 'bundleId' },
  BUNDLE_MISSING_SNAPSHOT: { code: 'BUNDLE_MISSING_SNAPSHOT', snapshotRef: snapshotRefSchema.parse(digest('s')) },
  BUNDLE_MISSING_PINNED_WORKFLOW: {
    code: 'BUNDLE_MISSING_PINNED_WORKFLOW',
    workflowHash: workflowHashSchema.parse(digest('w')),
  },
  BUNDLE_EVENT_ORDER_INVALID: { code: 'BUNDLE_EVENT_ORDER_INVALID', position: 3, found: '4' },
  BUNDLE_MANIFEST_ORDER_INVALID: { code: 'BUNDLE_MANIFEST_ORDER_INVALID', position: 3, found: '4' },
  passphrase_wrong: { code: 'passphrase_wrong' },
  seal_unknown: { code: 'seal_unknown' },
  input_failed: { code: 'input_failed', place: 'session.json', cause: 'ENOENT' },
  input_too_large: { code: 'input_too_large', place: 'session.json', size: 300_000_000, max: 268_435_456 },
  output_failed: { code: 'output_failed', place: 'session.json', cause: 'ENOSPC' },
  output_exists: { code: 'output_exists', place: 'session.json' },
  session_too_large: { code: 'session_too_large', measure: 'events', size: 1_000_001, max: 1_000_000 },
  nothing_to_update: { code: 'nothing_to_update', from: SESSION },
  update_or_copy: { code: 'update_or_copy', sessionId: SESSION, newEvents: 3 },
  changed_meanwhile: { code: 'changed_meanwhile', sessionId: SESSION },
  import_unfinished: {
    code: 'import_unfinished',
    sessionId: SESSION,
    cause: { code: 'io_failed', operation: 'write events', place: 'sessions/x', cause: 'ENOSPC' },
  },
};

describe('the words for a refusal', () => {
  it('every refusal has a code, its facts and what to do about it', () => {
    enforces('corruption_codes_closed');
    const told = (code: Code) => {
      const { suggestion, ...error } = explain(REFUSALS[code]);
      return [error.code, `${error.message} ${suggestion}`] as const;
    };
    expect(told('session_unmatched')).toEqual([
      'SESSION_NOT_FOUND',
      expect.stringContaining(`Did you mean ${SESSION}`),
    ]);
    expect(told('session_ambiguous')).toEqual(['VALIDATION_ERROR', expect.stringContaining(OTHER_SESSION)]);
    expect(told('session_not_found')).toEqual(['SESSION_NOT_FOUND', expect.stringContaining(SESSION)]);
    expect(told('io_failed')).toEqual([
      'STORE_IO',
      expect.stringMatching(/directory \/data\/workrail cannot.*EACCES.*permissions/),
    ]);
    expect(explain({ ...REFUSALS.io_failed, cause: 'EMFILE' }).suggestion).toContain('ulimit -n');
    expect(told('unsafe_permissions')).toEqual([
      'STORE_IO',
      expect.stringContaining('chmod 600 keys/keyring.json" in /data/workrail'),
    ]);
    expect(told('limit_reached')).toEqual([
      'STORE_IO',
      expect.stringMatching(/256 MiB that the setting store\.sessionMiB .*"workrail config set store\.sessionMiB 512"/),
    ]);
    expect(told('damaged')).toEqual(['STORE_CORRUPT', expect.stringMatching(/manifest\.jsonl at byte 7\. .*backup/)]);
    expect(told('unknown_version')).toEqual(['STORE_UNKNOWN_VERSION', expect.stringMatching(/version 9.*Update/)]);
  });

  it('every refusal is a valid error envelope whose details name no file', () => {
    enforces('error_envelope_shape', 'error_details_deterministic');
    for (const refusal of Object.values(REFUSALS)) {
      expect(JSON.stringify(explain(refusal).details ?? {})).not.toMatch(/sessions\/|[\\/]/);
      expect(errorEnvelopeSchema.safeParse(explain(refusal)).error, refusal.code).toBeUndefined();
    }
  });

  it('a locked session is reported with its holder and when to try again', () => {
    enforces('session_locked_code');
    expect(explain(REFUSALS.session_locked)).toEqual({
      code: 'SESSION_LOCKED',
      message: `Session ${SESSION} is being written by process 4711.`,
      suggestion: 'Wait a moment, then run the command again. If this continues, end that process.',
      retry: { kind: 'retryable_after_ms', afterMs: 500 },
    });
    expect(explain({ ...REFUSALS.session_locked, holder: undefined }).message).toContain('another process');
  });

  it('a busy store is reported with what is running', () => {
    enforces('session_locked_code');
    expect(explain(REFUSALS.busy)).toEqual({
      code: 'SESSION_LOCKED',
      message: 'The keys are being rotated by process 4711. Nothing was changed.',
      suggestion: 'Wait a moment, then run the command again. If this continues, end that process.',
      retry: { kind: 'retryable_after_ms', afterMs: 500 },
    });
    expect(explain({ ...REFUSALS.busy, running: 'collection', holder: undefined }).message).toContain(
      'gc is being run by another process',
    );
    expect(explain(REFUSALS.lock_lost)).toMatchObject({
      code: 'STORE_IO',
      message: expect.stringMatching(/lock of sessions\/x was deleted.*Nothing was changed/),
      suggestion: expect.stringMatching(/cleans up/),
    });
  });

  it('damage of a whole file is reported without a byte offset', () => {
    const damage = { reason: 'segment_missing', place: 'sessions/x/events/0.jsonl', offset: 0 } as const;
    expect(explain({ code: 'damaged', damage }).message).toBe(
      'Stored data is damaged: segment_missing in sessions/x/events/0.jsonl.',
    );
  });

  it('a partial session is reported as partial, without advice about backups', () => {
    const damage = { reason: 'salvaged', place: 'sessions/x/salvaged', offset: 0 } as const;
    expect(explain({ code: 'damaged', damage })).toMatchObject({
      code: 'STORE_CORRUPT',
      message: expect.stringContaining('only part of a session'),
      suggestion: expect.not.stringContaining('backup'),
    });
  });

  it('an ambiguous id names only a few of many matching sessions', () => {
    const sessionIds = Array.from({ length: 12 }, () => SESSION);
    expect(explain({ ...REFUSALS.session_ambiguous, sessionIds }).suggestion).toMatch(
      /(?:sess_\w+, ){4}sess_\w+ and 7 more/,
    );
  });

  it('every refusal has the exit code of its kind', () => {
    const exits = Object.values(REFUSALS).map((refusal) => [refusal.code, refusalProblem(refusal, DATA_DIR).exitCode]);
    expect(Object.fromEntries(exits)).toEqual({
      session_unmatched: EXIT.notFound,
      session_ambiguous: EXIT.usage,
      session_not_found: EXIT.notFound,
      session_locked: EXIT.failed,
      not_owner: EXIT.failed,
      space_full: EXIT.failed,
      transport_twice: EXIT.usage,
      port_unusable: EXIT.usage,
      port_taken: EXIT.usage,
      port_refused: EXIT.usage,
      secret_failed: EXIT.usage,
      io_failed: EXIT.failed,
      busy: EXIT.failed,
      lock_lost: EXIT.failed,
      limit_reached: EXIT.failed,
      unreachable: EXIT.failed,
      database_refused: EXIT.failed,
      store_went_back: EXIT.failed,
      master_key_unfit: EXIT.failed,
      unsafe_permissions: EXIT.failed,
      damaged: EXIT.failed,
      unknown_version: EXIT.failed,
      BUNDLE_INVALID_FORMAT: EXIT.checkFailed,
      BUNDLE_UNSUPPORTED_VERSION: EXIT.checkFailed,
      BUNDLE_INTEGRITY_FAILED: EXIT.checkFailed,
      BUNDLE_MISSING_SNAPSHOT: EXIT.checkFailed,
      BUNDLE_MISSING_PINNED_WORKFLOW: EXIT.checkFailed,
      BUNDLE_EVENT_ORDER_INVALID: EXIT.checkFailed,
      BUNDLE_MANIFEST_ORDER_INVALID: EXIT.checkFailed,
      input_failed: EXIT.usage,
      passphrase_wrong: EXIT.checkFailed,
      seal_unknown: EXIT.checkFailed,
      input_too_large: EXIT.checkFailed,
      output_failed: EXIT.failed,
      output_exists: EXIT.usage,
      session_too_large: EXIT.usage,
      nothing_to_update: EXIT.notFound,
      update_or_copy: EXIT.usage,
      changed_meanwhile: EXIT.failed,
      import_unfinished: EXIT.failed,
    });
  });
});
