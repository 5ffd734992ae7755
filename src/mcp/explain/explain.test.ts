import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { digestOf, ROOT, RUN, SESSION } from '../../../test/examples/ids.ts';
import type { JsonObject } from '../../core/json/json-value.ts';
import { blockerReportSchema } from '../../core/log/blockers.ts';
import { type ErrorEnvelope, errorEnvelopeSchema } from '../../core/log/error-envelope.ts';
import { eventIndexSchema, runTag, workflowHashSchema, workflowIdSchema } from '../../core/log/ids.ts';
import type { WorkspaceProblem } from '../../core/prompt/warning-facts.ts';
import type { FormatProblem, TokenPlace, TokenRefusal } from '../../core/token/token-refusal.ts';
import { TOOLS } from '../answer-call.ts';
import { readArguments } from '../arguments/read-arguments.ts';
import { startWorkflowTool } from '../tools/start-workflow-tool.ts';
import { explain, type Refusal } from './explain.ts';
import type { InputRefusal } from './explain-input.ts';
import type { KnownToken, Situation } from './situation.ts';

const workflowId = workflowIdSchema.parse('wr.first_steps');
const place: TokenPlace = { sessionId: SESSION, runId: RUN, nodeId: ROOT, tag: runTag(RUN), workflowId };
const other = { ...place, runId: 'run_other' as TokenPlace['runId'], tag: 'zzzz' };
const hash = workflowHashSchema.parse(digestOf('workflow'));

const STATE: KnownToken = {
  slot: 'stateToken',
  text: 'st_here',
  isGuess: false,
  kind: 'state',
  tag: place.tag,
  workflowId,
  stateToken: 'st_here',
  ackToken: 'ack_here',
  checkpointToken: 'chk_here',
};
const ACK: KnownToken = { ...STATE, slot: 'ackToken', text: 'ack_here', kind: 'ack' };

const OUTPUT = { notesMarkdown: 'Did it.' };
const NOWHERE: Situation = {
  tool: 'continue_workflow',
  sent: { ackToken: 'ack_x', output: OUTPUT },
  tokens: [],
  recent: [],
};
const HERE: Situation = { ...NOWHERE, sent: { ackToken: 'ack_here', output: OUTPUT }, tokens: [ACK] };

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
  ...(['token', 'node', 'stored_workflow'] as const).map((source) => ({
    code: 'TOKEN_WORKFLOW_HASH_MISMATCH' as const,
    place,
    source,
    pinned: hash,
    found: hash,
  })),
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

const WORKSPACE_PROBLEMS: readonly WorkspaceProblem[] = [
  { path: 'repo', reason: { code: 'not_absolute' } },
  { path: '/nowhere', reason: { code: 'not_there' } },
  { path: '/hosts', reason: { code: 'not_a_folder' } },
  { path: '/shut', reason: { code: 'io_failed', cause: 'EACCES' } },
];

const METHOD = 'utf8_bytes_of_rfc_8785_json';
const INPUT_REFUSALS: readonly InputRefusal[] = [
  { code: 'context_not_object' },
  { code: 'context_reserved_key', key: '__proto__' },
  { code: 'context_too_deep', depth: 50, depthMax: 48 },
  { code: 'context_too_large', part: 'argument', bytes: 300_000, bytesMax: 262_144, method: METHOD },
  { code: 'context_too_large', part: 'whole', bytes: 300_000, bytesMax: 262_144, method: METHOD },
  { code: 'not_json', offence: 'lone_surrogate', path: '/a' },
  { code: 'too_many_artifacts', count: 40, max: 32 },
  { code: 'artifact_too_large', position: 2, bytes: 300_000, bytesMax: 262_144 },
  { code: 'goal_too_large', bytes: 2_000, bytesMax: 1_024 },
];

