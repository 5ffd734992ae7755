import { defined, isObject, parseJson } from '../../core/json/json-value.ts';
import type { WorkflowSourceKind } from '../../core/log/events/run-events.ts';
import { isRoutineId, routineTemplateId } from '../../core/workflow/builtins/templates.ts';
import type { FilePlace } from '../../core/workflow/compiled/compiled-file.ts';
import { collectDiagnostics, type SourceSpan } from '../../core/workflow/diagnostics/diagnostic.ts';
import { parseSource } from '../../core/workflow/source/parse-source.ts';
import type { CompiledFiles, KeptFile, SourceFile, WorkflowFile } from '../ports/workflow-sources.ts';

/** A file with the id it claims. */
export type FileClaim = {
  readonly file: WorkflowFile;
  readonly text: string;
  readonly id: string;
  readonly idSpan: () => SourceSpan;
  readonly kind: 'workflow' | 'routine';
  /** Whether it claims an id that is reserved for the bundle. */
  readonly isReserved: boolean;
  /** The digest of the text, if compiled files are kept. */
  readonly digest?: string;
  /** What compiling the text gave, if that was kept. It may depend on other files. */
  readonly kept?: KeptFile;
};

/** The default namespace of ids in each kind of source. */
export const SOURCE_NAMESPACES: { readonly [kind in WorkflowSourceKind]: string } = {
  bundled: 'wr',
  user: 'user',
  project: 'project',
  remote: 'repo',
  plugin: 'repo',
};

const RESERVED_PREFIX = 'wr.';

/** What a file claims to be; `undefined` if it was not read or has no id. */
export function fileClaim(file: WorkflowFile, compiledFiles?: CompiledFiles): FileClaim | undefined {
  if (file.content.kind === 'unread') return undefined;
  const { text } = file.content;
  const digest = compiledFiles?.digest(text);
  const kept = digest === undefined ? undefined : compiledFiles?.find(digest, placeOf(file));
  const id = kept?.file.id ?? claimedId(text);
  if (id === undefined) return undefined;
  const isReserved = id.startsWith(RESERVED_PREFIX) && file.kind !== 'bundled';
  const kind = isRoutine(file, id) ? 'routine' : 'workflow';
  const idSpan = () => kept?.file.idSpan ?? locatedId(text)?.span ?? { offset: 0, length: 0 };
  return { file, text, id, idSpan, kind, isReserved, ...defined({ digest, kept }) };
}

/** Where a file is, as far as it matters to the compiler. */
export function placeOf({ kind, isInRoutines }: WorkflowFile): FilePlace {
  return { isBundled: kind === 'bundled', isInRoutines };
}

/** A routine is recognised by its folder or by the name part of its id. */
export function isRoutine({ isInRoutines }: WorkflowFile, id: string): boolean {
  return isInRoutines || isRoutineId(id);
}

/** This runs for every file before any is compiled, so it uses the fastest parser. */
function claimedId(text: string): string | undefined {
  const root = parseJson(text);
  if (root.isErr()) return locatedId(text)?.id;
  const { value } = root;
  const id = isObject(value) && Object.hasOwn(value, 'id') ? value['id'] : undefined;
  return typeof id === 'string' ? id : undefined;
}

/** The id that a file gives itself, valid or not, and its place. */
function locatedId(text: string): { readonly id: string; readonly span: SourceSpan } | undefined {
  const root = parseSource(text, collectDiagnostics());
  const id = root.isOk() && root.value.kind === 'object' ? root.value.fields.get('id')?.value : undefined;
  return id?.kind === 'string' ? { id: id.value, span: id.span } : undefined;
}

/** A routine whose id has no namespace is called under the namespace of its source. */
export function templateIdOf({ kind }: WorkflowFile, id: string): string {
  return routineTemplateId(id.includes('.') ? id : `${SOURCE_NAMESPACES[kind]}.${id}`);
}

/** The id that a file's name suggests. */
export function stemOf({ ref }: Pick<SourceFile, 'ref'>): string {
  return ref.slice(ref.lastIndexOf('/') + 1).replace(/\.json$/, '');
}

/** Whether a file is named after an id, with or without the namespace. */
export function isNamedAfter(file: Pick<SourceFile, 'ref'>, id: string): boolean {
  const name = id.slice(id.indexOf('.') + 1);
  const stem = alike(stemOf(file));
  return [id, name, name.replace(/^routine-/, '')].some((fitting) => alike(fitting) === stem);
}

function alike(name: string): string {
  return name.toLowerCase().replaceAll('-', '_');
}
