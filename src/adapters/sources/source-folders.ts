import { dirname, join } from 'node:path';
import * as z from 'zod';
import type { ReadSource, SourceInspector } from '../../app/ports/workflow-sources.ts';
import { assert } from '../../core/assert.ts';
import { defined, parseJson } from '../../core/json/json-value.ts';
import type { PackageSource, WorkflowSourceEntry } from '../../core/sources.ts';
import { boundedCache } from '../bounded-cache.ts';
import { readRegular } from '../guarded-file.ts';
import { type CopyDigests, copyFolder, fetchedDigests, recordFile } from './git-copies.ts';
import { nodeFolderAccess, readFolder, type SourceFolder } from './read-folder.ts';

/** How a package declares its workflows in package.json. */
const declarationSchema = z.object({ workrail: z.object({ workflows: z.string().min(1) }) });

/** The folder that a source is read from; `undefined` if there is none. */
export function sourceFolder(copies: string, source: WorkflowSourceEntry): Omit<SourceFolder, 'rank'> | undefined {
  const refPrefix = `${source.name}/`;
  const { name } = source;
  switch (source.kind) {
    case 'git': {
      const copy = copyFolder(copies, source);
      return {
        kind: 'remote',
        dir: join(copy, source.folder),
        refPrefix,
        within: copy,
        added: { name, kind: source.kind, commit: source.commit },
        ...defined({ digests: digestsIn(copy, source.folder) }),
      };
    }
    case 'folder':
      return { kind: 'user', dir: source.path, refPrefix, added: { name, kind: source.kind } };
    case 'package': {
      const found = findPackage(source);
      if (found?.folder === undefined) return undefined;
      return { kind: 'plugin', dir: found.folder, refPrefix, within: found.dir, added: { name, kind: source.kind } };
    }
  }
}

const COPIES_MAX = 64;
/** Records of copies, each read once while its file is unchanged. */
const records = boundedCache<string, { readonly stamp: number; readonly digests: CopyDigests }>(COPIES_MAX);

/** What the files of a folder in a copy were when they were fetched, by their path in the folder. */
function digestsIn(copy: string, folder: string): CopyDigests | undefined {
  if (nodeFolderAccess.stat(copy).isErr()) return undefined;
  const stamp = nodeFolderAccess.stat(recordFile(copy)).match(
    ({ modifiedMs }) => modifiedMs,
    () => 0,
  );
  const known = records.get(copy);
  const digests = known?.stamp === stamp ? known.digests : fetchedDigests(copy);
  if (digests === undefined) return undefined;
  if (stamp !== 0) records.set(copy, { stamp, digests });
  if (folder === '.') return digests;
  const inside = [...digests].filter(([path]) => path.startsWith(`${folder}/`));
  return new Map(inside.map(([path, digest]) => [path.slice(folder.length + 1), digest]));
}

/** Whether the folder of a source exists. */
export function sourceHealth(copies: string, source: WorkflowSourceEntry): Unready | { readonly kind: 'ready' } {
  const folder = sourceFolder(copies, source);
  if (folder !== undefined) {
    return nodeFolderAccess.stat(folder.dir).isOk() ? { kind: 'ready' } : { kind: 'missing', dir: folder.dir };
  }
  assert(source.kind === 'package', 'only a package may have no folder');
  const found = findPackage(source);
  return found === undefined
    ? { kind: 'not_installed', package: source.package, from: source.from }
    : { kind: 'undeclared', package: source.package, dir: found.dir };
}

export type Unready = Exclude<ReadSource, { kind: 'ready' | 'outside' }>;

/** Reads sources as the catalog does. */
export function sourceInspector(copies: string): SourceInspector {
  return {
    inspect: async (source) => {
      const health = sourceHealth(copies, source);
      const folder = sourceFolder(copies, source);
      if (health.kind !== 'ready') return health;
      assert(folder !== undefined, 'a ready source has a folder');
      const files = readFolder({ access: nodeFolderAccess, kept: boundedCache(1) }, { ...folder, rank: 0 });
      const reason = files[0]?.content.kind === 'unread' ? files[0].content.reason : undefined;
      return files[0]?.path === folder.dir && reason?.code === 'leads_outside'
        ? { kind: 'outside', dir: folder.dir, target: reason.target }
        : { kind: 'ready', files, dir: folder.dir };
    },
  };
}

type FoundPackage = { readonly dir: string; readonly folder: string | undefined };

/** Finds a package as Node would from a folder, without running any of it. */
function findPackage({ package: name, from }: PackageSource): FoundPackage | undefined {
  for (let at = from; ; at = dirname(at)) {
    const dir = join(at, 'node_modules', name);
    const text = readIfThere(join(dir, 'package.json'));
    if (text !== undefined) return { dir, folder: declaredFolder(dir, text) };
    if (dirname(at) === at) return undefined;
  }
}

function declaredFolder(dir: string, text: string): string | undefined {
  const declaration = declarationSchema.safeParse(parseJson(text).unwrapOr(undefined));
  return declaration.success ? join(dir, declaration.data.workrail.workflows) : undefined;
}

function readIfThere(file: string): string | undefined {
  try {
    return readRegular(file).toString();
  } catch {
    return undefined;
  }
}
