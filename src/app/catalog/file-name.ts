import type { SourceFile } from '../ports/workflow-sources.ts';

/** What a file would be called by, going by its name alone. */
export function stemOf({ ref }: Pick<SourceFile, 'ref'>): string {
  return ref.slice(ref.lastIndexOf('/') + 1).replace(/\.json$/, '');
}

/** Whether a file is named after an id: after all of it, or after the part behind the namespace. */
export function isNamedAfter(file: Pick<SourceFile, 'ref'>, id: string): boolean {
  const name = id.slice(id.indexOf('.') + 1);
  const stem = alike(stemOf(file));
  return [id, name, name.replace(/^routine-/, '')].some((fitting) => alike(fitting) === stem);
}

function alike(name: string): string {
  return name.toLowerCase().replaceAll('-', '_');
}
