import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkflowFile } from '../../app/ports/workflow-sources.ts';
import type { SourceListFailure } from '../../app/ports/workflows/workflow-sources.ts';
import type { WorkflowSourceEntry } from '../../core/sources.ts';
import { readSourceList } from './file-source-list.ts';
import { sourceFolder, sourceHealth, type Unready } from './source-folders.ts';
import type { AddedSources } from './workflow-files.ts';

/** Where the user's sources are kept, inside of their own folder. */
export function sourcePlaces(own: string): { readonly list: string; readonly copies: string } {
  return { list: join(own, 'sources.json'), copies: join(own, 'sources') };
}

/** Lowest first: packages, repositories, folders; among those of a kind the later one ranks higher. */
const RANKS: { readonly [kind in WorkflowSourceEntry['kind']]: number } = { package: 0.1, git: 0.4, folder: 0.7 };
const RANK_STEP = 0.001;

/** The sources that the user added, by what the list says at each call. Nearly nobody has one, so a look is enough. */
export function addedSources(own: string): () => AddedSources {
  const { list, copies } = sourcePlaces(own);
  return () => {
    if (!isThere(list)) return NONE;
    const read = readSourceList(list);
    if (read.isErr()) return { folders: [], unread: [unreadList(read.error)] };
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
        health.kind === 'ready' ? [] : [unreadSource(source, rank, health)],
      ),
    };
  };
}

const NONE: AddedSources = { folders: [], unread: [] };

function isThere(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
}

function unreadList({ file, cause }: SourceListFailure): WorkflowFile {
  const reason = { code: 'io_failed', cause } as const;
  return {
    kind: 'user',
    rank: 1,
    ref: 'sources.json',
    path: file,
    isInRoutines: false,
    content: { kind: 'unread', reason },
  };
}

function unreadSource({ kind, name }: WorkflowSourceEntry, rank: number, health: Unready): WorkflowFile {
  const listed = { git: 'remote', folder: 'user', package: 'plugin' } as const;
  const cause =
    health.kind === 'missing' && kind === 'git'
      ? `the copy is missing; type "workrail source update ${name}"`
      : `${health.kind.replaceAll('_', ' ')}; type "workrail source list"`;
  const path = health.kind === 'not_installed' ? health.from : health.dir;
  const content = { kind: 'unread', reason: { code: 'io_failed', cause } } as const;
  return { kind: listed[kind], rank, ref: `${name}/`, path, isInRoutines: false, content };
}
