import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type {
  SourceFile,
  SourceListFailure,
  SourceListing,
  WorkflowFile,
  WorkflowSource,
} from '../../app/ports/workflow-sources.ts';
import { defined } from '../../core/json/json-value.ts';
import type { WorkspaceProblem } from '../../core/prompt/warning-facts.ts';
import {
  type AcceptedSource,
  acceptedSourcesSchema,
  type GitSource,
  isAcceptedSource,
  projectSourceListSchema,
  type WorkflowSourceEntry,
} from '../../core/sources.ts';
import { boundedCache } from '../bounded-cache.ts';
import { readRegular } from '../guarded-file.ts';
import { parseSourceDocument, readSourceList } from './file-source-list.ts';
import { type FolderAccess, findThroughLinks, readFolder, readSourceFile, type SourceFolder } from './read-folder.ts';
import { sourceFolder, sourceHealth, type Unready } from './source-folders.ts';

/** The files of the user's sources, and of those that projects ask for, inside the user's own folder. */
export function sourcePlaces(own: string) {
  return {
    list: join(own, 'sources.json'),
    copies: join(own, 'sources'),
    accepted: join(own, 'accepted-sources.json'),
    projectCopies: join(own, 'project-sources'),
  };
}

/** Lowest first: packages, repositories, folders. Among those of a kind, the later one ranks higher. */
const RANKS: { readonly [kind in WorkflowSourceEntry['kind']]: number } = { package: 0.1, git: 0.4, folder: 0.7 };
const RANK_STEP = 0.001;

/** The sources that the user added, read again at each call. */
export function addedSources(own: string): () => AddedSources {
  const { list, copies } = sourcePlaces(own);
  return () => {
    const read = readSourceList(list);
    if (read.isErr()) return { folders: [], unread: [unreadFile('sources.json', read.error)] };
    const sources = read.value.map((source, i) => ({ source, rank: RANKS[source.kind] + i * RANK_STEP }));
    const found = sources.map(({ source, rank }) => ({
      source,
      rank,
      health: sourceHealth(copies, source),
      folder: sourceFolder(copies, source),
    }));
    return {
      folders: found.flatMap(({ folder, rank }) => (folder === undefined ? [] : [{ ...folder, rank }])),
      unread: found.flatMap(({ source, rank, health }) =>
        health.kind === 'ready' ? [] : [unreadSource(source, { rank, health })],
      ),
    };
  };
}

const NONE: AddedSources = { folders: [], unread: [] };

function unreadFile(ref: string, { file, cause }: SourceListFailure): WorkflowFile {
  const reason = { code: 'io_failed', cause } as const;
  return {
    kind: ref === PROJECT_SOURCES ? 'project' : 'user',
    rank: 1,
    ref,
    path: file,
    isInRoutines: false,
    content: { kind: 'unread', reason },
  };
}

type UnreadSource = { readonly rank: number; readonly health: Unready; readonly command?: string };

function unreadSource(
  { kind, name }: WorkflowSourceEntry,
  { rank, health, command = `update ${name}` }: UnreadSource,
): WorkflowFile {
  const listed = { git: 'remote', folder: 'user', package: 'plugin' } as const;
  const cause =
    health.kind === 'missing' && kind === 'git'
      ? `the copy is missing; run "workrail source ${command}"`
      : `${health.kind.replaceAll('_', ' ')}; run "workrail source list"`;
  const path = health.kind === 'not_installed' ? health.from : health.dir;
  const content = { kind: 'unread', reason: { code: 'io_failed', cause } } as const;
  return { kind: listed[kind], rank, ref: `${name}/`, path, isInRoutines: false, content };
}

/** Where a project asks for sources. */
export const PROJECT_SOURCES = '.workrail/sources.json';
/** Above the user's own workflows and below those in the project itself. */
const PROJECT_SOURCE_RANK = 1.5;

