import { readRegistry } from '../../test/invariants/registry.ts';
import { builtinsCatalogue, builtinsPage } from './builtins.ts';
import { bundledHashes, contractDataModule } from './bundled-library.ts';
import { closedSetsPage } from './closed-sets-page.ts';
import { configPage } from './config-page.ts';
import { registryEntry } from './desktop-manifest.ts';
import { eventsPage } from './events-page.ts';
import { formatPage } from './format-page.ts';
import { galleryPage } from './gallery-page.ts';
import { invariantsPage } from './invariants-page.ts';
import { DOCUMENTS, documentSchema } from './json-schemas.ts';
import { lintPage } from './lint-page.ts';
import { withFrontMatter } from './markdown.ts';
import { toolSnapshots, toolsPage } from './tools-page.ts';
import { workflowSchema } from './workflow-schema.ts';

export type GeneratedFile = { readonly path: string; readonly text: string };

/** Everything that follows from the code, as it must stand in the repository. */
export function generatedFiles(root: string): readonly GeneratedFile[] {
  return plainFiles(root).map(({ path, text }) => ({
    path,
    text: path.startsWith('docs/') && path.endsWith('.md') ? withFrontMatter(text) : text,
  }));
}

function plainFiles(root: string): readonly GeneratedFile[] {
  return [
    ...DOCUMENTS.map((document) => ({
      path: `schemas/${document.name}.schema.json`,
      text: `${JSON.stringify(documentSchema(document), null, 2)}\n`,
    })),
    { path: 'schemas/workflow.schema.json', text: `${JSON.stringify(workflowSchema(), null, 2)}\n` },
    { path: 'schemas/builtins.json', text: builtinsCatalogue() },
    { path: 'docs/reference/builtins.md', text: builtinsPage() },
    { path: 'docs/reference/config.md', text: configPage() },
    { path: 'docs/reference/events.md', text: eventsPage() },
    { path: 'docs/gallery.md', text: galleryPage(root) },
    { path: 'docs/reference/workflow-format.md', text: formatPage() },
    { path: 'docs/reference/lint.md', text: lintPage(root) },
    { path: 'docs/reference/tools.md', text: toolsPage() },
    { path: 'server.json', text: `${JSON.stringify(registryEntry(), null, 2)}\n` },
    ...toolSnapshots(),
    { path: 'src/core/workflow/builtins/contract-data.ts', text: contractDataModule() },
    { path: 'src/core/workflow/builtins/bundled-hashes.ts', text: bundledHashes(root) },
    { path: 'docs/internals/closed-sets.md', text: closedSetsPage() },
    { path: 'docs/internals/invariants.md', text: invariantsPage(readRegistry(root)) },
  ];
}
