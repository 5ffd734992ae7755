import { err, ok, type Result } from 'neverthrow';
import {
  type AddressRefusal,
  isRefName,
  parseSourceAddress,
  type SourceAddress,
  suggestSourceName,
  type WorkflowSourceEntry,
  workflowSourceEntrySchema,
} from '../core/sources.ts';
import type { GitRefusal, SourceHealth, SourceListFailure, SourceServices } from './ports/workflow-sources.ts';

export type AddSourceRequest = {
  readonly address: string;
  readonly name?: string;
  /** A branch or tag of a repository. */
  readonly ref?: string;
  /** The folder in a repository that holds the workflows. */
  readonly folder?: string;
};

export type AddSourceRefusal =
  | AddressRefusal
  | GitRefusal
  | SourceListFailure
  | { readonly code: 'source_exists'; readonly name: string }
  | { readonly code: 'source_unusable'; readonly what: 'name' | 'ref' | 'folder'; readonly value: string }
  /** Only repositories have branches, and folders in them. */
  | {
      readonly code: 'setting_of_repositories';
      readonly setting: 'ref' | 'folder';
      readonly address: string;
      readonly kind: 'folder' | 'package';
    }
  | { readonly code: 'source_empty'; readonly health: SourceHealth };

export type ListedSource = { readonly source: WorkflowSourceEntry; readonly health: SourceHealth };

const FOLDER_BY_DEFAULT = 'workflows';

/** Adds a source and pins it; what gives no workflows is not added. */
export async function addSource(
  services: SourceServices,
  request: AddSourceRequest,
): Promise<Result<ListedSource, AddSourceRefusal>> {
  const { name = suggestSourceName(request.address), ref } = request;
  const address = parseSourceAddress(request.address);
  if (address.isErr()) return err(address.error);
  if (ref !== undefined && !isRefName(ref)) return err({ code: 'source_unusable', what: 'ref', value: ref });
  const setting = (['ref', 'folder'] as const).find((one) => request[one] !== undefined);
  if (setting !== undefined && address.value.kind !== 'git') {
    const { kind } = address.value;
    return err({ code: 'setting_of_repositories', setting, address: request.address, kind });
  }
  const listed = await services.list.read();
  if (listed.isErr()) return err(listed.error);
  if (listed.value.some((one) => one.name === name)) return err({ code: 'source_exists', name });
  // Checked before anything is fetched, with a commit that only stands in.
  const draft = workflowSourceEntrySchema.safeParse(entryOf(services, { ...request, name }, address.value));
  if (!draft.success) {
    const what = draft.error.issues.some(({ path }) => path.includes('folder')) ? 'folder' : 'name';
    return err({ code: 'source_unusable', what, value: what === 'name' ? name : (request.folder ?? '') });
  }

  const entry = await pinned(services, draft.data);
  if (entry.isErr()) return err(entry.error);
  const health = await services.inspector.inspect(entry.value);
  if (health.kind !== 'ready' || health.files === 0) {
    if (entry.value.kind === 'git') await services.copies.drop(entry.value);
    return err({ code: 'source_empty', health });
  }
  const written = await services.list.write([...listed.value, entry.value]);
  return written.map(() => ({ source: entry.value, health }));
}

const NO_COMMIT = '0'.repeat(40);

function entryOf(
  { resolvePath }: SourceServices,
  { name, ref, folder }: AddSourceRequest & { readonly name: string },
  address: SourceAddress,
): unknown {
  if (address.kind === 'folder') return { kind: 'folder', name, path: resolvePath(address.path) };
  if (address.kind === 'package') return { kind: 'package', name, package: address.package, from: resolvePath('.') };
  const isPath = !/^[a-z]+:\/\//i.test(address.url) && !address.url.includes('@');
  const url = isPath ? resolvePath(address.url) : address.url;
  return {
    kind: 'git',
    name,
    url,
    ...(ref === undefined ? {} : { ref }),
    commit: NO_COMMIT,
    folder: folder ?? FOLDER_BY_DEFAULT,
  };
}

async function pinned(
  { copies }: SourceServices,
  draft: WorkflowSourceEntry,
): Promise<Result<WorkflowSourceEntry, GitRefusal>> {
  if (draft.kind !== 'git') return ok(draft);
  const fetched = await copies.fetch(draft);
  return fetched.map(({ commit }) => ({ ...draft, commit }));
}

export type SourceUnknown = {
  readonly code: 'source_unknown';
  readonly name: string;
  readonly known: readonly string[];
};

/** Every source with how it stands. */
export async function listSources({
  list,
  inspector,
}: SourceServices): Promise<Result<readonly ListedSource[], SourceListFailure>> {
  const listed = await list.read();
  if (listed.isErr()) return err(listed.error);
  return ok(
    await Promise.all(listed.value.map(async (source) => ({ source, health: await inspector.inspect(source) }))),
  );
}

/** Takes a source off the list and its copy off the disk. A folder or package of the user's stays where it is. */
export async function removeSource(
  { list, copies }: SourceServices,
  name: string,
): Promise<Result<WorkflowSourceEntry, SourceListFailure | SourceUnknown>> {
  const listed = await list.read();
  if (listed.isErr()) return err(listed.error);
  const source = listed.value.find((one) => one.name === name);
  if (source === undefined) return err(unknown(name, listed.value));
  const written = await list.write(listed.value.filter((one) => one !== source));
  if (written.isErr()) return err(written.error);
  if (source.kind === 'git') await copies.drop(source);
  return ok(source);
}

export type UpdatedSource = {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  readonly refusal?: GitRefusal;
};

/** Moves the pins of repositories to what their branches show now; all, or those named. One that fails stays pinned. */
export async function updateSources(
  { list, copies }: SourceServices,
  { names, isForced }: { readonly names: readonly string[]; readonly isForced: boolean },
): Promise<Result<readonly UpdatedSource[], SourceListFailure | SourceUnknown>> {
  const listed = await list.read();
  if (listed.isErr()) return err(listed.error);
  const missing = names.find((name) => !listed.value.some((one) => one.name === name));
  if (missing !== undefined) return err(unknown(missing, listed.value));

  const updated: UpdatedSource[] = [];
  const entries: WorkflowSourceEntry[] = [];
  for (const entry of listed.value) {
    const isMeant = entry.kind === 'git' && (names.length === 0 || names.includes(entry.name));
    if (!isMeant || entry.kind !== 'git') {
      entries.push(entry);
      continue;
    }
    const fetched = await copies.update(entry, { isForced });
    const to = fetched.match(
      ({ commit }) => commit,
      () => entry.commit,
    );
    entries.push({ ...entry, commit: to });
    updated.push({ name: entry.name, from: entry.commit, to, ...(fetched.isErr() ? { refusal: fetched.error } : {}) });
  }
  const written = await list.write(entries);
  if (written.isErr()) return err(written.error);
  for (const { name, to } of updated) await copies.drop({ name }, to);
  return ok(updated);
}

function unknown(name: string, entries: readonly WorkflowSourceEntry[]): SourceUnknown {
  return { code: 'source_unknown', name, known: entries.map((entry) => entry.name) };
}
