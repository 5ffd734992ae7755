import type { AuthorServices } from '../../author/author-services.ts';

/** What somebody wants looked at: what they name, or without a name what is theirs, or all there is. */
export type Asked = { readonly names: readonly string[]; readonly isAll: boolean };

/** What is looked at. The folders are those of the project, or of the user where there is no project. */
export type TargetScope =
  | { readonly kind: 'named' }
  | { readonly kind: 'all' }
  | { readonly kind: 'project' | 'user'; readonly folders: readonly string[] };

export type NothingOwn = { readonly code: 'nothing_own'; readonly folders: readonly string[] };

/** What a request means in this folder. Only folders that are there count. */
export function scopeOf({ workspace, folders, files }: AuthorServices, { names, isAll }: Asked): TargetScope {
  if (names.length > 0) return { kind: 'named' };
  if (isAll) return { kind: 'all' };
  const isThere = (folder: string) => files.kindOf(folder) === 'folder';
  const project = [folders.project, `${workspace}/workflows`].filter(isThere);
  return project.length > 0
    ? { kind: 'project', folders: project }
    : { kind: 'user', folders: [folders.user].filter(isThere) };
}

/** Whether a file lies in one of these folders. */
export function isWithin({ files }: AuthorServices, folders: readonly string[], path: string): boolean {
  const real = files.resolve(path);
  return folders.some((folder) => real.startsWith(`${files.resolve(folder)}/`));
}

/** The places that were looked into when nothing of one's own was found. */
export function nothingOwn({ workspace, folders }: AuthorServices): NothingOwn {
  return { code: 'nothing_own', folders: [folders.project, `${workspace}/workflows`, folders.user] };
}
