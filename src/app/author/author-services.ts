import type { CatalogTools } from '../catalog/assemble-catalog.ts';
import type { WorkflowCatalog } from '../catalog/workflow-catalog.ts';
import type { AuthorFiles } from '../ports/author-files.ts';
import type { WorkflowSource } from '../ports/workflow-sources.ts';
import type { Services } from '../services.ts';

/** What an author works with: files, the compiler, and an engine that forgets everything afterwards. */
export type AuthorServices = {
  /** The folder that the work is about. */
  readonly workspace: string;
  /** Where workflows of one's own are kept. */
  readonly folders: { readonly project: string; readonly user: string };
  readonly files: AuthorFiles;
  readonly source: WorkflowSource;
  readonly tools: CatalogTools;
  /** To be awaited between pieces of work: none of them waits, so without it Ctrl-C would not be heard. */
  readonly yieldNow: () => Promise<void>;
  /** The real use cases over a store that ends with them. */
  readonly services: (catalog: WorkflowCatalog) => Services;
};