const REFUSALS: readonly Refusal[] = [
  ...TOKEN_REFUSALS,
  ...INPUT_REFUSALS,
  { code: 'token_missing' },
  { code: 'payload_without_ack' },
  { code: 'nothing_to_keep', tag: place.tag, workflowId },
  ...(['no_notes', 'still_a_draft', 'run_continued', 'answered', 'notes_lacking'] as const).map(
    (reason) => ({ code: 'notes_not_replaceable', reason, tag: place.tag, workflowId }) as const,
  ),
  { code: 'form_unfilled', fields: ['goal', 'context.size'] },
  { code: 'attempts_used_up', attemptsMax: 65_536 },
  { code: 'notes_too_long', length: 60_000, lengthMax: 20_000 },
  { code: 'config_broken', problem: '.workrail/config.json, line 2: mode is "auto"; it may be guided.' },
  { code: 'workflow_not_found', workflowId: 'wr.nowhere', known: [workflowId], meant: { choices: [] } },
  ...WORKSPACE_PROBLEMS.map((workspaceProblem) => ({
    code: 'workflow_not_found' as const,
    workflowId: 'project.own',
    known: [workflowId],
    meant: { choices: [] },
    workspaceProblem,
  })),
  { code: 'workflow_invalid', workflowId: 'wr.broken', invalid: { file, diagnostics, shadows: [] } },
  { code: 'tool_unknown', tools: TOOLS.map(({ name }) => name) },
  wrongArguments(startWorkflowTool, {}),
  { code: 'session_not_found', named: 'sess_gone' },
  { code: 'session_not_found', named: 'run_gone', unreadable: [SESSION] },
  { code: 'keys_missing' },
  { code: 'our_fault' },
  { code: 'limit_reached', setting: 'store.sessionMiB', maxMiB: 256 },
  { code: 'limit_reached', setting: 'store.dailyMiB', maxMiB: 2048 },
  { code: 'unreachable', operation: 'append', retryAfterMs: 2_000 },
  { code: 'database_refused', operation: 'append, session', cause: '53100' },
  { code: 'store_went_back', sessionId: SESSION, known: 12, found: 9 },
  { code: 'master_key_unfit' },
  { code: 'session_locked', sessionId: SESSION, holder: undefined },
  { code: 'busy', running: 'collection', holder: 'process 7 on here' },
  { code: 'lock_lost', place: 'sessions/x' },
  { code: 'unsafe_permissions', place: 'keys/keyring.json', found: '644', wanted: '600' },
  { code: 'io_failed', operation: 'append', place: 'sessions/x', cause: 'ENOSPC' },
  { code: 'damaged', damage: { reason: 'segment_missing', place: 'sessions/x', offset: 0 } },
  { code: 'damaged', damage: { reason: 'content_missing', place: 'workflows/pinned/ab.json', offset: 0 } },
  { code: 'unknown_version', place: 'sessions/x', offset: 0, version: '9' },
];

/** Everything that can go wrong with a call, by what it is; once where nothing is known, and once with a token that leads somewhere. */
const ERRORS: { readonly [what: string]: () => ErrorEnvelope } = Object.fromEntries(
  REFUSALS.flatMap((refusal) => [
    [nameOf(refusal), () => explain(refusal, NOWHERE)],
    [`${nameOf(refusal)}, run known`, () => explain(refusal, HERE)],
  ]),
);

/** The only ones that may be sent again as they are. */
const RETRYABLE: { readonly [what: string]: ErrorEnvelope['retry'] } = {
  unreachable: { kind: 'retryable_after_ms', afterMs: 2_000 },
  TOKEN_SESSION_LOCKED: { kind: 'retryable_after_ms', afterMs: 500 },
  session_locked: { kind: 'retryable_after_ms', afterMs: 500 },
  busy: { kind: 'retryable_after_ms', afterMs: 500 },
  lock_lost: { kind: 'retryable_after_ms', afterMs: 1_000 },
  io_failed: { kind: 'retryable_after_ms', afterMs: 1_000 },
  database_refused: { kind: 'retryable_after_ms', afterMs: 1_000 },
  our_fault: { kind: 'retryable_immediate' },
};

