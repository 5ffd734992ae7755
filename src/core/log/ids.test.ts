import fc from 'fast-check';
import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { loop, step } from '../../../test/examples/ids.ts';
import { sha256 } from '../../../test/examples/sha256.ts';
import {
  attemptIdSchema,
  CapabilityObservationId,
  ContextId,
  conditionIdSchema,
  contextKeySchema,
  DivergenceId,
  derivedBits,
  EventId,
  eventIndexSchema,
  GapId,
  loopIdSchema,
  loopPathSchema,
  NodeId,
  OutputId,
  PreferenceChangeId,
  parseStepInstanceKey,
  plainDigestSchema,
  RunId,
  readRunTag,
  runTag,
  SessionId,
  sessionIdBits,
  snapshotRefSchema,
  stepIdSchema,
  stepInstanceKey,
  stepInstanceKeySchema,
  TraceId,
  workflowHashSchema,
  workflowIdSchema,
} from './ids.ts';

const KINDS = [
  ['sess', SessionId],
  ['run', RunId],
  ['node', NodeId],
  ['evt', EventId],
  ['out', OutputId],
  ['gap', GapId],
  ['prefchg', PreferenceChangeId],
  ['capobs', CapabilityObservationId],
  ['div', DivergenceId],
  ['trace', TraceId],
  ['ctx', ContextId],
] as const;
const tenBytes = fc.uint8Array({ minLength: 10, maxLength: 10 });

test.each(KINDS)('an id %s_… is its prefix and sixteen characters of lower-case base32', (prefix, kind) => {
  enforces('ids_lower_case_base32');
  fc.assert(
    fc.property(tenBytes, (bits) => {
      const id = kind.of(bits);
      expect(id).toMatch(new RegExp(`^${prefix}_[0-9abcdefghjkmnpqrstvwxyz]{16}$`));
      expect(kind.schema.parse(id)).toBe(id);
    }),
    { numRuns: 50 },
  );
  const body = '0123456789abcdef';
  const wrong = [
    body,
    `${prefix}_`,
    `${prefix}_${body}0`,
    `${prefix}_${body.slice(1)}`,
    `${prefix}_${body.toUpperCase()}`,
    `${prefix}_${body.slice(1)}i`,
    `${prefix}_${body.slice(1)}u`,
    `${prefix}_${body}\n`,
    `other_${body}`,
    `${prefix.toUpperCase()}_${body}`,
  ];
  expect(wrong.filter((id) => kind.schema.safeParse(id).success)).toEqual([]);
});

test('ids of different kinds are never read for each other', () => {
  const ids = KINDS.map(([, kind]) => kind.of(new Uint8Array(10)));
  const readers = ids.map((id) => KINDS.filter(([, kind]) => kind.schema.safeParse(id).success).length);
  expect(readers).toEqual(ids.map(() => 1));
});

test.each([9, 11])('an id of %i bytes is a bug', (length) => {
  enforces('session_id_80_bits');
  expect(() => SessionId.of(new Uint8Array(length))).toThrow('bug: an id takes 10 bytes');
});

test('a session id carries 80 bits, all of which come back from its text', () => {
  enforces('session_id_80_bits');
  fc.assert(
    fc.property(tenBytes, (bits) => {
      expect(sessionIdBits(SessionId.of(bits))).toEqual(bits);
    }),
  );
});

test('equal parts give equal bits, and any other part gives others', () => {
  const bits = (parts: readonly (string | number | null)[]) => Buffer.from(derivedBits(parts, sha256)).toString('hex');
  expect(bits(['node', 'run_1', 0])).toBe('94bce78e2426a944cb5d');
  const variants = [
    ['node', 'run_1', 0],
    ['node', 'run_1', 1],
    ['node', 'run_1', '0'],
    ['node', 'run_1', null],
    ['node', 'run_10'],
    ['node', 'run_1'],
    ['noderun_1'],
  ];
  expect(new Set(variants.map(bits)).size).toBe(variants.length);
});

test('a run tag is the last four characters', () => {
  expect(runTag(RunId.schema.parse('run_0123456789abcdef'))).toBe('cdef');
});

