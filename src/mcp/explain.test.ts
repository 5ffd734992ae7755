import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type * as z from 'zod';
import { enforces } from '../../test/enforces.ts';
import { digestOf, ROOT, RUN, SESSION } from '../../test/examples/ids.ts';
import { type ErrorEnvelope, errorEnvelopeSchema } from '../core/log/error-envelope.ts';
import { eventIndexSchema, runTag, workflowHashSchema, workflowIdSchema } from '../core/log/ids.ts';
import type { FormatProblem, TokenPlace, TokenRefusal } from '../core/token/token-refusal.ts';
import { explain, type Refusal } from './explain.ts';
import { INTERNAL, unknownTool, wrongArguments } from './explain-call.ts';
import type { Tool } from './tool.ts';
import { continueWorkflowTool } from './tools/continue-workflow.ts';
import { startWorkflowTool } from './tools/start-workflow.ts';
import { TOOLS } from './tools/tool-set.ts';

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

const file = { ref: 'wr.broken.json', path: '/bundle/wr.broken.json', content: { kind: 'text', text: '{}' } } as const;
const diagnostics = [
  {
    code: 'missing_field',
    severity: 'error',
    pointer: '/steps/0',
    span: { offset: 0, length: 2 },
    message: '"id" is missing here. Add it.',
    line: 1,
    column: 1,
  },
] as const;

const REFUSALS: readonly Refusal[] = [
  ...TOKEN_REFUSALS,
  { code: 'token_missing' },
  { code: 'output_without_ack', ackToken: 'ack_x', output: { notesMarkdown: 'Did it.' } },
  { code: 'run_complete', tag: place.tag, workflowId },
  { code: 'attempts_used_up', attemptsMax: 65_536 },
  { code: 'workflow_not_found', workflowId: 'wr.nowhere', known: [workflowId] },
  { code: 'workflow_invalid', workflowId: 'wr.broken', invalid: { file, diagnostics, shadows: [] } },
  { code: 'workflow_unsupported', workflowId: 'project.loops', parts: ['loops'] },
  { code: 'session_locked', sessionId: SESSION, holder: undefined },
  { code: 'busy', running: 'collection', holder: 'process 7 on here' },
  { code: 'lock_lost', place: 'sessions/x' },
  { code: 'unsafe_permissions', place: 'keys/keyring.json', found: '644', wanted: '600' },
  { code: 'io_failed', operation: 'append', place: 'sessions/x', cause: 'ENOSPC' },
  { code: 'damaged', damage: { reason: 'segment_missing', place: 'sessions/x', offset: 0 } },
  { code: 'unknown_version', place: 'sessions/x', offset: 0, version: '9' },
];

/** Everything that can go wrong with a call, by what it is. */
const ERRORS: { readonly [what: string]: () => ErrorEnvelope } = {
  ...Object.fromEntries(REFUSALS.map((refusal) => [nameOf(refusal), () => explain(refusal)])),
  unknown_tool: () => unknownTool('no_such_tool', TOOLS),
  argument_missing: () => wrongArguments(startWorkflowTool, refusedInput(startWorkflowTool, {})),
  argument_of_wrong_type: () => wrongArguments(continueWorkflowTool, refusedInput(continueWorkflowTool, { output: 7 })),
  argument_unknown: () =>
    wrongArguments(startWorkflowTool, refusedInput(startWorkflowTool, { workflowId: 'a', id: 1 })),
  internal: () => INTERNAL,
};

/** The only ones that may be sent again as they are. */
const RETRYABLE: { readonly [what: string]: ErrorEnvelope['retry'] } = {
  TOKEN_SESSION_LOCKED: { kind: 'retryable_after_ms', afterMs: 500 },
  session_locked: { kind: 'retryable_after_ms', afterMs: 500 },
  busy: { kind: 'retryable_after_ms', afterMs: 500 },
  lock_lost: { kind: 'retryable_after_ms', afterMs: 1_000 },
  io_failed: { kind: 'retryable_after_ms', afterMs: 1_000 },
  internal: { kind: 'retryable_immediate' },
};

const GOLDEN = fileURLToPath(new URL('../../test/golden/words/mcp-errors.json', import.meta.url));

