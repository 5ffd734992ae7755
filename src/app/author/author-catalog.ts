import { type Catalog, findWorkflow } from '../catalog/catalog.ts';
import { type WorkflowCatalog, workflowCatalog } from '../catalog/workflow-catalog.ts';
import type { WorkflowFile, WorkflowSource } from '../ports/workflow-sources.ts';
import type { AuthorServices } from './author-services.ts';

/** Above every folder, so that a named file overrides others of its id. */
const NAMED_RANK = 1_000;

/** The catalog as of now, including files that were named explicitly. */
export type AuthorCatalog = { readonly catalog: WorkflowCatalog; readonly all: Catalog };

export async function authorCatalog(author: AuthorServices, paths: readonly string[] = []): Promise<AuthorCatalog> {
  const { source, yieldNow, workspace } = author;
  const tools = { ...author.tools, yieldNow };
  const { files } = await source.files(workspace);
  const known = new Set(files.map(({ path }) => author.files.resolve(path)));
  const loose = looseFiles(
    author,
    paths.filter((path) => !known.has(path)),
  );
  const plain = workflowCatalog(
    extended(source, loose, (file) => file),
    tools,
  );
  const all = await plain.list(workspace);
  const hidden = hiddenAmong(author, all, paths);
  if (hidden.size === 0) return asItStands(all);
  const lifted = new WeakMap<WorkflowFile, WorkflowFile>();
  const lift = (file: WorkflowFile) => {
    if (!hidden.has(author.files.resolve(file.path))) return file;
    const above = lifted.get(file) ?? { ...file, rank: file.rank + 2 * NAMED_RANK };
    lifted.set(file, above);
    return above;
  };
  const catalog = workflowCatalog(extended(source, loose, lift), tools);
  return asItStands(await catalog.list(workspace));
}

/** Playing a workflow a hundred times must not read its file a hundred times. */
function asItStands(all: Catalog): AuthorCatalog {
  const find = async (id: string) => ({ found: findWorkflow(all, id) });
  return { catalog: { list: async () => all, find, isUnchanged: async () => false }, all };
}

function extended(
  source: WorkflowSource,
  loose: readonly WorkflowFile[],
  place: (file: WorkflowFile) => WorkflowFile,
): WorkflowSource {
  return {
    files: async (workspace) => {
      const listing = await source.files(workspace);
      return { ...listing, files: [...listing.files, ...loose].map(place) };
    },
  };
}

/** Files that another file of the same id overrides. */
function hiddenAmong({ files }: AuthorServices, all: Catalog, paths: readonly string[]): ReadonlySet<string> {
  const listed = new Set([...all.workflows, ...all.invalid].map(({ file }) => files.resolve(file.path)));
  return new Set(paths.filter((path) => !listed.has(path)));
}

function looseFiles({ files }: AuthorServices, paths: readonly string[]): readonly WorkflowFile[] {
  const folders = [...new Set(paths.map(folderOf))];
  return paths.map((path) => ({
    ref: path.slice(folderOf(path).length + 1),
    path,
    kind: 'project',
    rank: NAMED_RANK + folders.indexOf(folderOf(path)),
    isInRoutines: isInRoutines(path),
    content: files.content(path),
  }));
}

/** Where the folder of workflows is unknown, only the file's own folder counts: the ones above may be called anything. */
function isInRoutines(path: string): boolean {
  const folders = folderOf(path).split(/[\\/]/);
  const below = folders.lastIndexOf('workflows') + 1;
  return folders.slice(below === 0 ? -1 : below).includes('routines');
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')));
}
