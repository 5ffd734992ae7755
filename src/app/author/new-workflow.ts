import { err, ok, type Result, safeTry } from 'neverthrow';
import { type FinishedRun, workflowOfRun } from '../../core/author/workflow-from-run.ts';
import type { Flow } from '../../core/flow.ts';
import { type JsonObject, quote } from '../../core/json/json-value.ts';
import { withoutHidden } from '../../core/text/visible-text.ts';
import { collectDiagnostics, type Edit } from '../../core/workflow/diagnostics/diagnostic.ts';
import { creatableId, type IdRefusal } from '../../core/workflow/format/read-names.ts';
import { parseSource } from '../../core/workflow/source/parse-source.ts';
import { nodeAt, sourceTexts } from '../../core/workflow/source/source-node.ts';
import { findWorkflow } from '../catalog/catalog.ts';
import { SOURCE_NAMESPACES } from '../catalog/file-claim.ts';
import type { FileFailure } from '../ports/author-files.ts';
import { authorCatalog } from './author-catalog.ts';
import type { AuthorServices } from './author-services.ts';
import { findTargetWorkflow, scenarioPathOf, type WorkflowRefusal } from './find-targets.ts';
import { type Naming, STARTERS, type StarterName } from './starters.ts';

export type NewWorkflow = Naming & { readonly starter: StarterName; readonly to: Destination };

export type WrittenWorkflow = { readonly path: string; readonly scenarios: string };

/** Writes a starter workflow with scenarios that pass. Existing files are not overwritten. */
export async function newWorkflow(
  author: AuthorServices,
  { starter, to, ...naming }: NewWorkflow,
): Promise<Result<WrittenWorkflow, PlaceRefusal | FileFailure>> {
  const { workflow, scenarios } = STARTERS[starter];
  return writeNew(author, { workflow: workflow(naming), scenarios }, { id: naming.id, to });
}

/** Writes a workflow with the steps of a finished run, and a scenario that expects just these. */
export function newFromRun(
  author: AuthorServices,
  { run, to, ...naming }: Naming & { readonly run: FinishedRun; readonly to: Destination },
): Promise<Result<WrittenWorkflow, PlaceRefusal | FileFailure>> {
  return writeNew(author, workflowOfRun(run, naming), { id: naming.id, to });
}

async function writeNew(
  author: AuthorServices,
  { workflow, scenarios }: { readonly workflow: JsonObject; readonly scenarios: readonly JsonObject[] },
  { id, to }: { readonly id: string; readonly to: Destination },
): Promise<Result<WrittenWorkflow, PlaceRefusal | FileFailure>> {
  return safeTry(async function* (): Flow<WrittenWorkflow, PlaceRefusal | FileFailure> {
    const path = yield* await placeFor(author, { id, to });
    const beside = scenarioPathOf(path);
    yield* author.files.write(path, pretty(workflow), { isNew: true });
    yield* author.files.write(beside, pretty({ workflowId: id, scenarios }), { isNew: true });
    return ok({ path, scenarios: beside });
  });
}

/** A name and a description for an id, where nobody gave one. Characters that nobody can see are left out. */
export function namingOf(id: string, given: Partial<Omit<Naming, 'id'>> = {}): Naming {
  const plain = id.slice(id.indexOf('.') + 1).replaceAll(/[_-]+/g, ' ');
  const title = `${plain.charAt(0).toUpperCase()}${plain.slice(1)}`;
  const { name = title, description = `${title}, step by step.` } = given;
  return { id, name: withoutHidden(name), description: withoutHidden(description) };
}

function pretty(document: object): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

export type CopyRefusal = WorkflowRefusal | PlaceRefusal | FileFailure;

export type Copied = {
  readonly id: string;
  readonly from: string;
  readonly path: string;
  /** The copied scenarios. */
  readonly scenarios?: string;
  /** References relative to the original, which the copy does not have. */
  readonly lostReferences: readonly string[];
};

/** Copies a workflow with its scenarios under a new id. Only the id changes in its text. */
export async function copyWorkflow(
  author: AuthorServices,
  { asked, newId, to }: { readonly asked: string; readonly newId?: string | undefined; readonly to: Destination },
): Promise<Result<Copied, CopyRefusal>> {
  return safeTry(async function* (): Flow<Copied, CopyRefusal> {
    const { files } = author;
    const { listed } = yield* await findTargetWorkflow(author, asked);
    const id = newId ?? `${SOURCE_NAMESPACES[to]}.${listed.id.slice(listed.id.indexOf('.') + 1)}`;
    const place = yield* await placeFor(author, { id, to, isRoutine: listed.kind === 'routine' });
    yield* files.write(place, withTextAt(listed.origin.text, '/id', id), { isNew: true });
    const scenarios = files.read(scenarioPathOf(listed.file.path));
    const scenarioPath = scenarioPathOf(place);
    if (scenarios.isOk()) {
      yield* files.write(scenarioPath, withTextAt(scenarios.value, '/workflowId', id), { isNew: true });
    }
    return ok({
      id,
      from: listed.id,
      path: place,
      ...(scenarios.isOk() ? { scenarios: scenarioPath } : {}),
      lostReferences: listed.workflow.references
        .filter(({ resolveFrom }) => resolveFrom === 'package')
        .map(({ source }) => source),
    });
  });
}

export type Destination = 'project' | 'user';

export type PlaceRefusal = IdRefusal | { readonly code: 'id_taken'; readonly id: string; readonly path: string };

/** The path for a new workflow of this id. */
export async function placeFor(
  author: AuthorServices,
  { id, to, isRoutine = false }: { readonly id: string; readonly to: Destination; readonly isRoutine?: boolean },
): Promise<Result<string, PlaceRefusal>> {
  const creatable = creatableId(id);
  if (creatable.isErr()) return err(creatable.error);
  const { all } = await authorCatalog(author);
  const found = findWorkflow(all, id);
  if (found.kind === 'found' && found.alias === undefined) {
    return err({ code: 'id_taken', id, path: found.listed.file.path });
  }
  if (found.kind === 'invalid') return err({ code: 'id_taken', id, path: found.invalid.file.path });
  return ok(`${author.folders[to]}/${isRoutine ? 'routines/' : ''}${id}.json`);
}

/** Changes selected strings of a JSON file; everything else stays as written. */
export function renamedTexts(
  text: string,
  newName: (pointer: string, value: string) => string | undefined,
): { readonly text: string; readonly edits: readonly (Edit & { readonly pointer: string })[] } {
  const parsed = parseSource(text, collectDiagnostics());
  if (parsed.isErr()) return { text, edits: [] };
  const edits = sourceTexts(nodeAt(parsed.value, '')).flatMap(({ pointer, value, span }) => {
    const renamed = newName(pointer, value);
    return renamed === undefined || renamed === value ? [] : [{ ...span, pointer, text: quote(renamed) }];
  });
  const changed = edits
    .toSorted((a, b) => b.offset - a.offset)
    .reduce((whole, edit) => whole.slice(0, edit.offset) + edit.text + whole.slice(edit.offset + edit.length), text);
  return { text: changed, edits };
}

/** The text of a file with another string in one place. */
function withTextAt(text: string, place: string, value: string): string {
  return renamedTexts(text, (pointer) => (pointer === place ? value : undefined)).text;
}
