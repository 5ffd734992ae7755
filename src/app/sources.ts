import { err, ok, type Result, safeTry } from 'neverthrow';
import type { Flow } from '../core/flow.ts';
import { defined } from '../core/json/json-value.ts';
import {
  type AddressRefusal,
  type GitSource,
  isAcceptedSource,
  isRefName,
  parseSourceAddress,
  type SourceAddress,
  suggestSourceName,
  type WorkflowSourceEntry,
  workflowSourceEntrySchema,
} from '../core/sources.ts';
import { unifiedDiff } from '../core/text/line-diff.ts';
import { fileClaim } from './catalog/file-claim.ts';
import type {
  GitRefusal,
  ListedSources,
  ProjectSources,
  ReadSource,
  SourceListFailure,
} from './ports/workflow-sources.ts';

/** The state of a source on this machine; `files` is the number of workflows in it, `edited` of files that are not as fetched. */
export type SourceHealth =
  | { readonly kind: 'ready'; readonly files: number; readonly dir: string; readonly edited?: number }
  | Exclude<ReadSource, { kind: 'ready' }>;

export type ListedSource = { readonly source: WorkflowSourceEntry; readonly health: SourceHealth };

export type AddSourceRequest = {
  readonly address: string;
  readonly name?: string;
  /** A branch or tag of a repository. */
  readonly ref?: string;
  /** The folder in a repository that holds the workflows. */
  readonly folder?: string;
  /** Written into a project, where only repositories make sense to others. */
  readonly isForProject?: boolean;
};

export type AddSourceRefusal =
  | AddressRefusal
  | GitRefusal
  | SourceListFailure
  | { readonly code: 'source_exists'; readonly name: string }
  | { readonly code: 'source_unusable'; readonly what: 'name' | 'ref' | 'folder'; readonly value: string }
  /** Only a repository has branches and folders to choose from. */
  | {
      readonly code: 'setting_of_repositories';
      readonly setting: 'ref' | 'folder';
      readonly address: string;
      readonly kind: 'folder' | 'package';
      readonly asRepository?: string;
    }
  | {
      readonly code: 'only_repositories';
      readonly address: string;
      readonly kind: 'folder' | 'package';
      /** The address that adds this folder as a repository, if it is one. */
      readonly asRepository?: string;
    }
  | {
      readonly code: 'source_empty';
      readonly health: SourceHealth;
      /** Of a repository: the folder that was looked for, and those that have workflow files. */
      readonly repository?: { readonly folder: string; readonly folders: readonly string[] };
    };

/** `asRepository`: the address that adds this folder as a repository, if it is one. */
export type AddedNow = ListedSource & { readonly asRepository?: string };

const DEFAULT_FOLDER = 'workflows';

/** Adds a source and pins it. A source without workflows is not added. */
export async function addSource(
  services: ListedSources,
  request: AddSourceRequest,
): Promise<Result<AddedNow, AddSourceRefusal>> {
  return safeTry(async function* (): Flow<AddedNow, AddSourceRefusal> {
    const { name = suggestSourceName(request.address), ref } = request;
    const address = yield* parseSourceAddress(request.address);
    if (ref !== undefined && !isRefName(ref)) return err({ code: 'source_unusable', what: 'ref', value: ref });
    const asRepository = repositoryUrl(services, address);
    const setting = (['ref', 'folder'] as const).find((one) => request[one] !== undefined);
    if (setting !== undefined && address.kind !== 'git') {
      const refused = { setting, address: request.address, kind: address.kind, ...defined({ asRepository }) };
      return err({ code: 'setting_of_repositories', ...refused });
    }
    if (request.isForProject === true && address.kind !== 'git') {
      const refused = { address: request.address, kind: address.kind, ...defined({ asRepository }) };
      return err({ code: 'only_repositories', ...refused });
    }
    const listed = yield* await services.list.read();
    if (listed.some((one) => one.name === name)) return err({ code: 'source_exists', name });
    // The entry is checked before anything is fetched, with a placeholder for the commit.
    const draft = workflowSourceEntrySchema.safeParse(entryOf(services, { ...request, name }, address));
    if (!draft.success) {
      const what = draft.error.issues.some(({ path }) => path.includes('folder')) ? 'folder' : 'name';
      return err({ code: 'source_unusable', what, value: what === 'name' ? name : (request.folder ?? '') });
    }

    const { source, isNew } = yield* await pinned(services, draft.data);
    const health = await inspectSource(services, source);
    if (health.kind !== 'ready' || health.files === 0) {
      if (source.kind !== 'git') return err({ code: 'source_empty', health });
      const repository = { folder: source.folder, folders: await foldersWithFiles(services, source) };
      if (isNew) await services.copies.discard(source);
      return err({ code: 'source_empty', health, repository });
    }
    yield* await services.list.write([...listed, source]);
    return ok({ source, health, ...defined({ asRepository }) });
  });
}

