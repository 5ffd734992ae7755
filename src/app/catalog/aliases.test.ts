import { describe, expect, it } from 'vitest';
import { catalogOf, fileWith, listeningTools, workflowText } from '../../../test/catalog/catalog-of.ts';
import { enforces } from '../../../test/enforces.ts';
import { memoryServices } from '../../../test/examples/memory-services.ts';
import { creatableId } from '../../core/workflow/format/read-names.ts';
import type { SourceListing } from '../ports/workflow-sources.ts';
import { startWorkflow } from '../run/start-workflow.ts';
import { findWorkflow } from './catalog.ts';
import { workflowCatalog } from './workflow-catalog.ts';

const tools = listeningTools(
  new Map([
    ['bug-hunt', 'wr.bug_hunt'],
    ['wr.hunt', 'wr.bug_hunt'],
    ['old-review', 'team.review'],
  ]),
);
const bundled = fileWith(workflowText('wr.bug_hunt'), { kind: 'bundled', ref: 'wr.bug_hunt.json' });

describe('an id that a bundled workflow used to have', () => {
  it('a former id of a bundled workflow still finds it and is marked as such', async () => {
    enforces('bundled_aliases_read_only');
    const catalog = await catalogOf([bundled], { tools });
    const [listed] = catalog.workflows;
    expect(catalog.workflows.map(({ id, aliases, idStatus }) => [id, aliases, idStatus])).toEqual([
      ['wr.bug_hunt', ['bug-hunt', 'wr.hunt'], 'namespaced'],
    ]);
    expect(findWorkflow(catalog, 'bug-hunt')).toEqual({ kind: 'found', listed, alias: 'bug-hunt' });
    expect(findWorkflow(catalog, 'wr.bug_hunt')).toEqual({ kind: 'found', listed });
    expect(findWorkflow(catalog, 'bug')).toEqual({
      kind: 'unknown',
      known: ['wr.bug_hunt'],
      meant: { id: 'wr.bug_hunt', choices: ['wr.bug_hunt'] },
    });
    expect(listed?.aliases.map((id) => creatableId(id).isErr())).toEqual([true, true]);
  });

  it('a former id does not override a workflow of that id, valid or broken', async () => {
    const own = fileWith(workflowText('bug-hunt'), { kind: 'user', ref: 'bug-hunt.json' });
    const catalog = await catalogOf([bundled, own], { tools });
    expect(catalog.workflows.map(({ id, aliases }) => [id, aliases])).toEqual([
      ['bug-hunt', []],
      ['wr.bug_hunt', ['wr.hunt']],
    ]);
    expect(findWorkflow(catalog, 'bug-hunt')).toMatchObject({ kind: 'found', listed: { file: own } });
    const broken = fileWith(workflowText('bug-hunt', { steps: 1 }), { kind: 'user', ref: 'bug-hunt.json' });
    expect(findWorkflow(await catalogOf([bundled, broken], { tools }), 'bug-hunt')).toMatchObject({
      kind: 'invalid',
      invalid: { file: broken },
    });
  });

  it("a former id never finds another author's workflow", async () => {
    const own = fileWith(workflowText('team.review'), { ref: 'review.json' });
    const catalog = await catalogOf([own], { tools });
    expect(catalog.workflows.map(({ aliases }) => aliases)).toEqual([[]]);
    expect(findWorkflow(catalog, 'old-review').kind).toBe('unknown');
  });
});

describe('starting a workflow', () => {
  const started = async (
    listing: SourceListing,
    request: { readonly workflowId: string; readonly workspace?: string },
  ) => {
    const catalog = workflowCatalog({ files: async () => listing }, tools);
    const reply = (await startWorkflow({ ...memoryServices(), catalog }, request))._unsafeUnwrap();
    return reply.structured;
  };

  it('starting by a former id works and shows the current id', async () => {
    enforces('bundled_aliases_read_only');
    expect(await started({ files: [bundled] }, { workflowId: 'bug-hunt' })).toMatchObject({
      run: { workflowId: 'wr.bug_hunt' },
      warnings: [{ code: 'renamed_id', details: { canonicalId: 'wr.bug_hunt' } }],
    });
    expect(await started({ files: [bundled] }, { workflowId: 'wr.bug_hunt' })).not.toHaveProperty('warnings.0');
  });

  it('starting from an invalid workspace works for workflows elsewhere and shows the problem', async () => {
    const workspaceProblem = { path: 'repo', reason: { code: 'not_absolute' } } as const;
    const request = { workflowId: 'wr.bug_hunt', workspace: 'repo' };
    expect(await started({ files: [bundled], workspaceProblem }, request)).toMatchObject({
      warnings: [{ code: 'workspace_not_used', details: { path: 'repo' } }],
    });
  });

  it('starting a workflow with checks from an invalid workspace says that they cannot be run', async () => {
    const workspaceProblem = { path: '~', reason: { code: 'not_absolute' } } as const;
    const steps = (checks: object) => [{ id: 'test', title: 'Test', prompt: 'Test it.', ...checks }];
    const check = { id: 'tests', run: 'npm test', minimum: 'observed' };
    const files = [
      fileWith(workflowText('team.checked', { steps: steps({ checks: [check] }) }), {
        kind: 'user',
        ref: 'checked.json',
      }),
      fileWith(workflowText('team.plain', { steps: steps({}) }), { kind: 'user', ref: 'plain.json' }),
    ];
    const warningOf = async (workflowId: string) => {
      const { warnings } = await started({ files, workspaceProblem }, { workflowId, workspace: '~' });
      const [{ message }] = warnings as [{ message: string }];
      return message;
    };
    expect(await warningOf('team.checked')).toMatch(
      / This workflow has checks, which need a workspace, and this run has none\. Call start_workflow again with the full path /,
    );
    expect(await warningOf('team.plain')).not.toContain('check');
  });
});
