import { describe, expect, test } from 'vitest';
import { enforces } from '../../test/enforces.ts';
import { digestOf, ROOT, RUN, SESSION } from '../../test/examples/ids.ts';
import { errorEnvelopeSchema } from '../core/log/error-envelope.ts';
import { eventIndexSchema, runTag, workflowHashSchema, workflowIdSchema } from '../core/log/ids.ts';
import type { FormatProblem, TokenPlace, TokenRefusal } from '../core/token/token-refusal.ts';
import { explain, type Refusal } from './explain.ts';

const workflowId = workflowIdSchema.parse('wr.first_steps');
const place: TokenPlace = { sessionId: SESSION, runId: RUN, nodeId: ROOT, tag: runTag(RUN), workflowId };
const other = { ...place, tag: 'zzzz' };
const hash = workflowHashSchema.parse(digestOf('workflow'));

const FORMAT_PROBLEMS: readonly FormatProblem[] = [
  { kind: 'empty' },
  { kind: 'too_long', lengthMax: 1024, found: 4096 },
  { kind: 'unknown_prefix', found: 'abc' },
  { kind: 'wrong_length', expected: 51, found: 50 },
  { kind: 'wrong_parts', expected: 4, found: 3 },
  { kind: 'foreign_character', character: '!', position: 9 },
  { kind: 'wrong_payload', path: '/nodeId' },
  { kind: 'prefix_disagrees', prefix: 'ack', inside: 'state' },
  { kind: 'wrapped' },
  { kind: 'not_canonical' },
];

const TOKEN_REFUSALS: readonly TokenRefusal[] = [
  ...FORMAT_PROBLEMS.map((problem) => ({ code: 'TOKEN_INVALID_FORMAT' as const, problem })),
  { code: 'TOKEN_UNSUPPORTED_VERSION', found: 3, supported: [1, 2] },
  { code: 'TOKEN_BAD_SIGNATURE', kind: 'ack', keysTried: 2 },
  {
    code: 'TOKEN_SCOPE_MISMATCH',
    mismatch: { kind: 'slot', slot: 'ackToken', expected: ['ack'], found: 'state', tag: place.tag },
  },
  { code: 'TOKEN_SCOPE_MISMATCH', mismatch: { kind: 'session', expected: SESSION, found: SESSION } },
  {
    code: 'TOKEN_SCOPE_MISMATCH',
    mismatch: { kind: 'run', place, named: { tag: 'zzzz', runId: null, workflowId: null } },
  },
  { code: 'TOKEN_SCOPE_MISMATCH', mismatch: { kind: 'pair', state: place, operation: other } },
  { code: 'TOKEN_UNKNOWN_NODE', sessionId: SESSION, missing: { kind: 'session' } },
  {
    code: 'TOKEN_UNKNOWN_NODE',
    sessionId: SESSION,
    missing: { kind: 'node_at', eventIndex: eventIndexSchema.parse(9) },
  },
  { code: 'TOKEN_WORKFLOW_HASH_MISMATCH', place, source: 'node', pinned: hash, found: hash },
  { code: 'TOKEN_SESSION_LOCKED', sessionId: SESSION, afterMs: 500, holder: 'process 7 on here' },
];

const file = { kind: 'bundled', ref: 'wr.broken.json', content: undefined } as const;
const diagnostics = [{ pointer: '/steps/0/id', message: 'wrong' }];

const REFUSALS: readonly Refusal[] = [
  ...TOKEN_REFUSALS,
  { code: 'token_missing' },
  { code: 'output_without_ack', ackToken: 'ack_x', output: { notesMarkdown: 'Did it.' } },
  { code: 'run_complete', tag: place.tag, workflowId },
  { code: 'attempts_used_up', attemptsMax: 65_536 },
  { code: 'workflow_not_found', workflowId: 'wr.nowhere', known: [workflowId] },
  { code: 'workflow_invalid', workflowId: 'wr.broken', broken: { file, diagnostics } },
  { code: 'session_locked', sessionId: SESSION, holder: undefined },
  { code: 'unsafe_permissions', place: 'keys/keyring.json', found: '644', wanted: '600' },
  { code: 'io_failed', operation: 'append', place: 'sessions/x', cause: 'ENOSPC' },
  { code: 'damaged', damage: { reason: 'segment_missing', place: 'sessions/x', offset: 0 } },
  { code: 'unknown_version', place: 'sessions/x', offset: 0, version: '9' },
];

describe('the words for a refusal', () => {
  test('are a whole envelope with advice, for every refusal there is', () => {
    enforces('error_is_specific_and_says_next_step', 'error_envelope_shape');
    for (const refusal of REFUSALS) {
      const envelope = explain(refusal);
      expect(errorEnvelopeSchema.safeParse(envelope).error).toBeUndefined();
      expect(envelope.suggestion).toMatch(/^[A-Z].*\.$/s);
    }
  });

  test('hold neither a path of this machine nor a time, and are the same each time', () => {
    enforces('error_details_deterministic');
    for (const refusal of REFUSALS) {
      const text = JSON.stringify(explain(refusal));
      expect(text).toBe(JSON.stringify(explain(refusal)));
      expect(text).not.toMatch(/(^|[\s"(])\/[a-z]+\/[a-z]|[A-Z]:\\|\d{4}-\d{2}-\d{2}T/);
    }
  });

  test('keep token trouble and store trouble apart', () => {
    enforces('error_domain_separation');
    for (const refusal of TOKEN_REFUSALS) expect(explain(refusal).code).toBe(refusal.code);
    const codes = REFUSALS.slice(-5).map((refusal) => explain(refusal).code);
    expect(codes).toEqual(['TOKEN_SESSION_LOCKED', 'STORE_IO', 'STORE_IO', 'STORE_CORRUPT', 'STORE_UNKNOWN_VERSION']);
  });

  test('of a keyring that others may read say how to close it', () => {
    const { message, suggestion } = explain({
      code: 'unsafe_permissions',
      place: 'keys/keyring.json',
      found: '644',
      wanted: '600',
    });
    expect(message).toContain('keys/keyring.json in the data directory (mode 644)');
    expect(suggestion).toContain('chmod 600 on keys/keyring.json');
  });

  test('of two tokens that do not belong together name both runs', () => {
    const { message } = explain({
      code: 'TOKEN_SCOPE_MISMATCH',
      mismatch: { kind: 'pair', state: place, operation: other },
    });
    expect(message).toContain(place.tag);
    expect(message).toContain(other.tag);
  });
});
