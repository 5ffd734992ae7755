import { statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { ReferenceFinder } from '../../app/ports/reference-finder.ts';
import type { ShownReference } from '../../core/prompt/reply-parts.ts';
import type { CompiledWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';

type Reference = CompiledWorkflow['references'][number];

const WEB = /^https?:\/\//;

/** Looks for referenced documents in the workspace and beside the bundled workflows. */
export function referenceFiles(packageFolder: string): ReferenceFinder {
  return {
    find: async (references, workspace) =>
      references.map((reference) => shown(reference, folderOf(reference, packageFolder, workspace))),
  };
}

function folderOf({ resolveFrom }: Reference, packageFolder: string, workspace: string | undefined) {
  return resolveFrom === 'package' ? packageFolder : workspace;
}

/** An address on the web is taken as it is: nothing is fetched. */
function shown({ title, source, purpose, isAuthoritative }: Reference, folder: string | undefined): ShownReference {
  const path = isAbsolute(source) || WEB.test(source) || folder === undefined ? source : join(folder, source);
  const isResolved = WEB.test(source) || (isAbsolute(path) && isFile(path));
  return { title, path, purpose, isAuthoritative, isResolved };
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
