import { err, ok, type Result } from 'neverthrow';
import type { GitSource, WorkflowSourceEntry } from '../../core/sources.ts';
import type { StoreFailure } from '../ports/store-failure.ts';
import type { ChangeMade, SpaceAccess, WorkflowText } from '../ports/team-database.ts';
import type {
  SourceInspector,
  SourceList,
  SourceListFailure,
  WorkflowFile,
  WorkflowSource,
} from '../ports/workflow-sources.ts';
import type { Entrance } from './access.ts';
import type { SpaceRules } from './space-rules.ts';

/**
 * The repositories of a space as a list of sources, so that they are added and updated like those of a machine. What is
 * written is only proposed, with the texts that the inspector reads from the copy; an admin accepts it.
 */
export function spaceSourceList(access: SpaceAccess, inspector: SourceInspector, made: () => ChangeMade): SourceList {
  const read = async (): Promise<Result<readonly GitSource[], SourceListFailure>> =>
    (await access.sources())
      .map((sources) => [...new Map(sources.map(({ source }) => [source.name, source])).values()])
      .mapErr(failed);
  return {
    read,
    write: async (entries) => {
      const known = await read();
      if (known.isErr()) return err(known.error);
      const commits = new Map(known.value.map(({ name, commit }) => [name, commit]));
      for (const source of entries.filter(isGit)) {
        if (commits.get(source.name) === source.commit) continue;
        const texts = await textsOf(inspector, source);
        if (texts.reduce((sum, { text }) => sum + text.length, 0) > LENGTH_MAX) return err(TOO_LONG);
        const proposed = await access.proposeSource(source, texts, made());
        if (proposed.isErr()) return err(failed(proposed.error));
      }
      return ok(undefined);
    },
  };
}

/** Every server of the team keeps them in memory. */
const LENGTH_MAX = 16_000_000;
const PLACE = 'The list of sources in the database';
const TOO_LONG: SourceListFailure = {
  code: 'source_list_unwritable',
  file: PLACE,
  cause: 'the workflow files of a source may have 16 MB together',
};

function isGit(source: WorkflowSourceEntry): source is GitSource {
  return source.kind === 'git';
}

async function textsOf(inspector: SourceInspector, source: GitSource): Promise<readonly WorkflowText[]> {
  const read = await inspector.inspect(source);
  const files = read.kind === 'ready' ? read.files : [];
  return files.flatMap(({ ref, content }) =>
    content.kind === 'text' ? [{ path: ref.slice(`${source.name}/`.length), text: content.text }] : [],
  );
}

function failed({ code }: StoreFailure): SourceListFailure {
  return { code: 'source_list_unwritable', file: PLACE, cause: code };
}

/** Above the bundle and below what a project brings along. */
const RANK = 0.4;
const RANK_STEP = 0.001;

/** The workflows of a space: those that come with the program, and those of the repositories that an admin accepted. */
export function spaceWorkflows(
  base: WorkflowSource,
  { settings }: Pick<SpaceRules, 'settings'>,
  access: () => ReturnType<Entrance['access']>,
): WorkflowSource {
  let known: { readonly stamp: string; readonly files: readonly WorkflowFile[] } = { stamp: '[]', files: [] };

  /** While the database does not answer, what was read last is offered. */
  async function own(): Promise<readonly WorkflowFile[]> {
    const read = await settings();
    const stamp = read.isOk() ? JSON.stringify(read.value.sources) : known.stamp;
    if (stamp === known.stamp) return known.files;
    const opened = await access();
    const texts = opened.isOk() ? await opened.value.sourceTexts() : undefined;
    if (texts?.isOk() !== true) return known.files;
    const sources = texts.value.map(({ source }) => source);
    known = { stamp: JSON.stringify(sources), files: texts.value.flatMap(filesOf) };
    return known.files;
  }

  return {
    files: async () => {
      const [listing, added] = [await base.files(), await own()];
      return { ...listing, files: [...listing.files, ...added] };
    },
  };
}

type Pinned = { readonly source: GitSource; readonly texts: readonly WorkflowText[] };

function filesOf({ source: { name, commit }, texts }: Pinned, at: number): readonly WorkflowFile[] {
  return texts.map(({ path, text }) => ({
    kind: 'remote',
    rank: RANK + at * RANK_STEP,
    ref: `${name}/${path}`,
    path: `${name}@${commit}/${path}`,
    isInRoutines: path.split('/').slice(0, -1).includes('routines'),
    added: { name, kind: 'git', commit },
    content: { kind: 'text', text },
  }));
}
