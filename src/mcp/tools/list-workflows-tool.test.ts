import { describe, expect, it } from 'vitest';
import { fileWith, listeningTools, workflowText } from '../../../test/catalog/catalog-of.ts';
import { enforces } from '../../../test/enforces.ts';
import { memoryServices } from '../../../test/examples/memory-services.ts';
import { workflowCatalog } from '../../app/catalog/workflow-catalog.ts';
import type { SourceListing } from '../../app/ports/workflow-sources.ts';
import { listWorkflowsTool } from './list-workflows-tool.ts';

async function list(listing: SourceListing, aliases?: ReadonlyMap<string, string>, filter: Filter = {}) {
  const catalog = workflowCatalog({ files: async () => listing }, listeningTools(aliases));
  const services = { ...memoryServices(), catalog };
  return (await listWorkflowsTool.run(services, filter, { workspace: undefined }))._unsafeUnwrap();
}

type Filter = { readonly query?: string; readonly tags?: readonly string[] };

describe('the list of workflows', () => {
  it('list_workflows says if the workspace could not be used', async () => {
    const workspaceProblem = { path: 'repo', reason: { code: 'not_absolute' } } as const;
    const { text, structured } = await list({ files: [], workspaceProblem });
    const message =
      'workspacePath was not used: "repo" is not an absolute path. Send the full path of the project folder. Only the bundled workflows and the user\'s own were searched.';
    expect(text.split('\n')[0]).toBe(message);
    expect(structured).toEqual({
      kind: 'ok',
      workflows: [],
      invalid: [],
      total: 0,
      warnings: [{ code: 'workspace_not_used', message }],
    });
    expect(await list({ files: [] })).toMatchObject({ structured: { kind: 'ok', workflows: [], invalid: [] } });
  });

  it('a source that the user has not accepted yet is not called invalid', async () => {
    enforces('project_sources_need_a_person');
    const reason = {
      code: 'not_accepted',
      source: 'flows',
      url: 'https://example.org/f.git',
      commit: 'a'.repeat(40),
    } as const;
    const path = '/repo/.workrail/sources.json';
    const content = { kind: 'unread', reason } as const;
    const waiting = { kind: 'remote', rank: 1.5, ref: 'flows/', path, isInRoutines: false, content } as const;
    const said =
      /^Waiting for the user: source flows\nThis repository asks for .*The user can look at it.*: workrail source accept$/;
    expect((await list({ files: [waiting] })).text).toMatch(said);
    // It may have what a search is for, and nobody can know before it is accepted.
    for (const filter of [{ query: 'release' }, { tags: ['release'] }]) {
      const { text, structured } = await list({ files: [waiting] }, undefined, filter);
      expect(text).toMatch(said);
      expect(structured).toMatchObject({ invalid: [{ file: 'flows/' }] });
      expect(structured).not.toHaveProperty('invalidTotal');
    }
    const broken = fileWith('{', { ref: 'workflows/broken.json' });
    const both = await list({ files: [waiting, broken] }, undefined, { query: 'release' });
    expect(both.text).toMatch(/^Waiting for the user: source flows\n.*\n1 invalid file is not shown\./);
  });

  it('list_workflows names former ids and files whose name does not match their id', async () => {
    const files = [
      fileWith(workflowText('wr.hunt'), { kind: 'bundled', ref: 'wr.hunt.json' }),
      fileWith(workflowText('team.x'), { ref: 'workflows/y.json' }),
    ];
    const { text, structured } = await list({ files }, new Map([['bug-hunt', 'wr.hunt']]));
    expect(structured).toMatchObject({
      workflows: [
        { id: 'team.x', warnings: [expect.stringContaining('Rename the file to team.x.json or x.json')] },
        { id: 'wr.hunt', aliases: ['bug-hunt'] },
      ],
    });
    expect(text).toContain('Usable, with warnings: workflows/y.json');
  });
});
