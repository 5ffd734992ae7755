import { describe, expect, it } from 'vitest';
import { enforces } from '../../test/enforces.ts';
import { OTHER_SESSION, SESSION } from '../../test/examples/ids.ts';
import { errorEnvelopeSchema } from '../core/log/error-envelope.ts';
import { EXIT, exitCodeOf } from './exit-codes.ts';
import { type CommandRefusal, explain as explainIn } from './explain.ts';

type Code = CommandRefusal['code'];

const DATA_DIR = '/data/workrail';
const explain = (refusal: CommandRefusal) => explainIn(refusal, DATA_DIR);

const REFUSALS: { readonly [code in Code]: Extract<CommandRefusal, { code: code }> } = {
  session_unmatched: { code: 'session_unmatched', asked: 'sess_0123', near: [SESSION, OTHER_SESSION], untold: [] },
  session_ambiguous: { code: 'session_ambiguous', asked: 'sess', sessionIds: [SESSION, OTHER_SESSION] },
  session_not_found: { code: 'session_not_found', sessionId: SESSION },
  session_locked: { code: 'session_locked', sessionId: SESSION, holder: 'process 4711' },
  transport_twice: { code: 'transport_twice' },
  port_unusable: { code: 'port_unusable', asked: 'http', portMax: 65_535 },
  port_taken: { code: 'port_taken', port: 7_433 },
  port_refused: { code: 'port_refused', port: 80, cause: 'EACCES' },
  io_failed: { code: 'io_failed', operation: 'list sessions', place: 'sessions', cause: 'EACCES' },
  busy: { code: 'busy', running: 'key_rotation', holder: 'process 4711' },
  lock_lost: { code: 'lock_lost', place: 'sessions/x' },
  unsafe_permissions: { code: 'unsafe_permissions', place: 'keys/keyring.json', found: '644', wanted: '600' },
  damaged: { code: 'damaged', damage: { reason: 'manifest_not_json', place: 'sessions/x/manifest.jsonl', offset: 7 } },
  unknown_version: { code: 'unknown_version', place: 'sessions/x/manifest.jsonl', offset: 3, version: '9' },
};

describe('what a command refuses', () => {
  it('is told with its code, its facts and what to do about it', () => {
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
      expect.stringMatching(/directory \/data\/workrail could.*EACCES.*permissions/),
    ]);
    expect(told('unsafe_permissions')).toEqual([
      'STORE_IO',
      expect.stringContaining('chmod 600 keys/keyring.json" in /data/workrail'),
    ]);
    expect(told('damaged')).toEqual(['STORE_CORRUPT', expect.stringMatching(/manifest\.jsonl at byte 7\. .*backup/)]);
    expect(told('unknown_version')).toEqual(['STORE_UNKNOWN_VERSION', expect.stringMatching(/version 9.*Update/)]);
  });

  it('is a valid envelope in every case, with details that name no file', () => {
    enforces('error_envelope_shape', 'error_details_deterministic');
    for (const refusal of Object.values(REFUSALS)) {
      expect(JSON.stringify(explain(refusal).details ?? {})).not.toMatch(/sessions\/|[\\/]/);
      expect(errorEnvelopeSchema.safeParse(explain(refusal)).error, refusal.code).toBeUndefined();
    }
  });

  it('names who holds a busy session and when to try again', () => {
    enforces('session_locked_code');
    expect(explain(REFUSALS.session_locked)).toEqual({
      code: 'SESSION_LOCKED',
      message: `Session ${SESSION} is being written by process 4711.`,
      suggestion: 'Wait a moment and type the command again; if it stays so, end that process.',
      retry: { kind: 'retryable_after_ms', afterMs: 500 },
    });
    expect(explain({ ...REFUSALS.session_locked, holder: undefined }).message).toContain('another process');
  });

  it('says of a busy store what is going on, and nothing of disk space', () => {
    enforces('session_locked_code');
    expect(explain(REFUSALS.busy)).toEqual({
      code: 'SESSION_LOCKED',
      message: 'The keys are being rotated by process 4711. Nothing was changed.',
      suggestion: 'Wait a moment and type the command again; if it stays so, end that process.',
      retry: { kind: 'retryable_after_ms', afterMs: 500 },
    });
    expect(explain({ ...REFUSALS.busy, running: 'collection', holder: undefined }).message).toContain(
      'Old sessions are being collected by another process',
    );
    expect(explain(REFUSALS.lock_lost)).toMatchObject({
      code: 'STORE_IO',
      message: expect.stringMatching(/lock of sessions\/x was deleted.*Nothing was changed/),
      suggestion: expect.stringMatching(/clean up/),
    });
  });

  it('names no byte of a file that is missing or wrong as a whole', () => {
    const damage = { reason: 'segment_missing', place: 'sessions/x/events/0.jsonl', offset: 0 } as const;
    expect(explain({ code: 'damaged', damage }).message).toBe(
      'Stored data is damaged: segment_missing in sessions/x/events/0.jsonl.',
    );
  });

  it('names only a few of many sessions that fit', () => {
    const sessionIds = Array.from({ length: 12 }, () => SESSION);
    expect(explain({ ...REFUSALS.session_ambiguous, sessionIds }).suggestion).toMatch(
      /(?:sess_\w+, ){4}sess_\w+ and 7 more/,
    );
  });

  it('ends the process with the exit code of its kind', () => {
    const exits = Object.values(REFUSALS).map((refusal) => [refusal.code, exitCodeOf(explain(refusal).code)]);
    expect(Object.fromEntries(exits)).toEqual({
      session_unmatched: EXIT.notFound,
      session_ambiguous: EXIT.usage,
      session_not_found: EXIT.notFound,
      session_locked: EXIT.failed,
      transport_twice: EXIT.usage,
      port_unusable: EXIT.usage,
      port_taken: EXIT.usage,
      port_refused: EXIT.usage,
      io_failed: EXIT.failed,
      busy: EXIT.failed,
      lock_lost: EXIT.failed,
      unsafe_permissions: EXIT.failed,
      damaged: EXIT.failed,
      unknown_version: EXIT.failed,
    });
  });
});
