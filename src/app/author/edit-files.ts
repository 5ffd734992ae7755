import { err, ok, type Result } from 'neverthrow';
import { ownJsonBytes } from '../../core/json/canonical-json.ts';
import { defined } from '../../core/json/json-value.ts';
import { type Catalog, findWorkflow } from '../catalog/catalog.ts';
import { unreadDiagnostic } from '../catalog/file-result.ts';
import type { AuthorFiles, FileFailure } from '../ports/author-files.ts';
import type { SourceFile, UnreadReason, WorkflowFile } from '../ports/workflow-sources.ts';
import { authorCatalog } from './author-catalog.ts';
import type { AuthorServices } from './author-services.ts';
import { isWithin, scenarioPathOf, type TargetRefusal, unknownTarget, workflowPathOf } from './find-targets.ts';
import type { NotEditable } from './migrate-id.ts';

/** Why a file cannot be changed in the editor. */
export type ReadOnly = 'bundled' | 'added_source' | 'outside' | 'unreadable';

/** The text of a file, and the digest by which a change on disk is noticed. A file that does not exist has neither. */
export type OpenedText = { readonly path: string; readonly text?: string; readonly digest?: string };

export type OpenedFile = OpenedText & {
  readonly workflowId?: string;
  /** With the words why the file is there, but cannot be read as text. */
  readonly scenarios: OpenedText & { readonly unread?: string };
  readonly readOnly?: ReadOnly;
};

/** Opens a workflow file of the catalog with its scenarios: by the id, or by the path of a file that has none. */
export async function openFile(author: AuthorServices, asked: string): Promise<Result<OpenedFile, TargetRefusal>> {
  const { files } = await author.source.files(author.workspace);
  const byPath = files.find(({ path }) => path === asked);
  const { all } = await authorCatalog(author);
  const found = byPath === undefined ? fileOf(all, asked) : ok<Found>({ file: byPath });
  if (found.isErr()) return err(found.error);
  const { file, id } = found.value;
  const readOnly = readOnlyReason(author, file);
  const text = file.content.kind === 'text' ? file.content.text : undefined;
  const { unread, ...scenarios } = readText(author, scenarioPathOf(file.path));
  return ok({
    path: file.path,
    ...digested(author, text),
    scenarios: { ...scenarios, ...(unread && { unread: unreadDiagnostic(unread).message }) },
    ...defined({ workflowId: id, readOnly }),
  });
}

type Found = { readonly file: SourceFile | WorkflowFile; readonly id?: string };

function fileOf(all: Catalog, asked: string): Result<Found, TargetRefusal> {
  const found = findWorkflow(all, asked);
  if (found.kind === 'found') return ok({ file: found.listed.file, id: found.listed.id });
  if (found.kind === 'invalid') return ok({ file: found.invalid.file, ...defined({ id: found.invalid.id }) });
  return err(unknownTarget(all, asked, found));
}

function readOnlyReason(author: AuthorServices, file: SourceFile | WorkflowFile): ReadOnly | undefined {
  if (!('kind' in file)) return 'outside';
  if (file.kind === 'bundled') return 'bundled';
  if (file.added !== undefined || (file.kind !== 'project' && file.kind !== 'user')) return 'added_source';
  if (file.content.kind !== 'text') return 'unreadable';
  return isWithin(author, ownFolders(author), file.path) ? undefined : 'outside';
}

/** The folders whose files an author may change. */
function ownFolders({ workspace, folders }: AuthorServices): readonly string[] {
  return [folders.project, `${workspace}/workflows`, folders.user];
}

/** What is at a path that a clone may control: a link out of the author's folder is not followed. */
function readText(author: AuthorServices, path: string): OpenedText & { readonly unread?: UnreadReason } {
  if (author.files.kindOf(path) === 'nothing') return { path };
  const real = author.files.resolve(folderOf(path));
  const within = ownFolders(author).find((own) => author.files.resolve(own) === real || isWithin(author, [own], real));
  const content = author.files.content(path, within ?? real);
  return content.kind === 'text' ? { path, ...digested(author, content.text) } : { path, unread: content.reason };
}

function digested(author: AuthorServices, text: string | undefined): Omit<OpenedText, 'path'> {
  return text === undefined ? {} : { text, digest: digestOf(author, text) };
}

