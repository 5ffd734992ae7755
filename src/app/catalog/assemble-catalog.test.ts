import { describe, expect, it } from 'vitest';
import { catalogOf, fileWith, workflowText } from '../../../test/catalog/catalog-of.ts';
import { enforces } from '../../../test/enforces.ts';
import type { WorkflowFile } from '../ports/workflow-sources.ts';

describe('a workflow with an id of the old kind', () => {
  async function suggestions(files: readonly WorkflowFile[]): Promise<readonly (string | undefined)[]> {
    return (await catalogOf(files)).workflows.map(({ suggestedId }) => suggestedId);
  }

  it('a workflow id without a namespace works, with a warning and a suggestion', async () => {
    enforces('legacy_id_runs_with_warning', 'legacy_rename_suggestion');
    const { workflows } = await catalogOf([
      fileWith(workflowText('bug-hunt'), { kind: 'user', ref: 'bug-hunt.json' }),
      fileWith(workflowText('2fa-setup'), { kind: 'project', ref: '2fa-setup.json' }),
    ]);
    const warned = workflows.map(({ warnings }) => warnings.map(({ code, line, column }) => [code, line, column]));
    expect(warned).toEqual([[['legacy_id', 1, 7]], [['legacy_id', 1, 7]]]);
    expect(workflows.map(({ id, idStatus, suggestedId }) => [id, idStatus, suggestedId])).toEqual([
      ['2fa-setup', 'legacy', 'project.w_2fa_setup'],
      ['bug-hunt', 'legacy', 'user.bug_hunt'],
    ]);
  });

  it('a suggested id is unique and the same on every machine', async () => {
    enforces('legacy_rename_suggestion');
    const files = [
      fileWith(workflowText('bug-hunt'), { ref: 'a.json' }),
      fileWith(workflowText('bug_hunt'), { ref: 'b.json' }),
      fileWith(workflowText('triage'), { ref: 'c.json' }),
      fileWith(workflowText('project.triage'), { ref: 'd.json' }),
    ];
    const expected = ['project.bug_hunt_9611', 'project.bug_hunt_1bc6', 'project.triage_b304', undefined];
    expect(await suggestions(files)).toEqual(expected);
    expect(await suggestions(files.map((file) => ({ ...file, path: `/elsewhere/${file.ref}` })))).toEqual(expected);
    expect(await suggestions(files.map((file) => ({ ...file, content: edited(file) })))).toEqual(expected);
  });

  it('the warning, the fix and the suggestion name the same free id', async () => {
    const { workflows, invalid } = await catalogOf([
      fileWith(workflowText('bug-hunt'), { kind: 'user', ref: 'bug-hunt.json' }),
      fileWith(workflowText('triage'), { ref: 'triage.json' }),
      fileWith(workflowText('project.triage'), { ref: 'd.json' }),
      fileWith(workflowText('wr.triage'), { ref: 'wr.triage.json' }),
    ]);
    const legacy = workflows.flatMap(({ warnings, suggestedId }) =>
      warnings.flatMap(({ code, message }) => (code === 'legacy_id' ? [[message, suggestedId]] : [])),
    );
    expect(legacy.map(([, id]) => id)).toEqual(['user.bug_hunt', expect.stringMatching(/^project\.triage_/)]);
    for (const [message, id] of legacy) expect(message).toContain(`rename it to "${id}".`);
    const fix = invalid[0]?.diagnostics.find(({ code }) => code === 'reserved_namespace')?.fix;
    expect(fix?.title).toMatch(/^Rename it to "project\.triage_[0-9a-f]{4}"$/);
  });

  it('a suggestion stays plain when the same id is in another folder of the project', async () => {
    expect(
      await suggestions([fileWith(workflowText('triage')), fileWith(workflowText('triage'), { rank: 3 })]),
    ).toEqual(['project.triage']);
  });

  function edited({ content }: WorkflowFile): WorkflowFile['content'] {
    return content.kind === 'text' ? { kind: 'text', text: `${content.text}\n` } : content;
  }
});
