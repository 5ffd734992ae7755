import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { nodeFolderAccess } from '../src/adapters/workflow-files/folder-access.ts';
import { workflowFiles } from '../src/adapters/workflow-files/workflow-files.ts';
import { workflowCatalog } from '../src/app/catalog/workflow-catalog.ts';
import { listeningTools } from './catalog/catalog-of.ts';

const FILES = readdirSync('workflows', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.json'));

it('every bundled file compiles without a warning, under an id that is also its file name', async () => {
  const source = workflowFiles({ bundled: resolve('workflows'), user: resolve('nowhere') }, nodeFolderAccess);
  const { workflows, invalid } = await workflowCatalog(source, listeningTools()).list();
  expect(
    invalid.flatMap(({ file, diagnostics }) => diagnostics.map(({ message }) => `${file.ref}: ${message}`)),
  ).toEqual([]);
  expect(workflows.flatMap(({ warnings }) => warnings)).toEqual([]);
  expect(workflows.map(({ id, kind }) => (kind === 'routine' ? `routines/${id}.json` : `${id}.json`)).sort()).toEqual(
    [...FILES].sort(),
  );
});
