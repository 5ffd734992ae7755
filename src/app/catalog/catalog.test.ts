import { expect, it } from 'vitest';
import { catalogOf, fileWith, workflowText } from '../../../test/catalog/catalog-of.ts';
import { filterWorkflows, findWorkflow, type WorkflowFilter } from './catalog.ts';

const files = [
  fileWith(workflowText('team.bug-hunt', { description: 'Finds what is broken.', tags: ['debug', 'Deep'] }), {
    ref: 'team.bug-hunt.json',
  }),
  fileWith(workflowText('team.review', { description: 'Looks at a change.', tags: ['debug'] }), {
    ref: 'team.review.json',
  }),
];

it.each<readonly [filter: WorkflowFilter, ids: readonly string[]]>([
  [{}, ['team.bug-hunt', 'team.review']],
  [{ query: 'BROKEN' }, ['team.bug-hunt']],
  [{ query: '  change looks ' }, ['team.review']],
  [{ query: 'hunt' }, ['team.bug-hunt']],
  [{ query: 'deep' }, ['team.bug-hunt']],
  [{ query: 'broken change' }, []],
  [{ tags: ['Debug'] }, ['team.bug-hunt', 'team.review']],
  [{ tags: ['debug', 'deep'] }, ['team.bug-hunt']],
  [{ query: 'change', tags: ['deep'] }, []],
])('%j finds %j', async (filter, ids) => {
  const { workflows } = await catalogOf(files);
  expect(filterWorkflows(workflows, filter).map(({ id }) => id)).toEqual(ids);
});

it.each(['Team Review', 'wr.review'])('a file with the unusable id "%s" is found by its name', async (id) => {
  const catalog = await catalogOf([fileWith(workflowText(id), { ref: 'team.review.json' })]);
  expect(findWorkflow(catalog, 'team.review')).toMatchObject({ kind: 'invalid', invalid: { id } });
  expect(findWorkflow(catalog, 'team.other')).toMatchObject({ kind: 'unknown' });
});
