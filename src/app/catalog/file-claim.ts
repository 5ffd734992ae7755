import { isObject, parseJson } from '../../core/json/json-value.ts';
import type { WorkflowSourceKind } from '../../core/log/events/run-events.ts';
import { isRoutineId, routineTemplateId } from '../../core/workflow/builtins/templates.ts';
import type { SourceSpan } from '../../core/workflow/diagnostics/diagnostic.ts';
import { type Template, templateOf } from '../../core/workflow/expand/expanded.ts';
import { sourceOutline } from '../../core/workflow/source-outline.ts';
import type { SourceFile, WorkflowFile } from '../ports/workflow-sources.ts';

/** A file with the id it claims. */
export type FileClaim = {
  readonly file: WorkflowFile;
  readonly text: string;
  readonly id: string;
  readonly idSpan: () => SourceSpan;
  readonly kind: 'workflow' | 'routine';
  /** Whether it claims an id that is reserved for the bundle. */
  readonly isReserved: boolean;
  /** The steps of a routine, which other workflows can call, if they can be read. */
  readonly template?: Template;
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
export function fileClaim(file: WorkflowFile): FileClaim | undefined {
  if (file.content.kind === 'unread') return undefined;
  const { text } = file.content;
  const id = claimedId(text);
  if (id === undefined) return undefined;
  const isReserved = id.startsWith(RESERVED_PREFIX) && file.kind !== 'bundled';
  const kind = isRoutine(file, id) ? 'routine' : 'workflow';
  const template = kind === 'routine' && !isReserved ? claimedTemplate(file, id, text) : undefined;
  const idSpan = () => sourceOutline(text).claimed?.span ?? { offset: 0, length: 0 };
  const claim = { file, text, id, idSpan, kind, isReserved } as const;
  return template === undefined ? claim : { ...claim, template };
}

/** A routine is recognised by its folder or by the name part of its id. */
export function isRoutine({ isInRoutines }: WorkflowFile, id: string): boolean {
  return isInRoutines || isRoutineId(id);
}

/** This runs for every file before any is compiled, so it uses the fastest parser. */
function claimedId(text: string): string | undefined {
  const root = parseJson(text);
  if (root.isErr()) return sourceOutline(text).claimed?.id;
  const { value } = root;
  const id = isObject(value) && Object.hasOwn(value, 'id') ? value['id'] : undefined;
  return typeof id === 'string' ? id : undefined;
}

function claimedTemplate(file: WorkflowFile, id: string, text: string): Template | undefined {
  const syntax = sourceOutline(text).syntax();
  return syntax && templateOf(syntax, templateIdOf(file, id));
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
