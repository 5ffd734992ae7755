import fc from 'fast-check';
import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { loop, step } from '../../../test/examples/ids.ts';
import { loopPathSchema, parseStepInstanceKey, stepInstanceKey, stepInstanceKeySchema } from './step-instance-key.ts';

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
])('%j is no key', (key) => {
  enforces('step_instance_key_format', 'step_and_loop_ids_delimiter_safe');
  expect(stepInstanceKeySchema.safeParse(key).success).toBe(false);
});

test('iterations count from zero', () => {
  const paths = [-1, 0, 0.5].map((iteration) => [{ loopId: 'outer', iteration }]);
  expect(paths.map((path) => loopPathSchema.safeParse(path).success)).toEqual([false, true, false]);
});
