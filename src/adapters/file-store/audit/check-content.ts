import { err, ok, type Result } from 'neverthrow';
import type { StoreFailure } from '../../../app/ports/store-failure.ts';
import { parseSnapshot } from '../../../core/log/execution-snapshot.ts';
import type { ContentRefs } from '../../../core/log/plan/content-refs.ts';
import { parseCompiledWorkflow } from '../../../core/workflow/compiled-workflow.ts';
import { readContent } from '../content/content-store.ts';
import { damagedContent, parseStored } from '../content/parse-stored.ts';
import type { Disk } from '../disk/disk.ts';
import { layout } from '../disk/layout.ts';
import { type LogDamage, plainDamage } from './log-damage.ts';

export type ContentCheck = { readonly damages: readonly LogDamage[]; readonly bytes: number };

/** Reads all that a session refers to; a file that cannot be read at all ends the check. */
export function checkContent(disk: Disk, refs: ContentRefs): Result<ContentCheck, StoreFailure> {
  const damages: LogDamage[] = [];
  let bytes = 0;
  for (const content of contentOf(disk, refs)) {
    if (content.isOk()) bytes += content.value;
    else {
      const damage = damageOf(content.error);
      if (damage === undefined) return err(content.error);
      damages.push(damage);
    }
  }
  return ok({ damages, bytes });
}

/** The length of everything that is as it should be. */
function* contentOf(disk: Disk, refs: ContentRefs): Generator<Result<number, StoreFailure>> {
  for (const ref of refs.snapshots) {
    const place = layout.snapshot(ref);
    yield readContent(disk, place, ref).andThen((bytes) =>
      parseStored(place, bytes, parseSnapshot).map(() => bytes.length),
    );
  }
  for (const hash of refs.workflows) {
    const place = layout.pinnedWorkflow(hash);
    yield readContent(disk, place, hash).andThen((bytes) =>
      parseStored(place, bytes, parseCompiledWorkflow).map(() => bytes.length),
    );
  }
  for (const [digest, byteLength] of refs.artifacts) {
    const place = layout.artifact(digest);
    yield readContent(disk, place, digest).andThen(({ length }) =>
      length === byteLength ? ok(length) : err(damagedContent(place, 'content_wrong_shape')),
    );
  }
}

function damageOf(failure: StoreFailure): LogDamage | undefined {
  if (failure.code === 'unknown_version') {
    const { place, offset, version } = failure;
    return plainDamage(place, { kind: 'unknown_version', offset, version });
  }
  if (failure.code !== 'damaged') return undefined;
  const { place, offset, reason } = failure.damage;
  const what = reason === 'content_missing' ? 'content_missing' : 'content_damaged';
  return { what, place, offset, fault: { kind: 'damaged', reason } };
}
