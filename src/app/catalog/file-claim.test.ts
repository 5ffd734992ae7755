import { describe, expect, it } from 'vitest';
import { catalogOf, fileWith, listeningTools, workflowText } from '../../../test/catalog/catalog-of.ts';
import { enforces } from '../../../test/enforces.ts';

describe('a routine', () => {
  it('a routine is recognised by its folder or by the name part of its id', async () => {
    enforces('routine_by_folder_or_name');
    const { workflows } = await catalogOf([
      fileWith(workflowText('team.triage'), { ref: 'routines/a.json' }),
      fileWith(workflowText('team.routine-check'), { ref: 'b.json' }),
      fileWith(workflowText('old-one'), { ref: 'routines/c.json' }),
      fileWith(workflowText('routine-old'), { ref: 'd.json' }),
      fileWith(workflowText('routine-team.x'), { ref: 'e.json' }),
      fileWith(workflowText('team.routines'), { ref: 'f.json' }),
    ]);
    expect(workflows.map(({ id, kind }) => [id, kind])).toEqual([
      ['routine-old', 'workflow'],
      ['old-one', 'routine'],
      ['routine-team.x', 'workflow'],
      ['team.routines', 'workflow'],
      ['team.routine-check', 'routine'],
      ['team.triage', 'routine'],
    ]);
  });

  it('a routine is a template under its namespace, or that of its source', async () => {
    enforces('routines_are_templates');
    const tools = listeningTools();
    await catalogOf(
      [
        fileWith(workflowText('wr.routine-review'), { kind: 'bundled', ref: 'routines/a.json' }),
        fileWith(workflowText('wr.routine-stolen'), { kind: 'user', ref: 'routines/b.json' }),
        fileWith(workflowText('team.triage'), { kind: 'user', ref: 'routines/c.json' }),
        fileWith(workflowText('routine-old'), { ref: 'routines/d.json' }),
        fileWith(workflowText('team.routine-broken', { steps: 1 }), { ref: 'e.json' }),
        fileWith(workflowText('team.plain'), { ref: 'f.json' }),
      ],
      { tools },
    );
    const [first, ...others] = tools.inputs.map(({ templates }) => templates);
    expect([...(first ?? [])].map(([id, { templateId, steps }]) => [id, templateId, steps.length])).toEqual([
      ['wr.templates.routine.review', 'wr.templates.routine.review', 1],
      ['team.templates.routine.triage', 'team.templates.routine.triage', 1],
      ['project.templates.routine.old', 'project.templates.routine.old', 1],
    ]);
    expect(others.every((templates) => templates === first)).toBe(true);
  });
});

describe('the name of a file', () => {
  it.each([
    ['team.bug-hunt', 'team.bug-hunt.json'],
    ['team.bug-hunt', 'deep/er/bug_hunt.json'],
    ['team.routine-triage', 'routines/triage.json'],
    ['team.routine-triage', 'routine-triage.json'],
    ['bug-hunt', 'Bug-Hunt.json'],
  ])('the id %s matches the file name %s', async (id, ref) => {
    const { workflows } = await catalogOf([fileWith(workflowText(id), { ref })]);
    expect(workflows[0]?.warnings.filter(({ code }) => code === 'file_name_differs')).toEqual([]);
  });

  it.each([
    ['team.bug-hunt', 'bugs.json'],
    ['team.bug-hunt', 'bug-hunt/workflow.json'],
    ['team.bug-hunt', 'other.bug-hunt.json'],
  ])('the id %s does not match the file name %s', async (id, ref) => {
    const { workflows } = await catalogOf([fileWith(`\n${workflowText(id)}`, { ref })]);
    expect(workflows[0]?.warnings).toEqual([
      {
        code: 'file_name_differs',
        severity: 'warning',
        pointer: '/id',
        span: { offset: 7, length: id.length + 2 },
        line: 2,
        column: 7,
        message: `The file name does not match the id "${id}". Rename the file to ${id}.json or bug-hunt.json.`,
      },
    ]);
  });
});