function digestOf({ tools }: AuthorServices, text: string): string {
  return tools.sha256(ownJsonBytes([text.toWellFormed()]));
}

export type SaveRequest = {
  readonly path: string;
  readonly text: string;
  /** The digest of what was opened; none if there was no such file. */
  readonly digest?: string | undefined;
};

/** A file that is there, but not as text, so nothing may take its place. */
export type FileUnread = { readonly code: 'file_unread'; readonly path: string; readonly why: string };

/** Why the file at a path cannot be read, if it is there. */
export function fileUnread(author: AuthorServices, path: string): FileUnread | undefined {
  const { unread } = readText(author, path);
  return unread && { code: 'file_unread', path, why: unreadDiagnostic(unread).message };
}

export type Saved =
  | { readonly kind: 'saved'; readonly digest: string }
  /** The file is no longer what was opened, so nothing was written. Without a text, it was deleted. */
  | ({ readonly kind: 'changed' } & Omit<OpenedText, 'path'>);

/**
 * Writes a workflow file of the author, or its scenarios, unless it changed since it was opened. A file that was
 * deleted meanwhile can be written again.
 */
export async function saveEdited(
  author: AuthorServices,
  { path, text, digest }: SaveRequest,
): Promise<Result<Saved, NotEditable | FileUnread | FileFailure>> {
  const { files } = await author.source.files(author.workspace);
  const listed = files.find((file) => file.path === workflowPathOf(path));
  const unread = listed && fileUnread(author, path);
  if (unread !== undefined) return err(unread);
  if (!isEditable(author, path, listed)) return err({ code: 'not_editable', id: path, path: realPathOf(author, path) });
  const now = readText(author, path);
  if (now.digest !== digest) return ok(changed(now));
  const options = now.text === undefined ? { isNew: true } : { replaces: now.text };
  const written = author.files.write(path, text, options);
  if (written.isOk()) return ok({ kind: 'saved', digest: digestOf(author, text) });
  const isOvertaken = written.error.code === 'file_changed' || written.error.code === 'file_exists';
  return isOvertaken ? ok(changed(readText(author, path))) : err(written.error);
}

function changed({ text, digest }: OpenedText): Saved {
  return { kind: 'changed', ...defined({ text, digest }) };
}

/** Whether a path is that of a workflow file of the author, or of its scenarios. */
function isEditable(author: AuthorServices, path: string, listed: WorkflowFile | undefined): boolean {
  if (listed !== undefined && readOnlyReason(author, listed) !== undefined) return false;
  const isThere = author.files.kindOf(path) === 'file';
  const isPlain = path.endsWith('.json') && !/(?:^|[\\/])\.\.?(?:[\\/]|$)/.test(path);
  const isOwn = isWithin(author, ownFolders(author), realPathOf(author, path));
  return isPlain && isOwn && (listed !== undefined || !isThere);
}

/** What is not there has no links to resolve, so its folder is looked at. */
function realPathOf(author: AuthorServices, path: string): string {
  if (author.files.kindOf(path) === 'file') return author.files.resolve(path);
  return `${author.files.resolve(folderOf(path))}${path.slice(folderOf(path).length)}`;
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/'), path.lastIndexOf('\\')));
}

/** The same files and sources, but with these texts in place of what is on disk. */
export function withTexts(author: AuthorServices, texts: ReadonlyMap<string, string>): AuthorServices {
  const byPath = new Map([...texts].map(([path, text]) => [author.files.resolve(path), text]));
  const textOf = (path: string) => byPath.get(author.files.resolve(path));
  const files: AuthorFiles = {
    ...author.files,
    kindOf: (path) => (textOf(path) === undefined ? author.files.kindOf(path) : 'file'),
    content: (path, within) => contentOf(textOf(path)) ?? author.files.content(path, within),
    read: (path) => {
      const text = textOf(path);
      return text === undefined ? author.files.read(path) : ok(text);
    },
  };
  const source = {
    files: async (workspace?: string) => {
      const listing = await author.source.files(workspace);
      return {
        ...listing,
        files: listing.files.map((file) => {
          const content = contentOf(textOf(file.path));
          return content === undefined ? file : { ...file, content };
        }),
      };
    },
  };
  return { ...author, files, source };
}

function contentOf(text: string | undefined): SourceFile['content'] | undefined {
  return text === undefined ? undefined : { kind: 'text', text };
}