test('a tag is read from a text that is nothing else, as people write it', () => {
  for (const text of ['c0d1', ' C0D1 ', 'run c0d1', 'Run COdl', 'run_c0d1', 'codi'])
    expect([text, readRunTag(text)]).toEqual([text, 'c0d1']);
  for (const text of [
    '',
    'c0d',
    'c0d12',
    'run',
    'runc0d1',
    'c0u1',
    'c0d1 tests',
    'run_0123456789abcdef',
    'sess_c0d1',
  ]) {
    expect([text, readRunTag(text)]).toEqual([text, undefined]);
  }
});

test.each([stepIdSchema, loopIdSchema, conditionIdSchema, contextKeySchema])(
  'a step, loop, condition or context key is of delimiter-safe characters',
  (schema) => {
    enforces('step_and_loop_ids_delimiter_safe');
    const good = ['a', 'triage', 'a-b_c', '0', 'routine--step'];
    const bad = ['', 'a.b', 'a@b', 'a/b', 'a:b', 'A', 'a b', 'ä', 'a\n'];
    expect([...good, ...bad].filter((id) => schema.safeParse(id).success)).toEqual(good);
  },
);

test('a workflow id is a namespace and a name, or a legacy id without a dot', () => {
  const good = ['wr.bug_hunt', 'project.a', 'bug-hunt', '3-steps', 'a'.repeat(64)];
  const bad = ['', 'ab', 'a'.repeat(65), 'a.b.c', 'A.b', '.b', 'a.', '1a.b', 'a/b', 'a.b\n'];
  expect([...good, ...bad].filter((id) => workflowIdSchema.safeParse(id).success)).toEqual(good);
});

test.each([workflowHashSchema, snapshotRefSchema, plainDigestSchema])('a digest is sha256: and hex', (schema) => {
  enforces('digest_strings_sha256_hex');
  const hex = '0123456789abcdef'.repeat(4);
  const bad = [hex, `sha256:${hex.toUpperCase()}`, `sha256:${hex}0`, `sha512:${hex}`, `sha256:${hex}\n`, 'sha256:'];
  expect([`sha256:${hex}`, ...bad].filter((digest) => schema.safeParse(digest).success)).toEqual([`sha256:${hex}`]);
});

test('an event index has 32 bits and an attempt 16, both counted from zero', () => {
  const numbers = [-1, 0, 0.5, 0xffff, 0x1_0000, 0xffff_ffff, 0x1_0000_0000];
  expect(numbers.filter((n) => attemptIdSchema.safeParse(n).success)).toEqual([0, 0xffff]);
  expect(numbers.filter((n) => eventIndexSchema.safeParse(n).success)).toEqual([0, 0xffff, 0x1_0000, 0xffff_ffff]);
});

test('a key is the step id, or the loop path in front of it', () => {
  enforces('step_instance_key_format');
  const path = [
    { loopId: loop('outer'), iteration: 0 },
    { loopId: loop('inner'), iteration: 2 },
  ];
  expect(stepInstanceKey(step('triage'), [])).toBe('triage');
  expect(stepInstanceKey(step('triage'), path)).toBe('outer@0/inner@2::triage');
});

test('step and loop path come back from any key', () => {
  enforces('step_instance_key_format');
  const id = fc.stringMatching(/^[a-z0-9_-]{1,12}$/);
  const path = fc.array(fc.record({ loopId: id.map(loop), iteration: fc.nat() }), { maxLength: 4 });
  fc.assert(
    fc.property(id.map(step), path, (stepId, loopPath) => {
      const key = stepInstanceKey(stepId, loopPath);
      expect(stepInstanceKeySchema.parse(key)).toBe(key);
      expect(parseStepInstanceKey(key)).toEqual({ stepId, loopPath });
    }),
  );
});

test.each([
  '',
  '::triage',
  'outer::triage',
  'outer@::triage',
  'outer@01::triage',
  'outer@-1::triage',
  'outer@0/::triage',
  'outer@0:triage',
  'outer@0::',
  'outer@0::a::b',
  'outer@0/inner::triage',
  'Outer@0::triage',
  'a.b',
  'triage\n',
])('%j is not a step instance key', (key) => {
  enforces('step_instance_key_format', 'step_and_loop_ids_delimiter_safe');
  expect(stepInstanceKeySchema.safeParse(key).success).toBe(false);
});

test('iterations count from zero', () => {
  const paths = [-1, 0, 0.5].map((iteration) => [{ loopId: 'outer', iteration }]);
  expect(paths.map((path) => loopPathSchema.safeParse(path).success)).toEqual([false, true, false]);
});