/** The sources that the project in a folder asks for, read again at each call. Only those that a person accepted are used. */
export function projectSources(own: string): (workspace: string, access: FolderAccess) => AddedSources {
  const { accepted, projectCopies } = sourcePlaces(own);
  return (workspace, access) => {
    const asked = askedSources(workspace, own, access);
    if (asked.isErr()) return { folders: [], unread: [unreadFile(PROJECT_SOURCES, asked.error)] };
    if (asked.value.length === 0) return NONE;
    const known = readAccepted(accepted);
    const root = access.resolve(workspace).unwrapOr(workspace);
    const folders: SourceFolder[] = [];
    const unread: WorkflowFile[] = [];
    for (const [i, source] of asked.value.entries()) {
      const rank = PROJECT_SOURCE_RANK + i * RANK_STEP;
      const folder = sourceFolder(projectCopies, source);
      if (!isAcceptedSource(known, root, source))
        unread.push(unacceptedSource(source, rank, join(workspace, PROJECT_SOURCES)));
      else if (folder === undefined || access.stat(folder.dir).isErr()) {
        unread.push(
          unreadSource(source, { rank, health: { kind: 'missing', dir: folder?.dir ?? workspace }, command: 'accept' }),
        );
      } else folders.push({ ...folder, rank });
    }
    return { folders, unread };
  };
}

/** What a project asks for; nothing if it has no such file, or if the file is the user's own list. */
export function askedSources(
  workspace: string,
  own: string,
  access: FolderAccess,
): Result<readonly GitSource[], SourceListFailure> {
  const isHome = access.resolve(join(workspace, '.workrail')).unwrapOr('-') === access.resolve(own).unwrapOr('+');
  const file = isHome ? undefined : readProjectFile(workspace, PROJECT_SOURCES, { access, kept: boundedCache(1) });
  if (file === undefined) return ok([]);
  if (file.content.kind === 'unread') {
    const { reason } = file.content;
    return err({
      code: 'source_list_broken',
      file: file.path,
      cause: reason.code === 'io_failed' ? reason.cause : reason.code.replaceAll('_', ' '),
    });
  }
  return parseSourceDocument(file.path, file.content.text, projectSourceListSchema).map(({ sources }) => sources);
}

/** A file that cannot be read accepts nothing. */
export function readAccepted(file: string): readonly AcceptedSource[] {
  try {
    const read = parseSourceDocument(file, readRegular(file).toString(), acceptedSourcesSchema);
    return read.isOk() ? read.value.accepted : [];
  } catch {
    return [];
  }
}

function unacceptedSource({ name: source, url, commit }: GitSource, rank: number, path: string): WorkflowFile {
  const content = { kind: 'unread', reason: { code: 'not_accepted', source, url, commit } } as const;
  return { kind: 'remote', rank, ref: `${source}/`, path, isInRoutines: false, content };
}

/** More files than one workspace can have. */
const KEPT_MAX = 4096;

/** Folders that do not depend on the workspace. */
export type FixedFolders = {
  /** The bridge to a team server has none. */
  readonly bundled?: string;
  /** A team server has none. */
  readonly user?: string;
  /** Sources that the user added, read again each time. */
  readonly added?: () => AddedSources;
  /** Sources that a project asks for, read again each time. */
  readonly asked?: (workspace: string, access: FolderAccess) => AddedSources;
};

/** Folders that rank between the bundle and the user's own, and entries for what cannot be read. */
type AddedSources = { readonly folders: readonly SourceFolder[]; readonly unread: readonly WorkflowFile[] };

export function fixedFolders(bundled: string): FixedFolders & { readonly user: string } {
  const own = join(homedir(), '.workrail');
  return { bundled, user: join(own, 'workflows'), added: addedSources(own), asked: projectSources(own) };
}

