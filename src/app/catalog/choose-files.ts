import type { WorkflowFile } from '../ports/workflow-sources.ts';
import { type FileClaim, isRoutine, stemOf, templateIdOf } from './file-claim.ts';

/** The file that an id refers to, and the files it overrides. */
export type ChosenFile = {
  readonly claim: FileClaim;
  /** Files of the same id that are not used, nearest in rank first. */
  readonly shadows: readonly WorkflowFile[];
};

export type FileChoice = {
  readonly chosen: readonly ChosenFile[];
  /** Files that claim the id or the template name of another file in the same folder, each with that file. */
  readonly duplicates: ReadonlyMap<WorkflowFile, WorkflowFile>;
};

/**
 * Chooses one file for each id: the highest rank, and within a folder the first by name. A file that does not compile
 * is chosen too: running the one it overrides would run something that the author did not write.
 */
export function chooseFiles(claims: readonly FileClaim[]): FileChoice {
  const duplicates = new Map<WorkflowFile, WorkflowFile>();
  const byId = new Map<string, FileClaim[]>();
  for (const claim of claims) {
    if (claim.isReserved) continue;
    const rivals = byId.get(claim.id) ?? [];
    const first = rivals.find(({ file }) => file.rank === claim.file.rank);
    if (first === undefined) byId.set(claim.id, [...rivals, claim]);
    else duplicates.set(claim.file, first.file);
  }
  const templates: Templates = new Map();
  const chosen = [...byId.values()].flatMap((rivals) => {
    const [claim, ...hidden] = rivals.toSorted((a, b) => b.file.rank - a.file.rank);
    return claim === undefined ? [] : [{ claim, shadows: hidden.map(({ file }) => file) }];
  });
  return { chosen: chosen.filter(({ claim }) => isNameFree(claim, { templates, duplicates })), duplicates };
}

type Templates = Map<string, WorkflowFile>;

/** Two routines in one folder may have different ids but the same template name. */
function isNameFree(
  { file, id, kind }: FileClaim,
  { templates, duplicates }: { readonly templates: Templates; readonly duplicates: Map<WorkflowFile, WorkflowFile> },
): boolean {
  if (kind === 'workflow') return true;
  const key = `${file.rank} ${templateIdOf(file, id)}`;
  const first = templates.get(key);
  if (first === undefined) templates.set(key, file);
  else duplicates.set(file, first);
  return first === undefined;
}

/** A file whose steps other workflows can call, and its template name. */
export type Routine = { readonly file: WorkflowFile; readonly templateId: string; readonly claim?: FileClaim };

/** Every routine, lowest rank first. A file without an id is named after its file name. */
export function routinesOf(
  claims: ReadonlyMap<WorkflowFile, FileClaim | undefined>,
  { chosen }: FileChoice,
): readonly Routine[] {
  const nameless = [...claims].flatMap(([file, claim]) =>
    claim === undefined && isRoutine(file, stemOf(file))
      ? [{ file, templateId: templateIdOf(file, stemOf(file)) }]
      : [],
  );
  const named = chosen.flatMap(({ claim }) =>
    claim.kind === 'routine' ? [{ file: claim.file, templateId: templateIdOf(claim.file, claim.id), claim }] : [],
  );
  return [...nameless, ...named].sort((a, b) => a.file.rank - b.file.rank);
}
