import { err, ok, type Result, safeTry } from 'neverthrow';
import type { Flow } from '../../core/flow.ts';
import { defined } from '../../core/json/json-value.ts';
import type { ListedWorkflow } from '../catalog/catalog.ts';
import { isNamedAfter, templateIdOf } from '../catalog/file-claim.ts';
import type { FileFailure } from '../ports/author-files.ts';
import type { AuthorServices } from './author-services.ts';
import { findTargetWorkflow, scenarioPathOf, type WorkflowRefusal } from './find-targets.ts';
import { type PlaceRefusal, placeFor, renamedTexts } from './new-workflow.ts';

/** A file that is not the author's own. */
export type NotEditable = { readonly code: 'not_editable'; readonly id: string; readonly path: string };

export type MigrateRefusal = WorkflowRefusal | PlaceRefusal | FileFailure | NotEditable;

/** A changed file, and the places in it. `movedTo` is its new name, if it was named after the old id. */
export type MigratedFile = {
  readonly path: string;
  readonly movedTo?: string;
  readonly pointers: readonly string[];
};

/** Gives a workflow a new id and updates every file of the author that refers to it, or reports what would change. */
export async function migrateId(
  author: AuthorServices,
  { oldId, newId, isDryRun }: { readonly oldId: string; readonly newId: string; readonly isDryRun: boolean },
): Promise<Result<readonly MigratedFile[], MigrateRefusal>> {
  return safeTry(async function* (): Flow<readonly MigratedFile[], MigrateRefusal> {
    const { listed } = yield* await findTargetWorkflow(author, oldId);
    if (listed.sourceKind !== 'project' && listed.sourceKind !== 'user') {
      return err({ code: 'not_editable', id: listed.id, path: listed.file.path });
    }
    yield* await placeFor(author, { id: newId, to: 'project' });
    const changes = await changesFor(author, listed, newId);
    for (const change of isDryRun ? [] : changes) yield* applyChange(author, change);
    return ok(changes.map(({ path, movedTo, pointers }) => ({ path, pointers, ...defined({ movedTo }) })));
  });
}

type Change = MigratedFile & { readonly text: string };

async function changesFor(author: AuthorServices, listed: ListedWorkflow, newId: string): Promise<readonly Change[]> {
  const { files, bindings } = await author.source.files(author.workspace);
  const own = files.filter(({ kind }) => kind === 'project' || kind === 'user');
  const names = new Map([[listed.id, newId]]);
  if (listed.kind === 'routine') {
    names.set(templateIdOf(listed.file, listed.id), templateIdOf(listed.file, newId));
  }
  const paths = [
    ...own.flatMap(({ path }) => [path, scenarioPathOf(path)]),
    ...(bindings === undefined ? [] : [bindings.path]),
  ];
  return paths.flatMap((path): readonly Change[] => {
    const read = author.files.read(path);
    if (read.isErr()) return [];
    const isItself = path === listed.file.path;
    const isBindings = path === bindings?.path;
    const { text, edits } = renamedTexts(read.value, (pointer, value) => {
      if (isItself && pointer === '/id') return newId;
      return isBindings || REFERENCE.test(pointer) ? names.get(value) : undefined;
    });
    if (edits.length === 0) return [];
    const isMoved = (isItself || path === scenarioPathOf(listed.file.path)) && isNamedAfter(listed.file, listed.id);
    const movedTo = isMoved ? { movedTo: movedPath(path, isItself, newId) } : {};
    return [{ path, text, pointers: edits.map(({ pointer }) => pointer), ...movedTo }];
  });
}

/** Places that name another workflow or a routine. */
const REFERENCE = /\/(?:workflowId|templateId|default)$/;

function movedPath(path: string, isItself: boolean, newId: string): string {
  return `${path.slice(0, path.lastIndexOf('/') + 1)}${newId}${isItself ? '.json' : '.test.json'}`;
}

/** The new file is written before the old one is removed. */
function applyChange({ files }: AuthorServices, { path, movedTo, text }: Change): Result<void, FileFailure> {
  if (movedTo === undefined || movedTo === path) return files.write(path, text);
  return files.write(movedTo, text, { isNew: true }).andThen(() => files.remove(path));
}
