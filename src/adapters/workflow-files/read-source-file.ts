import { sep } from 'node:path';
import type { SourceFile, UnreadReason } from '../../app/ports/workflow-sources.ts';
import { WORKFLOW_FILE_BYTES_MAX } from '../../core/workflow/source/parse-source.ts';
import type { BoundedCache } from '../bounded-cache.ts';
import type { FolderAccess } from './folder-access.ts';

/** What can be told of a file without reading it. As long as that is the same, so is the file. */
export type Sighting =
  | { readonly kind: 'file'; readonly realPath: string; readonly size: number; readonly modifiedMs: number }
  | { readonly kind: 'folder' }
  | { readonly kind: 'unread'; readonly reason: UnreadReason };

/**
 * Looks at a path, through a link if it is one; `undefined` when nothing is there. A link must not lead out of the root,
 * which is a path without links.
 */
export function sight(access: FolderAccess, path: string, root: string): Sighting | undefined {
  const look = access.look(path);
  if (look.isErr()) return look.error.code === 'absent' ? undefined : unread(look.error);
  const { kind, size, modifiedMs } = look.value;
  if (kind === 'file') return { kind: 'file', realPath: path, size, modifiedMs };
  if (kind === 'folder') return { kind: 'folder' };
  return kind === 'link' ? sightThroughLinks(access, path, root) : unread({ code: 'not_a_file' });
}

/** As above, where folders on the way may be links, too. */
export function sightThroughLinks(access: FolderAccess, path: string, root: string): Sighting {
  const target = access.resolve(path);
  if (target.isErr()) return unread(target.error.code === 'absent' ? { code: 'not_a_file' } : target.error);
  const realPath = target.value;
  if (!isInside(realPath, root)) return unread({ code: 'leads_outside', target: realPath });
  const look = access.look(realPath);
  if (look.isErr()) return unread(look.error.code === 'absent' ? { code: 'not_a_file' } : look.error);
  if (look.value.kind === 'folder') return { kind: 'folder' };
  if (look.value.kind !== 'file') return unread({ code: 'not_a_file' });
  return { kind: 'file', realPath, size: look.value.size, modifiedMs: look.value.modifiedMs };
}

/** Whether a path without links lies in a folder, or is it. */
export function isInside(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : `${root}${sep}`);
}

/** Files as they were read last, each with what it looked like then. */
export type KeptFiles = BoundedCache<string, { readonly stamp: string; readonly file: SourceFile }>;

/** The file that was sighted. One that looks as it did last time is not read again, and is the same object. */
export function readSourceFile<File extends SourceFile>(
  { access, kept }: { readonly access: FolderAccess; readonly kept: KeptFiles },
  sighting: Exclude<Sighting, { kind: 'folder' }>,
  file: Omit<File, 'content'>,
): File {
  const key = JSON.stringify(file);
  const stamp = JSON.stringify(sighting);
  const known = kept.get(key);
  // What is kept under a key was made from the same fields, so it is the same kind of file.
  if (known?.stamp === stamp) return known.file as File;
  const made = { ...file, content: sighting.kind === 'unread' ? sighting : contentOf(access, sighting) } as File;
  kept.set(key, { stamp, file: made });
  return made;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function contentOf(
  access: FolderAccess,
  { realPath, size }: Extract<Sighting, { kind: 'file' }>,
): SourceFile['content'] {
  if (size > WORKFLOW_FILE_BYTES_MAX) {
    return unread({ code: 'too_large', bytes: size, bytesMax: WORKFLOW_FILE_BYTES_MAX });
  }
  const bytes = access.read(realPath);
  if (bytes.isErr()) return unread(bytes.error.code === 'absent' ? { code: 'not_a_file' } : bytes.error);
  try {
    return { kind: 'text', text: utf8.decode(bytes.value) };
  } catch {
    return unread({ code: 'not_utf8' });
  }
}

function unread(reason: UnreadReason): { readonly kind: 'unread'; readonly reason: UnreadReason } {
  return { kind: 'unread', reason };
}
