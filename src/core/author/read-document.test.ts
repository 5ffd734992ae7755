import { expect, test } from 'vitest';
import { readDocument } from './read-document.ts';
import { scenarioFileSchema } from './scenario.ts';

const problems = (value: unknown) =>
  readDocument(JSON.stringify(value), scenarioFileSchema)
    ._unsafeUnwrapErr()
    .map(({ message }) => message);

test('a field that a scenario file lacks is named, and one with another kind of value is shown by its position', () => {
  expect(problems({})).toEqual([
    '"workflowId" is missing and must be text.',
    '"scenarios" is missing and must be a list.',
  ]);
  expect(problems({ workflowId: 'team.sc', scenarios: [{ steps: [] }] })).toContain(
    '"name" is missing and must be text.',
  );
  expect(problems({ workflowId: 1, scenarios: [] })).toContain('It must be text.');
});