const GOLDEN = fileURLToPath(new URL('../../../test/golden/words/mcp-errors.json', import.meta.url));

describe('the words for a refusal', () => {
  afterEach(() => vi.useRealTimers());

  test('every refusal is a complete error envelope with advice', () => {
    enforces('error_is_specific_and_says_next_step', 'error_envelope_shape', 'errors_explain_per_surface');
    expect(Object.keys(ERRORS)).toHaveLength(2 * REFUSALS.length);
    for (const [what, error] of Object.entries(ERRORS)) {
      expect([what, errorEnvelopeSchema.safeParse(error()).error]).toEqual([what, undefined]);
      expect(error().suggestion).toMatch(/^[A-Z].*[.?]$/s);
    }
  });

  test('the words of every refusal equal the snapshot', async () => {
    enforces('error_is_specific_and_says_next_step', 'error_codes_closed_per_operation');
    expect(existsSync(GOLDEN)).toBe(true);
    const words = Object.fromEntries(Object.entries(ERRORS).map(([what, error]) => [what, error()]));
    await expect(`${JSON.stringify(words, null, 2)}\n`).toMatchFileSnapshot(GOLDEN);
  });

  test('a refusal names the run and its workflow if a token identifies one', () => {
    enforces('run_tag_everywhere');
    for (const [what, error] of Object.entries(ERRORS).filter(([name]) => name.endsWith('run known'))) {
      expect([what, error().details?.['run']]).toEqual([what, { tag: place.tag, workflowId }]);
    }
  });

  test('only a busy lock, an error of the disk or database, and an internal error say when to try again', () => {
    enforces('error_retry_union_closed');
    const retries = REFUSALS.map((refusal) => [nameOf(refusal), explain(refusal, NOWHERE).retry] as const);
    expect(retries).toEqual(retries.map(([what]) => [what, RETRYABLE[what] ?? { kind: 'not_retryable' }]));
    expect(retries.filter(([, { kind }]) => kind !== 'not_retryable')).toHaveLength(8);
  });

  test('a temporary refusal repeats the same call', () => {
    enforces('next_call_ready_to_send');
    for (const what of Object.keys(RETRYABLE)) {
      const { nextCall } = ERRORS[what]?.() ?? expect.fail(what);
      expect([what, nextCall]).toEqual([what, { tool: NOWHERE.tool, arguments: NOWHERE.sent }]);
    }
  });

  test('only a busy lock, lost events and a damaged session set nextIntent to rehydrate_only', () => {
    enforces('next_intent_rehydrate_only', 'next_intent_closed');
    const asking = REFUSALS.filter((refusal) => explain(refusal, HERE).nextIntent !== undefined);
    expect(asking.map((refusal) => [refusal.code, explain(refusal, HERE).nextIntent])).toEqual(
      ['TOKEN_SESSION_LOCKED', 'store_went_back', 'session_locked', 'busy', 'damaged', 'damaged'].map((code) => [
        code,
        'rehydrate_only',
      ]),
    );
  });

  test('the refusal of a damaged session carries a blocker', () => {
    enforces('corruption_is_error_result');
    const damage = { reason: 'segment_missing', place: 'sessions/x', offset: 0 } as const;
    const { code, details } = explain({ code: 'damaged', damage }, HERE);
    expect(code).toBe('STORE_CORRUPT');
    expect(blockerReportSchema.parse(details?.['blockers'])).toMatchObject([{ code: 'STORAGE_CORRUPTION_DETECTED' }]);
  });

  test('refusals contain no local path and no time, and are deterministic', () => {
    enforces('error_details_deterministic');
    vi.useFakeTimers();
    for (const [what, error] of Object.entries(ERRORS)) {
      vi.setSystemTime(0);
      const first = error();
      vi.setSystemTime(86_400_000);
      expect([what, error()]).toEqual([what, first]);
      expect(JSON.stringify(first)).not.toMatch(/(^|[\s"(])\/[a-z]+\/[a-z]|[A-Z]:\\|\d{4}-\d{2}-\d{2}T/);
      expect(JSON.stringify(first.details ?? {})).not.toMatch(/sessions\/|keys\/|\\/);
    }
  });

  test('token errors and store errors have different codes', () => {
    enforces('error_domain_separation');
    for (const refusal of TOKEN_REFUSALS) expect(explain(refusal, HERE).code).toBe(refusal.code);
    const codes = REFUSALS.slice(-8).map((refusal) => explain(refusal, HERE).code);
    expect(codes).toEqual([
      'TOKEN_SESSION_LOCKED',
      'TOKEN_SESSION_LOCKED',
      'STORE_IO',
      'STORE_IO',
      'STORE_IO',
      'STORE_CORRUPT',
      'STORE_CORRUPT',
      'STORE_UNKNOWN_VERSION',
    ]);
  });

  test('damaged keys are not called a damaged session, and the advice is to make new ones', () => {
    const damage = { reason: 'content_not_json', place: 'keys/keyring.json', offset: 0 } as const;
    const { message, suggestion } = explain({ code: 'damaged', damage }, HERE);
    expect(message).toBe('The keys that sign tokens are damaged. No session is damaged, and nothing was recorded.');
    expect(suggestion).toContain('workrail keys repair');
    expect(suggestion).toContain('resume_session');
    expect(suggestion).not.toContain('fork-from-valid');
  });

  test.each([
    ['ENOSPC', /free space on the disk/],
    ['EDQUOT', /free space on the disk/],
    ['EACCES', /writable for their account/],
    ['EPERM', /writable for their account/],
    ['EROFS', /writable for their account/],
    ['ENOTDIR', /move away a file on the path to log in the data directory, where a folder belongs/],
    ['EISDIR', /move away a folder at log in the data directory, where a file belongs/],
    ['EFTYPE', /move away a pipe, a device or a socket at log /],
    ['EEXIST', /remove the file that is in the place of the data directory/],
    ['EIO', /check the free space and permissions/],
  ])('a data directory error %s says what the user can do', (cause, words) => {
    expect(explain({ code: 'io_failed', operation: 'append', place: 'log', cause }, HERE).suggestion).toMatch(words);
  });
});

function nameOf(refusal: Refusal): string {
  if (refusal.code === 'workflow_not_found' && refusal.workspaceProblem !== undefined) {
    return `${refusal.code} workspace ${refusal.workspaceProblem.reason.code}`;
  }
  if (refusal.code === 'TOKEN_INVALID_FORMAT') return `${refusal.code} ${refusal.problem.kind}`;
  if (refusal.code === 'TOKEN_SCOPE_MISMATCH') return `${refusal.code} ${refusal.mismatch.kind}`;
  if (refusal.code === 'TOKEN_WORKFLOW_HASH_MISMATCH') return `${refusal.code} ${refusal.source}`;
  if (refusal.code === 'TOKEN_UNKNOWN_NODE') return `${refusal.code} ${refusal.missing.kind}`;
  if (refusal.code === 'session_not_found') return refusal.unreadable ? `${refusal.code} unreadable` : refusal.code;
  if (refusal.code === 'notes_not_replaceable') return `${refusal.code} ${refusal.reason}`;
  if (refusal.code === 'damaged') return `${refusal.code} ${refusal.damage.reason}`;
  if (refusal.code === 'limit_reached') return `${refusal.code} ${refusal.setting}`;
  if (refusal.code === 'context_too_large') return `${refusal.code} ${refusal.part}`;
  return refusal.code;
}

function wrongArguments(tool: (typeof TOOLS)[number], sent: JsonObject) {
  const read = readArguments(tool.arguments, sent);
  return read.isErr() ? read.error : expect.fail('the tool takes it');
}
