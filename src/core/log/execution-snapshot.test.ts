import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import type * as z from 'zod';
import { enforces } from '../../../test/enforces.ts';
import { fieldsOf, jsonSchema } from '../../../test/examples/event-schema.ts';
import { SNAPSHOT_FIELDS } from '../../../test/examples/field-rules.ts';
import { loop, step, WORKFLOW_HASH } from '../../../test/examples/ids.ts';
import { sha256 } from '../../../test/examples/sha256.ts';
import { removals, replacements, without, withValue } from '../../../test/examples/single-field-changes.ts';
import { SNAPSHOT_EXAMPLES } from '../../../test/examples/snapshots.ts';
import { canonicalBytes } from '../json/canonical-json.ts';
import {
  executionSnapshotSchema,
  isComplete,
  parseSnapshot,
  pendingStep,
  type SnapshotRefusal,
  sealSnapshot,
} from './execution-snapshot.ts';
import { stepInstanceKey } from './ids.ts';

const EXAMPLES = Object.entries(SNAPSHOT_EXAMPLES);
const STATE = '/enginePayload/state';
const OPTIONAL = [`${STATE}/loopStack/*/items`, `${STATE}/loopStack/*/count`];
const fields = (schema: z.ZodType) => fieldsOf(jsonSchema(schema));
const inLoops = SNAPSHOT_EXAMPLES.in_loops;

test.each(EXAMPLES)('the snapshot "%s" is parsed unchanged, also with a field of a newer version', (_, snapshot) => {
  enforces('unknown_fields_rule');
  expect(parseSnapshot(snapshot)).toEqual(ok(snapshot));
  expect(parseSnapshot({ ...snapshot, later: 1 })).toEqual(ok({ ...snapshot, later: 1 }));
});

test.each(EXAMPLES)('the snapshot "%s" is refused without a required field', (_, snapshot) => {
  enforces('snapshot_state_explicit', 'schema_changes_additive_within_version');
  for (const { path, field, document } of removals(snapshot, SNAPSHOT_FIELDS)) {
    expect([path, refusedAt(document)]).toEqual([path, OPTIONAL.includes(field) ? 'none' : path]);
  }
});

test.each(EXAMPLES)('the snapshot "%s" is refused with any one field of a wrong type or value', (_, snapshot) => {
  enforces('snapshot_state_explicit');
  for (const { path, what, document } of replacements(snapshot, SNAPSHOT_FIELDS)) {
    expect([path, what, refusedAt(document)]).toEqual([path, what, path]);
  }
});

test('unknown versions of the snapshot or of its engine part are distinguished from damage', () => {
  enforces('unknown_version_fails_fast', 'durable_types_are_versioned');
  expect(parseSnapshot({ v: 2, other: true })).toEqual(err({ code: 'unknown_version', part: 'snapshot', version: 2 }));
  expect(parseSnapshot({ v: 1, enginePayload: { v: 2 } })).toEqual(
    err({ code: 'unknown_version', part: 'engine', version: 2 }),
  );
  expect([executionSnapshotSchema, executionSnapshotSchema.shape.enginePayload].flatMap(fields)).toEqual([
    'enginePayload kind v workflowHash',
    'state v',
  ]);
  for (const [name, snapshot] of EXAMPLES) {
    expect([name, snapshot.v, snapshot.enginePayload.v]).toEqual([name, 1, 1]);
    for (const path of ['/v', '/enginePayload/v']) expect(refusedAt(without(snapshot, path))).toBe(path);
  }
});

test('a snapshot contains only the workflow hash and the state to continue from', () => {
  enforces('snapshot_rehydration_only');
  expect(inLoops).toEqual({
    v: 1,
    kind: 'execution_snapshot',
    workflowHash: WORKFLOW_HASH,
    enginePayload: {
      v: 1,
      state: {
        kind: 'running',
        cursor: 3,
        completed: {
          kind: 'set',
          values: ['outer@0/inner@2::look', 'outer@0/inner@2::note', 'outer@0::prepare'],
        },
        loopStack: [
          { loopId: 'outer', iteration: 0, bodyIndex: 1, items: ['src/a.ts', { path: 'src/b.ts', lines: [1, 2] }] },
          { loopId: 'inner', iteration: 2, bodyIndex: 2, count: 5 },
        ],
        pending: {
          kind: 'some',
          step: {
            stepId: 'decide',
            loopPath: [
              { loopId: 'outer', iteration: 0 },
              { loopId: 'inner', iteration: 2 },
            ],
          },
        },
      },
    },
  });
});

test('a state is one of three kinds, and a step is pending or not; neither is null or a boolean', () => {
  enforces('snapshot_state_explicit');
  const states = EXAMPLES.map(([, { enginePayload }]) => enginePayload.state.kind);
  const { options } = executionSnapshotSchema.shape.enginePayload.shape.state;
  expect(options.map((option) => option.shape.kind.value)).toEqual(['init', 'running', 'complete']);
  expect(new Set(states)).toEqual(new Set(['init', 'running', 'complete']));
  const pending = options[1].shape.pending.options.map((option) => option.shape.kind.value);
  expect(pending).toEqual(['none', 'some']);
  expect(refusedAt(withValue(inLoops, `${STATE}/kind`, 'paused'))).toBe(`${STATE}/kind`);
  expect(refusedAt(withValue(inLoops, `${STATE}/pending`, null))).toBe(`${STATE}/pending`);
  expect(refusedAt(withValue(inLoops, `${STATE}/pending`, { kind: 'some' }))).toBe(`${STATE}/pending/step`);
});

