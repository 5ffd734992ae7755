import { nodeCompiledFiles } from '../adapters/sources/compiled-files.ts';
import { nodeFolderAccess } from '../adapters/sources/read-folder.ts';
import { fixedFolders, workflowFiles } from '../adapters/sources/workflow-files.ts';
import { nodeHasher } from '../adapters/system.ts';
import type { CatalogTools } from '../app/catalog/assemble-catalog.ts';
import { type WorkflowCatalog, workflowCatalog } from '../app/catalog/workflow-catalog.ts';
import { defined } from '../core/json/json-value.ts';
import { BUNDLED_ALIASES } from '../core/workflow/builtins/builtin-workflows.ts';

/** What comes with the program. */
export type Bundled = {
  /** The workflow files. */
  readonly folder: string;
  /** The file with all of them compiled. */
  readonly library: string;
  /** Names the compiler of the program. */
  readonly compiler: string;
};

/** The catalog of the server. The compiler is loaded when a file is neither bundled nor known from before. */
export function openCatalog(bundled: Bundled, dataDir: string): WorkflowCatalog {
  return workflowCatalog(workflowFiles(fixedFolders(bundled.folder), nodeFolderAccess), catalogTools(bundled, dataDir));
}

/** The compiler, and what is known without it. */
export function catalogTools({ library, compiler }: Bundled, dataDir?: string): CatalogTools {
  const { sha256 } = nodeHasher;
  return {
    sha256,
    aliases: BUNDLED_ALIASES,
    compiledFiles: nodeCompiledFiles({ compiler, library, ...defined({ dataDir }) }),
    compiler: async () => (await import('./open-compiler.ts')).openCompiler(sha256),
  };
}
