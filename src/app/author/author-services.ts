import type { CompilePattern } from '../../core/workflow/pattern.ts';
import type { CatalogTools } from '../catalog/assemble-catalog.ts';
import type { WorkflowCatalog } from '../catalog/workflow-catalog.ts';
import type { AuthorFiles } from '../ports/author-files.ts';
import type { WorkflowSource } from '../ports/workflow-sources.ts';
import type { Services } from '../services.ts';

/** What an author works with: files, the compiler, and an engine that keeps nothing. */
export type AuthorServices = {
  /** The current folder. */
  readonly workspace: string;
  /** Where the author's own workflows are. */
  readonly folders: { readonly project: string; readonly user: string };
  readonly files: AuthorFiles;
  readonly source: WorkflowSource;
  readonly tools: CatalogTools;
  readonly compilePattern: CompilePattern;
  /** Awaited between pieces of synchronous work, so that Ctrl-C is handled. */
  readonly yieldNow: () => Promise<void>;
  /** The real use cases over a new store in memory. */
  readonly services: (catalog: WorkflowCatalog) => Promise<Services>;
};
