import { err, ok, type Result } from 'neverthrow';
import type { StoreFailure } from '../../../app/ports/store-failure.ts';
import { parseSnapshot } from '../../../core/log/execution-snapshot.ts';
import type { WorkflowHash } from '../../../core/log/ids.ts';
import type { ContentRefs } from '../../../core/log/plan/append-plan.ts';
import { isSnapshotOf } from '../../../core/run/walk/next-step.ts';
import { type CompiledWorkflow, parseCompiledWorkflow } from '../../../core/workflow/compiled/compiled-workflow.ts';
import { damagedContent, parseStored } from '../content/content-files.ts';
import { layout } from '../disk/disk.ts';
import { yieldOften } from '../yield-often.ts';
import { type LogDamage, plainDamage, unreadable } from './log-damage.ts';

export type ContentCheck = { readonly damages: readonly LogDamage[]; readonly bytes: number };

/** Reads content that is named by its digest, and checks that it is. */
type ReadContent = (place: string, digest: string) => Result<Uint8Array, StoreFailure>;

/** Reads all content that a session refers to. */
export async function checkContent(read: ReadContent, refs: ContentRefs): Promise<ContentCheck> {
  const damages: LogDamage[] = [];
  const yieldNow = yieldOften();
  let bytes = 0;
  for (const [place, content] of contentOf(read, refs)) {
    await yieldNow();
    if (content.isOk()) bytes += content.value;
    else damages.push(damageOf(place, content.error));
  }
  return { damages, bytes };
}

/** The place of each piece of content, with its length if it is sound. */
function* contentOf(
  read: ReadContent,
  refs: ContentRefs,
): Generator<readonly [place: string, Result<number, StoreFailure>]> {
  const workflows = new Map([...refs.workflows].map((hash) => [hash, readWorkflow(read, hash)]));
  for (const ref of refs.snapshots) {
    const place = layout.snapshot(ref);
    const checked = read(place, ref).andThen((bytes) =>
      parseStored(place, bytes, parseSnapshot).andThen((snapshot) => {
        const workflow = workflows.get(snapshot.workflowHash)?.unwrapOr(undefined)?.workflow;
        const isFit = workflow === undefined || isSnapshotOf(workflow, snapshot);
        return isFit ? ok(bytes.length) : err(damagedContent(place, 'content_wrong_shape'));
      }),
    );
    yield [place, checked];
  }
  for (const [hash, found] of workflows) yield [layout.pinnedWorkflow(hash), found.map(({ bytes }) => bytes)];
  for (const [digest, byteLength] of refs.artifacts) {
    const place = layout.artifact(digest);
    const checked = read(place, digest).andThen(({ length }) =>
      length === byteLength ? ok(length) : err(damagedContent(place, 'content_wrong_shape')),
    );
    yield [place, checked];
  }
}

type ReadWorkflow = { readonly workflow: CompiledWorkflow; readonly bytes: number };

function readWorkflow(read: ReadContent, hash: WorkflowHash): Result<ReadWorkflow, StoreFailure> {
  const place = layout.pinnedWorkflow(hash);
  return read(place, hash).andThen((bytes) =>
    parseStored(place, bytes, parseCompiledWorkflow).map((workflow) => ({ workflow, bytes: bytes.length })),
  );
}

function damageOf(place: string, failure: StoreFailure): LogDamage {
  if (failure.code === 'unknown_version') {
    const { offset, version } = failure;
    return plainDamage(place, { kind: 'unknown_version', offset, version });
  }
  if (failure.code !== 'damaged') return unreadable(place, failure);
  const { offset, reason } = failure.damage;
  const what = reason === 'content_missing' ? 'content_missing' : 'content_damaged';
  return { what, place, offset, fault: { kind: 'damaged', reason } };
}