test('a pending step that is completed already is refused', () => {
  enforces('snapshot_pending_not_completed');
  const pending = stepInstanceKey(step('decide'), [
    { loopId: loop('outer'), iteration: 0 },
    { loopId: loop('inner'), iteration: 2 },
  ]);
  expect(refusal(withValue(inLoops, `${STATE}/completed/values`, [pending]))).toEqual({
    code: 'wrong_shape',
    path: `${STATE}/completed`,
    message: 'the pending step must not be completed',
  });
});

test('a loop that is open twice is refused', () => {
  enforces('snapshot_loop_ids_unique');
  const twice = withValue(withValue(inLoops, `${STATE}/loopStack/1/loopId`, 'outer'), `${STATE}/pending`, {
    kind: 'none',
  });
  expect(refusal(withValue(twice, `${STATE}/completed/values`, []))).toEqual({
    code: 'wrong_shape',
    path: `${STATE}/loopStack`,
    message: 'a loop can be open only once',
  });
});

test.each([
  ['another iteration', `${STATE}/pending/step/loopPath/1/iteration`, 3],
  ['another loop', `${STATE}/pending/step/loopPath/1/loopId`, 'other'],
  ['too few loops', `${STATE}/pending/step/loopPath`, [{ loopId: 'outer', iteration: 0 }]],
  ['no loops', `${STATE}/pending/step/loopPath`, []],
])('a pending step in %s than the loop stack is refused', (_, path, value) => {
  enforces('snapshot_loop_path_matches_stack');
  expect(refusal(withValue(inLoops, path, value))).toEqual({
    code: 'wrong_shape',
    path: `${STATE}/pending/step/loopPath`,
    message: 'the path of the pending step must equal the loop stack',
  });
});

test.each([
  ['unsorted', ['outer@0::prepare', 'outer@0/inner@2::look']],
  ['doubled', ['outer@0::prepare', 'outer@0::prepare']],
])('a completed set that is %s is refused', (_, values) => {
  enforces('snapshot_completed_sorted_set');
  expect(refusal(withValue(inLoops, `${STATE}/completed/values`, values))).toEqual({
    code: 'wrong_shape',
    path: `${STATE}/completed/values`,
    message: 'completed step instances must be sorted, each once',
  });
});

test.each([
  ['the top level', 'triage'],
  ['an ended iteration', 'outer@0/inner@1::look'],
  ['a closed loop', 'before@0::look'],
  ['a loop inside the open ones', 'outer@0/inner@2/third@0::look'],
])('a completed step of %s is refused: only open scopes are kept', (_, key) => {
  enforces('snapshot_completed_open_scopes_only');
  expect(refusal(withValue(inLoops, `${STATE}/completed/values`, [key]))).toEqual({
    code: 'wrong_shape',
    path: `${STATE}/completed`,
    message: 'completed step instances must belong to an open iteration of a loop',
  });
});

test('the items of a loop take at most 64 KiB as canonical JSON', () => {
  const items = (bytes: number) => withValue(inLoops, `${STATE}/loopStack/0/items`, ['é'.repeat((bytes - 4) / 2)]);
  expect(refusedAt(items(65_536))).toBe('none');
  expect(refusedAt(items(65_538))).toBe(`${STATE}/loopStack/0/items`);
});

test('an open loop may contain the decision of its iteration: continue or stop', () => {
  const decided = (decision: unknown) => withValue(inLoops, `${STATE}/loopStack/1/decision`, decision);
  expect(['continue', 'stop', 'maybe', '', null].map((one) => refusedAt(decided(one)))).toEqual([
    'none',
    'none',
    ...Array.from({ length: 3 }, () => `${STATE}/loopStack/1/decision`),
  ]);
});

test('a snapshot is named by the hash of its canonical bytes', () => {
  enforces('snapshot_ref_is_content_hash');
  const bytes = canonicalBytes(inLoops)._unsafeUnwrap();
  expect(sealSnapshot(inLoops, sha256)).toEqual({ ref: sha256(bytes), bytes });
  const { v, kind, workflowHash, enginePayload } = inLoops;
  expect(sealSnapshot({ enginePayload, workflowHash, kind, v }, sha256).ref).toBe(sha256(bytes));
  const names = EXAMPLES.map(([, snapshot]) => sealSnapshot(snapshot, sha256).ref);
  expect(new Set(names).size).toBe(EXAMPLES.length);
});

test('only a running state has a pending step, only a complete one is complete', () => {
  expect(EXAMPLES.map(([name, snapshot]) => [name, pendingStep(snapshot)?.stepId, isComplete(snapshot)])).toEqual([
    ['init', undefined, false],
    ['top_level', 'triage', false],
    ['in_loops', 'decide', false],
    ['nothing_pending', undefined, false],
    ['complete', undefined, true],
  ]);
});

function refusal(snapshot: unknown): SnapshotRefusal {
  return parseSnapshot(snapshot)._unsafeUnwrapErr();
}

function refusedAt(snapshot: unknown): string {
  return parseSnapshot(snapshot).match(() => 'none', pathOf);
}

function pathOf(refused: SnapshotRefusal): string {
  if (refused.code === 'wrong_shape') return refused.path;
  return refused.part === 'snapshot' ? '/v' : '/enginePayload/v';
}

test('an open loop must be at one of its items', () => {
  const at = (frame: object) =>
    refusedAt(withValue(inLoops, `${STATE}/loopStack/1`, { loopId: 'inner', iteration: 2, bodyIndex: 2, ...frame }));
  const refused = `${STATE}/loopStack/1/iteration`;
  expect([{ count: 3 }, { items: [1, 2, 3] }, { items: [1, 2, 3], count: 5 }, {}].map(at)).toEqual(
    Array(4).fill('none'),
  );
  expect([{ count: 2 }, { items: [1, 2] }, { items: [1, 2, 3], count: 2 }, { items: [] }].map(at)).toEqual(
    Array(4).fill(refused),
  );
});