/** Workflow files of the bundle, the user and the workspace. Later ones rank higher. */
export function workflowFiles(fixed: FixedFolders, access: FolderAccess): WorkflowSource {
  const reader = { access, kept: boundedCache<string, { stamp: string; file: SourceFile }>(KEPT_MAX) };
  return {
    files: async (given) => {
      const problem = given === undefined ? undefined : workspaceProblem(access, given);
      const workspace = problem === undefined ? given : undefined;
      const added = fixed.added?.() ?? NONE;
      const asked = (workspace === undefined ? undefined : fixed.asked?.(workspace, access)) ?? NONE;
      const folders = differentFolders(access, [
        ...(fixed.bundled === undefined
          ? []
          : [{ kind: 'bundled', dir: fixed.bundled, refPrefix: '', rank: 0 } as const]),
        ...added.folders,
        ...(fixed.user === undefined ? [] : [{ kind: 'user', dir: fixed.user, refPrefix: '', rank: 1 } as const]),
        ...asked.folders,
        ...(workspace === undefined ? [] : projectFolders(workspace)),
      ]);
      const files = [...folders.flatMap((folder) => readFolder(reader, folder)), ...added.unread, ...asked.unread];
      const bindings = workspace === undefined ? undefined : readProjectFile(workspace, BINDINGS, reader);
      return {
        files,
        ...defined({ bindings, workspaceProblem: problem }),
      } satisfies SourceListing;
    },
  };
}

/** A relative path would mean another folder in every process, and only the caller knows what it is relative to. */
function workspaceProblem(access: FolderAccess, path: string): WorkspaceProblem | undefined {
  if (!isAbsolute(path)) return { path, reason: { code: 'not_absolute' } };
  const stats = access.resolve(path).andThen((real) => access.stat(real));
  return stats.match(
    ({ kind }) => (kind === 'folder' ? undefined : { path, reason: { code: 'not_a_folder' } }),
    (failure) => ({ path, reason: failure.code === 'absent' ? { code: 'not_there' } : failure }),
  );
}

/** A repository is untrusted, so its folders must not lead out of it. */
function projectFolders(workspace: string): readonly SourceFolder[] {
  return PROJECT_FOLDERS.map((folder, i) => ({
    kind: 'project',
    dir: join(workspace, folder),
    refPrefix: `${folder}/`,
    rank: PROJECT_RANK + i,
    within: workspace,
  }));
}

const PROJECT_FOLDERS = ['.workrail/workflows', 'workflows'];
const PROJECT_RANK = 2;
const BINDINGS = '.workrail/bindings.json';

/** Files of a project on another machine, as they came with a call, after those that are here. */
export function withProjectFiles(
  { files }: SourceListing,
  brought: readonly { readonly ref: string; readonly text: string }[],
): SourceListing {
  const asSource = ({ ref, text }: (typeof brought)[number]): SourceFile => ({
    ref,
    path: ref,
    content: { kind: 'text', text },
  });
  const project = PROJECT_FOLDERS.flatMap((folder, i) =>
    brought
      .filter(({ ref }) => ref.startsWith(`${folder}/`))
      .map(
        (file): WorkflowFile => ({
          ...asSource(file),
          kind: 'project',
          rank: PROJECT_RANK + i,
          isInRoutines: file.ref.slice(folder.length).includes('/routines/'),
        }),
      ),
  );
  const bindings = brought.find(({ ref }) => ref === BINDINGS);
  return { files: [...files, ...project], ...defined({ bindings: bindings && asSource(bindings) }) };
}

/** Removes duplicates: the home folder or our own source tree may be the workspace. */
function differentFolders(access: FolderAccess, folders: readonly SourceFolder[]): readonly SourceFolder[] {
  const seen = new Set<string>();
  return folders.filter(({ dir }) => {
    const real = access.resolve(dir).unwrapOr(dir);
    if (seen.has(real)) return false;
    seen.add(real);
    return true;
  });
}

/** One file of a project, which must not lead out of it. */
function readProjectFile(
  workspace: string,
  ref: string,
  reader: Parameters<typeof readSourceFile>[0],
): SourceFile | undefined {
  const file = { path: join(workspace, ref), ref };
  const { access } = reader;
  if (
    access.stat(file.path).match(
      () => false,
      ({ code }) => code === 'absent',
    )
  )
    return undefined;
  const root = access.resolve(workspace).unwrapOr(workspace);
  const found = findThroughLinks(access, file.path, root);
  return found.kind === 'folder' ? undefined : readSourceFile<SourceFile>(reader, found, file);
}
