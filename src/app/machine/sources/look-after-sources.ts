import { err, ok, type Result } from 'neverthrow';
import type { WorkflowSourceEntry } from '../../../core/sources.ts';
import type {
  GitRefusal,
  SourceHealth,
  SourceListFailure,
  SourceServices,
} from '../../ports/workflows/workflow-sources.ts';

export type ListedSource = { readonly source: WorkflowSourceEntry; readonly health: SourceHealth };

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