function repositoryUrl({ copies, resolvePath }: ListedSources, address: SourceAddress): string | undefined {
  if (address.kind !== 'folder') return undefined;
  const path = resolvePath(address.path);
  if (!copies.isRepository(path)) return undefined;
  const plain = path.replaceAll('\\', '/');
  return encodeURI(`file://${plain.startsWith('/') ? '' : '/'}${plain}`);
}

/** The folders of a repository with workflow files directly in them; "." is its top. */
async function foldersWithFiles({ inspector }: ListedSources, source: GitSource): Promise<readonly string[]> {
  const read = await inspector.inspect({ ...source, folder: '.' });
  const files = read.kind === 'ready' ? read.files.filter((file) => fileClaim(file) !== undefined) : [];
  const paths = files.map(({ ref }) => ref.slice(source.name.length + 1));
  return [...new Set(paths.map((path) => (path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '.')))].sort();
}

const NO_COMMIT = '0'.repeat(40);

function entryOf(
  { resolvePath }: ListedSources,
  { name, ref, folder = DEFAULT_FOLDER }: AddSourceRequest & { readonly name: string },
  address: SourceAddress,
): unknown {
  if (address.kind === 'folder') return { kind: 'folder', name, path: resolvePath(address.path) };
  if (address.kind === 'package') return { kind: 'package', name, package: address.package, from: resolvePath('.') };
  const url = address.isPath === true ? resolvePath(address.url) : address.url;
  return { kind: 'git', name, url, ...defined({ ref }), commit: NO_COMMIT, folder };
}

async function pinned(
  { copies }: ListedSources,
  draft: WorkflowSourceEntry,
): Promise<Result<{ readonly source: WorkflowSourceEntry; readonly isNew: boolean }, GitRefusal>> {
  if (draft.kind !== 'git') return ok({ source: draft, isNew: false });
  return (await copies.fetch(draft)).map(({ commit, isNew }) => ({ source: { ...draft, commit }, isNew }));
}

/** Files that hold no workflow, such as a link to a place outside, are not counted. */
async function inspectSource({ inspector }: ListedSources, source: WorkflowSourceEntry): Promise<SourceHealth> {
  const read = await inspector.inspect(source);
  if (read.kind !== 'ready') return read;
  const { kind, dir } = read;
  const edited = read.files.filter(({ content }) => content.kind === 'unread' && content.reason.code === 'copy_edited');
  const files = read.files.filter((file) => fileClaim(file) !== undefined).length;
  return { kind, dir, files, ...(edited.length === 0 ? {} : { edited: edited.length }) };
}

export type SourceUnknown = {
  readonly code: 'source_unknown';
  readonly name: string;
  readonly known: readonly string[];
};

/** Every source with its state. */
export async function listSources(
  services: ListedSources,
): Promise<Result<readonly ListedSource[], SourceListFailure>> {
  return safeTry(async function* (): Flow<readonly ListedSource[], SourceListFailure> {
    const sources = yield* await services.list.read();
    return ok(
      await Promise.all(sources.map(async (source) => ({ source, health: await inspectSource(services, source) }))),
    );
  });
}

/** Removes a source from the list and its copy from the disk. The user's own folders and packages stay. */
export async function removeSource(
  { list, copies }: ListedSources,
  name: string,
): Promise<Result<WorkflowSourceEntry, SourceListFailure | SourceUnknown>> {
  return safeTry(async function* (): Flow<WorkflowSourceEntry, SourceListFailure | SourceUnknown> {
    const listed = yield* await list.read();
    const source = listed.find((one) => one.name === name);
    if (source === undefined) return err(unknown(name, listed));
    yield* await list.write(listed.filter((one) => one !== source));
    if (source.kind === 'git') await copies.drop(source);
    return ok(source);
  });
}

/** A source that a repository asks for. */
export type AskedSource = ListedSource & {
  readonly source: GitSource;
  readonly isAccepted: boolean;
  /** The workflow files in its copy. */
  readonly files: readonly string[];
};

/** What the repository in this folder asks for. */
export async function listAskedSources(
  project: ProjectSources,
): Promise<Result<readonly AskedSource[], SourceListFailure>> {
  return safeTry(async function* (): Flow<readonly AskedSource[], SourceListFailure> {
    const sources = (yield* await project.list.read()).filter((source) => source.kind === 'git');
    const accepted = await project.accepted();
    const asked: AskedSource[] = [];
    for (const source of sources) {
      const health = await inspectSource(project, source);
      const files = [...textsOf(await project.inspector.inspect(source)).keys()];
      asked.push({ source, health, files, isAccepted: isAcceptedSource(accepted, project.workspace, source) });
    }
    return ok(asked);
  });
}

