import { describe, expect, it } from 'vitest';
import { catalogOf, fileWith, workflowText } from '../../../test/catalog/catalog-of.ts';

describe('the name of a file', () => {
  it.each([
    ['team.bug-hunt', 'team.bug-hunt.json'],
    ['team.bug-hunt', 'deep/er/bug_hunt.json'],
    ['team.routine-triage', 'routines/triage.json'],
    ['team.routine-triage', 'routine-triage.json'],
    ['bug-hunt', 'Bug-Hunt.json'],
  ])('%s may be that of %s', async (id, ref) => {
    const { workflows } = await catalogOf([fileWith(workflowText(id), { ref })]);
    expect(workflows[0]?.warnings.filter(({ code }) => code === 'file_name_differs')).toEqual([]);
  });

  it.each([
    ['team.bug-hunt', 'bugs.json'],
    ['team.bug-hunt', 'bug-hunt/workflow.json'],
    ['team.bug-hunt', 'other.bug-hunt.json'],
  ])('%s is told not to be that of %s', async (id, ref) => {
    const { workflows } = await catalogOf([fileWith(`\n${workflowText(id)}`, { ref })]);
    expect(workflows[0]?.warnings).toEqual([
      {
        code: 'file_name_differs',
        severity: 'warning',
        pointer: '/id',
        span: { offset: 7, length: id.length + 2 },
        line: 2,
        column: 7,
        message: `The file is named otherwise than what is in it, "${id}". Call it ${id}.json or bug-hunt.json, so that it can be found.`,
      },
    ]);
  });
});
