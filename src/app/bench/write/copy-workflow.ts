import { err, ok, type Result } from 'neverthrow';
import type { AuthorServices } from '../../author/author-services.ts';
import { scenarioPathOf } from '../../author/find-targets.ts';
import type { FileFailure } from '../../ports/author-files.ts';
import { findTargetWorkflow, type WorkflowRefusal } from '../files/find-workflow.ts';
import { type Destination, ownId, type PlaceRefusal, placeFor } from './place-for.ts';
import { withId, withWorkflowId } from './renamed-texts.ts';

export type CopyRefusal = WorkflowRefusal | PlaceRefusal | FileFailure;

export type Copied = {
  readonly id: string;
  readonly from: string;
  readonly path: string;
  /** The scenarios that went along. */
  readonly scenarios?: string;
  /** References that are looked for beside the original, where a copy does not lie. */
  readonly lostReferences: readonly string[];
};

/** Puts a copy of a workflow under an id of one's own, with its scenarios. Its text stays as it is but for the id. */
export async function copyWorkflow(
  bench: AuthorServices,
  { asked, newId, to }: { readonly asked: string; readonly newId?: string | undefined; readonly to: Destination },
): Promise<Result<Copied, CopyRefusal>> {
  const { files } = bench;
  const found = await findTargetWorkflow(bench, asked);
  if (found.isErr()) return err(found.error);
  const { listed } = found.value;
  const id = newId ?? ownId(listed.id, to);
  const place = await placeFor(bench, { id, to, isRoutine: listed.kind === 'routine' });
  if (place.isErr()) return err(place.error);
  const written = files.write(place.value, withId(listed.origin.text, id), { isNew: true });
  if (written.isErr()) return err(written.error);
  const scenarios = files.read(scenarioPathOf(listed.file.path));
  const scenarioPath = scenarioPathOf(place.value);
  if (scenarios.isOk()) {
    const along = files.write(scenarioPath, withWorkflowId(scenarios.value, id), { isNew: true });
    if (along.isErr()) return err(along.error);
  }
  return ok({
    id,
    from: listed.id,
    path: place.value,
    ...(scenarios.isOk() ? { scenarios: scenarioPath } : {}),
    lostReferences: listed.workflow.references
      .filter(({ resolveFrom }) => resolveFrom === 'package')
      .map(({ source }) => source),
  });
}
