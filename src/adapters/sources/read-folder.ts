import { join } from 'node:path';
import type { UnreadReason, WorkflowFile } from '../../app/ports/workflow-sources.ts';
import type { FolderAccess } from '../workflow-files/folder-access.ts';
import { isInside, type KeptFiles, readSourceFile, sight } from '../workflow-files/read-source-file.ts';

/** Far more than anyone keeps; a folder that only happens to have the name may hold anything. */
const FILES_MAX = 1000;
const DEPTH_MAX = 8;
/** Scenarios lie beside the workflow that they are about. */
const SCENARIO_FILE = '.test.json';

/** A folder of workflow files. */
export type SourceFolder = Pick<WorkflowFile, 'kind' | 'rank' | 'added'> & {
  readonly dir: string;
  /** What the names of its files begin with. */
  readonly refPrefix: string;
  /** A folder that it must not lead out of; a person may link their own folder to wherever they like. */
  readonly within?: string;
};

type Walk = {
  readonly access: FolderAccess;
  readonly kept: KeptFiles;
  readonly folder: SourceFolder;
  readonly root: string;
  readonly files: WorkflowFile[];
};

/** Every workflow file of a folder and the folders in it. What cannot be read is in the list with the reason. */
export function readFolder(
  reader: { readonly access: FolderAccess; readonly kept: KeptFiles },
  folder: SourceFolder,
): readonly WorkflowFile[] {
  const { access } = reader;
  const root = access.resolve(folder.dir);
  const within = folder.within === undefined ? undefined : access.resolve(folder.within);
  const walk = { ...reader, folder, root: root.unwrapOr(folder.dir), files: [] };
  if (root.isErr()) {
    if (root.error.code !== 'absent') add(walk, '', root.error);
  } else if (within?.isOk() && !isInside(root.value, within.value)) {
    add(walk, '', { code: 'leads_outside', target: root.value });
  } else {
    enter(walk, '', 0);
  }
  return walk.files;
}

function enter(walk: Walk, inner: string, depth: number): void {
  const names = walk.access.list(join(walk.root, inner));
  if (names.isErr()) {
    if (names.error.code !== 'absent') add(walk, inner, names.error);
    return;
  }
  for (const name of names.value) {
    if (name.startsWith('.') || name === 'node_modules') continue;
    if (walk.files.length > FILES_MAX) return;
    visit(walk, inner === '' ? name : `${inner}/${name}`, depth);
  }
}

function visit(walk: Walk, inner: string, depth: number): void {
  const { access, root, folder } = walk;
  const isJson = inner.endsWith('.json') && !inner.endsWith(SCENARIO_FILE);
  const sighting = sight(access, join(root, inner), root);
  if (sighting === undefined) return;
  if (sighting.kind === 'folder') {
    // Through a link it would be the second way to the same files.
    const isReal = access.look(join(root, inner)).map(({ kind }) => kind === 'folder');
    if (depth < DEPTH_MAX && isReal.unwrapOr(false)) enter(walk, inner, depth + 1);
    return;
  }
  if (walk.files.length === FILES_MAX) {
    if (isJson) add(walk, '', { code: 'too_many_files', filesMax: FILES_MAX });
    return;
  }
  // A link out of the folder is told whatever it leads to: behind it there may be a folder of workflows.
  const isOutside = sighting.kind === 'unread' && sighting.reason.code === 'leads_outside';
  if (!isJson && !isOutside) return;
  walk.files.push(readSourceFile<WorkflowFile>(walk, sighting, head(folder, inner)));
}

function add(walk: Walk, inner: string, reason: UnreadReason): void {
  walk.files.push(readSourceFile<WorkflowFile>(walk, { kind: 'unread', reason }, head(walk.folder, inner)));
}

function head({ kind, rank, dir, refPrefix, added }: SourceFolder, inner: string): Omit<WorkflowFile, 'content'> {
  const isInRoutines = inner.split('/').slice(0, -1).includes('routines');
  return { ref: `${refPrefix}${inner}`, path: join(dir, inner), kind, rank, isInRoutines, ...(added && { added }) };
}
