import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder of the repository that this is inside of: running git takes longer than everything else in a start. */
export function repositoryAround(folder: string): string | undefined {
  return foldersAbove(folder).find((at) => existsSync(join(at, '.git')));
}

/**
 * The folders of the projects around some folders, the outermost first: each of them with all above it up to the top of
 * its repository, or up to another of them. Without a repository a folder stands for itself.
 */
export function projectFolders(folders: readonly string[]): readonly string[] {
  const given = folders.map((folder) => realFolder(folder) ?? folder);
  const found = given.flatMap((folder) => {
    const above = foldersAbove(folder);
    const top = above.findIndex((at) => existsSync(join(at, '.git')));
    const last = above.findLastIndex((at) => given.includes(at));
    return above.slice(0, Math.max(top, last) + 1).reverse();
  });
  return [...new Set(found)];
}

/** With links resolved, as git does, so that one folder has one name; `undefined` if it does not exist. */
export function realFolder(folder: string): string | undefined {
  try {
    return realpathSync(folder);
  } catch {
    return undefined;
  }
}

/** A folder and everything above it, nearest first. */
function foldersAbove(folder: string): readonly string[] {
  const above = [folder];
  for (let at = dirname(folder); at !== above.at(-1); at = dirname(at)) above.push(at);
  return above;
}
