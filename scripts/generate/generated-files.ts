import { readRegistry } from '../../test/invariants/registry.ts';
import { eventsPage } from './events-page.ts';
import { invariantsPage } from './invariants-page.ts';
import { DOCUMENTS, documentSchema } from './json-schemas.ts';

export type GeneratedFile = { readonly path: string; readonly text: string };

/** Everything that follows from the code, as it must stand in the repository. */
export function generatedFiles(root: string): readonly GeneratedFile[] {
  return [
    ...DOCUMENTS.map((document) => ({
      path: `schemas/${document.name}.schema.json`,
      text: `${JSON.stringify(documentSchema(document), null, 2)}\n`,
    })),
    { path: 'docs/reference/events.md', text: eventsPage() },
    { path: 'docs/internals/invariants.md', text: invariantsPage(readRegistry(root)) },
  ];
}