describe('the words for a refusal', () => {
  afterEach(() => vi.useRealTimers());

  test('are a whole envelope with advice, for every refusal there is', () => {
    enforces('error_is_specific_and_says_next_step', 'error_envelope_shape');
    expect(Object.keys(ERRORS)).toHaveLength(REFUSALS.length + 5);
    for (const [what, error] of Object.entries(ERRORS)) {
      expect([what, errorEnvelopeSchema.safeParse(error()).error]).toEqual([what, undefined]);
      expect(error().suggestion).toMatch(/^[A-Z].*\.$/s);
    }
  });

  test('are these, and are changed only on purpose', async () => {
    enforces('error_is_specific_and_says_next_step', 'error_codes_closed_per_operation');
    expect(existsSync(GOLDEN)).toBe(true);
    const words = Object.fromEntries(Object.entries(ERRORS).map(([what, error]) => [what, error()]));
    await expect(`${JSON.stringify(words, null, 2)}\n`).toMatchFileSnapshot(GOLDEN);
  });

  test('say of a busy lock, a disk and a fault of ours when to try again, and of nothing else', () => {
    enforces('error_retry_union_closed');
    const retries = Object.entries(ERRORS).map(([what, error]) => [what, error().retry] as const);
    const expected = retries.map(([what]) => [what, RETRYABLE[what] ?? { kind: 'not_retryable' }]);
    expect(retries).toEqual(expected);
    expect(retries.filter(([, { kind }]) => kind !== 'not_retryable')).toHaveLength(6);
  });

  test('hold neither a path of this machine nor a time, and are the same each time', () => {
    enforces('error_details_deterministic');
    vi.useFakeTimers();
    for (const [what, error] of Object.entries(ERRORS)) {
      vi.setSystemTime(0);
      const first = error();
      vi.setSystemTime(86_400_000);
      expect([what, error()]).toEqual([what, first]);
      expect(JSON.stringify(first)).not.toMatch(/(^|[\s"(])\/[a-z]+\/[a-z]|[A-Z]:\\|\d{4}-\d{2}-\d{2}T/);
      expect(JSON.stringify(first.details ?? {})).not.toMatch(/sessions|keys|[\\/]/);
    }
  });

  test('keep token trouble and store trouble apart', () => {
    enforces('error_domain_separation');
    for (const refusal of TOKEN_REFUSALS) expect(explain(refusal).code).toBe(refusal.code);
    const codes = REFUSALS.slice(-7).map((refusal) => explain(refusal).code);
    expect(codes).toEqual([
      'TOKEN_SESSION_LOCKED',
      'TOKEN_SESSION_LOCKED',
      'STORE_IO',
      'STORE_IO',
      'STORE_IO',
      'STORE_CORRUPT',
      'STORE_UNKNOWN_VERSION',
    ]);
  });

  test('say that nothing was recorded only where that is sure', () => {
    const said = (refusal: Refusal) => explain(refusal).message.includes('Nothing was recorded');
    const sure = REFUSALS.filter(said).map(({ code }) => code);
    expect(sure).toEqual(['busy', 'lock_lost']);
  });

  test('of a busy store say what is going on there, and nothing of disk space', () => {
    expect(explain({ code: 'busy', running: 'key_rotation', holder: undefined })).toEqual({
      code: 'TOKEN_SESSION_LOCKED',
      message: 'The keys are being rotated in the data directory. Nothing was recorded.',
      suggestion:
        'Send the same call again in 500 ms. If this goes on, ask the user which other workrail process is at work.',
      retry: { kind: 'retryable_after_ms', afterMs: 500 },
    });
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

function nameOf(refusal: Refusal): string {
  if (refusal.code === 'TOKEN_INVALID_FORMAT') return `${refusal.code} ${refusal.problem.kind}`;
  if (refusal.code === 'TOKEN_SCOPE_MISMATCH') return `${refusal.code} ${refusal.mismatch.kind}`;
  if (refusal.code === 'TOKEN_UNKNOWN_NODE') return `${refusal.code} ${refusal.missing.kind}`;
  return refusal.code;
}

function refusedInput({ input }: Tool, sent: object): z.ZodError {
  return input.safeParse(sent).error ?? expect.fail('the tool takes it');
}
