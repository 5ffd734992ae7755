import type { WorkflowFile } from '../ports/workflow-sources.ts';
import type { FileChoice } from './choose-files.ts';
import { type FileClaim, isRoutine, stemOf, templateIdOf } from './file-claim.ts';

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
