import { err, ok, type Result } from 'neverthrow';
import { defined } from '../../core/json/json-value.ts';
import type { WorkspaceProblem } from '../../core/prompt/warning-facts.ts';
import {
  type Catalog,
  type FoundWorkflow,
  findWorkflow,
  type InvalidFile,
  type ListedWorkflow,
  type UnknownId,
} from '../catalog/catalog.ts';
import type { WorkflowCatalog } from '../catalog/workflow-catalog.ts';
import { authorCatalog } from './author-catalog.ts';
import type { AuthorServices } from './author-services.ts';

export type TargetRefusal =
  | (UnknownId & {
      readonly code: 'target_unknown';
      readonly asked: string;
      readonly workspaceProblem?: WorkspaceProblem;
    })
  | { readonly code: 'folder_empty'; readonly path: string };

const SCENARIO_FILE = '.test.json';

/** The scenario file of a workflow file. */
export function scenarioPathOf(path: string): string {
  return isScenarioPath(path) ? path : `${path.replace(/\.json$/, '')}${SCENARIO_FILE}`;
}

/** The workflow file of a scenario file. */
export function workflowPathOf(path: string): string {
  return isScenarioPath(path) ? `${path.slice(0, -SCENARIO_FILE.length)}.json` : path;
}

export function isScenarioPath(path: string): boolean {
  return path.endsWith(SCENARIO_FILE);
}

/** The selected files: files and folders by path, workflows by id. */
export async function findTargets(
  author: AuthorServices,
  asked: readonly string[],
): Promise<Result<readonly string[], TargetRefusal>> {
  const { files } = author;
  const paths = new Set<string>();
  for (const name of asked) {
    const found = await targetsOf(author, name);
    if (found.isErr()) return err(found.error);
    for (const path of found.value) paths.add(files.resolve(path));
  }
  return ok([...paths]);
}

async function targetsOf(author: AuthorServices, name: string): Promise<Result<readonly string[], TargetRefusal>> {
  const { files } = author;
  const kind = files.kindOf(name);
  if (kind === 'file') return ok([name]);
  if (kind === 'folder') {
    const inside = files.list(name);
    return inside.length === 0 ? err({ code: 'folder_empty', path: name }) : ok(inside);
  }
  const { all } = await authorCatalog(author);
  const found = knownWorkflow(all, name);
  if (found.kind === 'found') return ok([found.listed.file.path]);
  if (found.kind === 'invalid') return ok([found.invalid.file.path]);
  return err(unknownTarget(all, name, found));
}

export function unknownTarget(
  { workspaceProblem }: Catalog,
  asked: string,
  { kind, ...facts }: Extract<FoundWorkflow, { kind: 'unknown' }>,
): TargetRefusal {
  return { code: 'target_unknown', asked, ...facts, ...defined({ workspaceProblem }) };
}

/** A workflow with the catalog it was found in. */
export type TargetWorkflow = { readonly listed: ListedWorkflow; readonly catalog: WorkflowCatalog };

export type WorkflowRefusal =
  | TargetRefusal
  | { readonly code: 'workflow_broken'; readonly asked: string; readonly invalid: InvalidFile };

/** Finds one workflow by its id or its file. It compiles. */
export async function findTargetWorkflow(
  author: AuthorServices,
  asked: string,
): Promise<Result<TargetWorkflow, WorkflowRefusal>> {
  const { files } = author;
  if (files.kindOf(asked) !== 'file') {
    const { catalog, all } = await authorCatalog(author);
    const found = knownWorkflow(all, asked);
    if (found.kind === 'found') return ok({ listed: found.listed, catalog });
    if (found.kind === 'invalid') return err({ code: 'workflow_broken', asked, invalid: found.invalid });
    return err(unknownTarget(all, asked, found));
  }
  const targets = await findTargets(author, [asked]);
  if (targets.isErr()) return err(targets.error);
  const { catalog, all } = await authorCatalog(author, targets.value);
  const isMeant = ({ file }: ListedWorkflow | InvalidFile) => targets.value.includes(files.resolve(file.path));
  const invalid = all.invalid.find(isMeant);
  if (invalid !== undefined) return err({ code: 'workflow_broken', asked, invalid });
  const listed = all.workflows.find(isMeant);
  return listed === undefined
    ? err({ code: 'target_unknown', asked, known: [], meant: { choices: [] } })
    : ok({ listed, catalog });
}

/** Resolves an id that may be abbreviated to its start, with or without the namespace. */
function knownWorkflow(all: Catalog, asked: string): FoundWorkflow {
  const exact = findWorkflow(all, asked);
  if (exact.kind !== 'unknown' || asked === '') return exact;
  const begins = exact.known.filter((id) => id.startsWith(asked) || id.slice(id.indexOf('.') + 1).startsWith(asked));
  const [only, ...others] = begins;
  return only !== undefined && others.length === 0 ? findWorkflow(all, only) : exact;
}

/** The request: named targets, or without names the author's own workflows, or all. */
export type Asked = { readonly names: readonly string[]; readonly isAll: boolean };

/** What is selected. The folders are those of the project, or of the user if there is no project. */
export type TargetScope =
  | { readonly kind: 'named' }
  | { readonly kind: 'all' }
  | { readonly kind: 'project' | 'user'; readonly folders: readonly string[] };

export type NothingOwn = { readonly code: 'nothing_own'; readonly folders: readonly string[] };

/** Resolves a request in the current folder. Only existing folders count. */
export function scopeOf({ workspace, folders, files }: AuthorServices, { names, isAll }: Asked): TargetScope {
  if (names.length > 0) return { kind: 'named' };
  if (isAll) return { kind: 'all' };
  const isThere = (folder: string) => files.kindOf(folder) === 'folder';
  const project = [folders.project, `${workspace}/workflows`].filter(isThere);
  return project.length > 0
    ? { kind: 'project', folders: project }
    : { kind: 'user', folders: [folders.user].filter(isThere) };
}

/** Whether a file is in one of these folders. */
export function isWithin({ files }: AuthorServices, folders: readonly string[], path: string): boolean {
  const real = files.resolve(path);
  return folders.some((folder) => real.startsWith(`${files.resolve(folder)}/`));
}

/** The folders that were searched in vain. */
export function nothingOwn({ workspace, folders }: AuthorServices): NothingOwn {
  return { code: 'nothing_own', folders: [folders.project, `${workspace}/workflows`, folders.user] };
}
