import { err, ok, type Result } from 'neverthrow';
import type { ArtifactStore, PinnedWorkflows } from '../../app/ports/content-stores.ts';
import type { StoreFailure } from '../../app/ports/store-failure.ts';
import type { WorkflowHash } from '../../core/log/ids.ts';
import { type CompiledWorkflow, parseCompiledWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';
import { sealWorkflow } from '../../core/workflow/compiled/sealed-workflow.ts';
import { boundedCache } from '../bounded-cache.ts';
import { damagedContent, digestOf, parseStored } from '../file-store/content/content-files.ts';
import {
  type ContentReader,
  type KeptSnapshots,
  keptSnapshots,
  storedArtifacts,
} from '../file-store/content/file-content-stores.ts';
import { CONTENT_KINDS, type ContentKind, digestBytes, type SpaceParts, sql, storeFailure } from './database.ts';

const READ = sql('read_content', 'select bytes from wr.content where space_id = $1 and kind = $2 and digest = $3');
const PIN = sql(
  'pin_workflow',
  `insert into wr.content (space_id, kind, digest, bytes) values ($1, 3, $2, $3)
   on conflict (space_id, kind, digest) do update set touched = now()`,
);

/** Reads content and checks it against its digest. */
async function readContent(
  { database, spaceId }: SpaceParts,
  kind: ContentKind,
  digest: string,
): Promise<Result<Uint8Array, StoreFailure>> {
  const read = await database.run(READ, [spaceId, kind, digestBytes(digest)]);
  if (read.isErr()) return err(storeFailure(read.error, 'read content', digest));
  const bytes = read.value[0]?.['bytes'] as Buffer | undefined;
  if (bytes === undefined) return err(damagedContent(digest, 'content_missing'));
  return digestOf(bytes) === digest ? ok(bytes) : err(damagedContent(digest, 'content_digest_mismatch'));
}

const WORKFLOWS_KEPT = 64;

export function postgresWorkflows(parts: SpaceParts): PinnedWorkflows {
  const kept = boundedCache<WorkflowHash, CompiledWorkflow>(WORKFLOWS_KEPT);
  const keep = (hash: WorkflowHash, bytes: Uint8Array) =>
    parseStored(hash, bytes, parseCompiledWorkflow).map((workflow) => {
      kept.set(hash, workflow);
      return workflow;
    });
  return {
    pin: async (workflow, stored) => {
      const { hash, bytes } =
        stored === undefined ? sealWorkflow(workflow, parts.sha256) : { hash: stored.hash, bytes: stored.bytes() };
      const pinned = await parts.database.run(PIN, [parts.spaceId, digestBytes(hash), Buffer.from(bytes)]);
      if (pinned.isErr()) return err(storeFailure(pinned.error, 'pin workflow', hash));
      // As stored and not as compiled: replies must be the same to the byte in all processes.
      return kept.get(hash) === undefined ? keep(hash, bytes).map(() => hash) : ok(hash);
    },
    get: async (hash) => {
      const known = kept.get(hash);
      if (known !== undefined) return ok(known);
      return (await readContent(parts, CONTENT_KINDS.workflow, hash)).andThen((bytes) => keep(hash, bytes));
    },
  };
}

export function postgresSnapshots(parts: SpaceParts, workflows: Pick<PinnedWorkflows, 'get'>): KeptSnapshots {
  return keptSnapshots(readerOf(parts, CONTENT_KINDS.snapshot), workflows);
}

export function postgresArtifacts(parts: SpaceParts): ArtifactStore {
  return storedArtifacts(readerOf(parts, CONTENT_KINDS.artifact));
}

function readerOf(parts: SpaceParts, kind: ContentKind): ContentReader<string> {
  return { placeOf: (digest) => digest, read: (digest) => readContent(parts, kind, digest) };
}
