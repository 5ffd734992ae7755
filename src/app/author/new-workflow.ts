import { err, ok, type Result } from 'neverthrow';
import { type Destination, type PlaceRefusal, placeFor } from '../bench/write/place-for.ts';
import type { Naming } from '../bench/write/starters/head.ts';
import type { FileFailure } from '../ports/author-files.ts';
import type { AuthorServices } from './author-services.ts';
import { scenarioPathOf } from './find-targets.ts';
import { STARTERS, type StarterName } from './starters.ts';

export type NewWorkflow = Naming & { readonly starter: StarterName; readonly to: Destination };

export type Written = { readonly path: string; readonly scenarios: string };

/** Writes a workflow to begin with, and scenarios that it passes. Nothing that is there is written over. */
export async function newWorkflow(
  bench: AuthorServices,
  { starter, to, ...naming }: NewWorkflow,
): Promise<Result<Written, PlaceRefusal | FileFailure>> {
  const place = await placeFor(bench, { id: naming.id, to });
  if (place.isErr()) return err(place.error);
  const { workflow, scenarios } = STARTERS[starter];
  const path = place.value;
  const beside = scenarioPathOf(path);
  const written = bench.files
    .write(path, pretty(workflow(naming)), { isNew: true })
    .andThen(() => bench.files.write(beside, pretty({ workflowId: naming.id, scenarios }), { isNew: true }));
  return written.isErr() ? err(written.error) : ok({ path, scenarios: beside });
}

function pretty(document: object): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}