/** What somebody accepted before under the name of a source, and how its workflow files differ from it. */
export type EarlierSource = {
  readonly source: GitSource;
  /** `undefined` if the earlier files are not on this machine any more. */
  readonly changes?: readonly SourceFileChange[];
};

/** What was accepted before in this folder; `undefined` if nothing of that name was. */
export async function earlierSource(
  { accepted, workspace, inspector }: Pick<ProjectSources, 'accepted' | 'workspace' | 'inspector'>,
  source: GitSource,
): Promise<EarlierSource | undefined> {
  const known = await accepted();
  const before = known.findLast((one) => one.workspace === workspace && one.source.name === source.name)?.source;
  if (before === undefined) return undefined;
  const [old, now] = [await inspector.inspect(before), await inspector.inspect(source)];
  if (old.kind !== 'ready') return { source: before };
  return { source: before, changes: changesOf(textsOf(old), textsOf(now)) };
}

/** Fetches what the repository asks for, each at its pinned commit, so that a person can look at it. */
export async function fetchAskedSources(
  project: ProjectSources,
): Promise<Result<readonly AskedSource[], SourceListFailure | GitRefusal>> {
  return safeTry(async function* (): Flow<readonly AskedSource[], SourceListFailure | GitRefusal> {
    for (const { source } of yield* await listAskedSources(project)) yield* await project.copies.fetchPinned(source);
    return listAskedSources(project);
  });
}

export type UpdatedSource = {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  readonly refusal?: GitRefusal;
  /** Without the update: what it would do to the workflow files. */
  readonly changes?: readonly SourceFileChange[];
};

export type SourceFileChange = {
  readonly file: string;
  readonly kind: 'added' | 'removed' | 'changed';
  /** A unified diff. */
  readonly diff: readonly string[];
};

/** Pins repositories to the newest commit of their branches: all of them, or those that are named. If one fails, it stays pinned as it was. */
export async function updateSources(
  services: ListedSources,
  { names, isForced, isDry = false }: UpdateOptions,
): Promise<Result<readonly UpdatedSource[], SourceListFailure | SourceUnknown>> {
  return safeTry(async function* (): Flow<readonly UpdatedSource[], SourceListFailure | SourceUnknown> {
    const { list, copies } = services;
    const listed = yield* await list.read();
    const missing = names.find((name) => !listed.some((one) => one.name === name));
    if (missing !== undefined) return err(unknown(missing, listed));

    const updated: UpdatedSource[] = [];
    const entries: WorkflowSourceEntry[] = [];
    for (const entry of listed) {
      const isSelected = names.length === 0 || names.includes(entry.name);
      if (entry.kind !== 'git' || !isSelected) {
        entries.push(entry);
        continue;
      }
      const fetched = await copies.update(entry, { isForced });
      const to = fetched.match(
        ({ commit }) => commit,
        () => entry.commit,
      );
      entries.push({ ...entry, commit: to });
      const refusal = fetched.isErr() ? fetched.error : undefined;
      const changes = isDry && refusal === undefined ? await fileChanges(services, entry, to) : undefined;
      updated.push({ name: entry.name, from: entry.commit, to, ...defined({ refusal, changes }) });
    }
    if (isDry) {
      for (const { name, from } of updated) await copies.drop({ name }, from);
      return ok(updated);
    }
    yield* await list.write(entries);
    for (const { name, to } of updated) await copies.drop({ name }, to);
    return ok(updated);
  });
}

type UpdateOptions = {
  readonly names: readonly string[];
  readonly isForced: boolean;
  /** Only reports what would change; nothing is pinned to another commit. */
  readonly isDry?: boolean;
};

/** The workflow files of a repository at its pinned commit, beside those at another one that was fetched. */
async function fileChanges(
  { inspector }: ListedSources,
  source: GitSource,
  commit: string,
): Promise<readonly SourceFileChange[]> {
  if (commit === source.commit) return [];
  const [before, after] = await Promise.all([
    textsOf(await inspector.inspect(source)),
    textsOf(await inspector.inspect({ ...source, commit })),
  ]);
  return changesOf(before, after);
}

function changesOf(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly SourceFileChange[] {
  return [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((file): readonly SourceFileChange[] => {
    const [old, now] = [before.get(file), after.get(file)];
    if (old === now) return [];
    const kind = old === undefined ? 'added' : now === undefined ? 'removed' : 'changed';
    return [{ file, kind, diff: unifiedDiff(file, old, now ?? '') }];
  });
}

function textsOf(read: ReadSource): ReadonlyMap<string, string> {
  const files = read.kind === 'ready' ? read.files : [];
  return new Map(files.flatMap(({ ref, content }) => (content.kind === 'text' ? [[ref, content.text] as const] : [])));
}

function unknown(name: string, entries: readonly WorkflowSourceEntry[]): SourceUnknown {
  return { code: 'source_unknown', name, known: entries.map((entry) => entry.name) };
}
