import { join } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type {
  ArtifactStore,
  OtherWorkflowStored,
  PinnedWorkflows,
  SnapshotStore,
} from '../../../app/ports/content-stores.ts';
import type { StoreFailure } from '../../../app/ports/store-failure.ts';
import { canonicalBytes } from '../../../core/json/canonical-json.ts';
import { jsonObjectSchema, parseDocument } from '../../../core/log/document-schema.ts';
import { type ExecutionSnapshot, parseSnapshot } from '../../../core/log/execution-snapshot.ts';
import type { SnapshotRef, WorkflowHash } from '../../../core/log/ids.ts';
import { isSnapshotOf } from '../../../core/run/walk/next-step.ts';
import type { CompiledWorkflow } from '../../../core/workflow/compiled/compiled-workflow.ts';
import { sealWorkflow } from '../../../core/workflow/compiled/sealed-workflow.ts';
import { boundedCache } from '../../bounded-cache.ts';
import { accessing, accessingNow, type Disk, ensureDir, layout } from '../disk/disk.ts';
import type { FileStoreParts } from '../file-store-parts.ts';
import { damagedContent, parseStored, putContent, readContent } from './content-files.ts';

const WORKFLOWS_KEPT = 64;

export function filePinnedWorkflows(parts: FileStoreParts): PinnedWorkflows {
  const { disk, sha256 } = parts;
  const kept = boundedCache<WorkflowHash, CompiledWorkflow>(WORKFLOWS_KEPT);
  return {
    pin: async (workflow, stored) => {
      const { hash, bytes } =
        stored === undefined ? sealWorkflow(workflow, sha256) : { hash: stored.hash, bytes: stored.bytes() };
      const path = layout.pinnedWorkflow(hash);
      const pinned = await accessing('pin workflow', path, async () => {
        await ensureDir(disk, layout.pinnedWorkflows);
        await putContent(disk, { path, digest: hash }, bytes);
      });
      if (pinned.isErr() || kept.get(hash) !== undefined) return pinned.map(() => hash);
      if (stored !== undefined) {
        kept.set(hash, workflow);
        return ok(hash);
      }
      const parse = await workflowParser();
      // Cached as stored and not as compiled: keys are in another order there, and replies must be the same to the byte
      // in all processes.
      return parse(path, bytes).map((canonical) => {
        kept.set(hash, canonical);
        return hash;
      });
    },
    get: async (hash) => {
      const known = kept.get(hash);
      if (known !== undefined) return ok(known);
      const path = layout.pinnedWorkflow(hash);
      const parse = await workflowParser();
      return readContent(disk, path, hash)
        .andThen((bytes) => parse(path, bytes))
        .map((workflow) => {
          kept.set(hash, workflow);
          return workflow;
        })
        .orElse((failure) => err(otherWorkflow(parts, hash, parse) ?? failure));
    },
  };
}

type ParseWorkflow = (place: string, bytes: Uint8Array) => Result<CompiledWorkflow, StoreFailure>;

/** What a chat starts from the library needs no parsing, so the schema of workflows is loaded by those that do. */
async function workflowParser(): Promise<ParseWorkflow> {
  const { parseCompiledWorkflow } = await import('../../../core/workflow/compiled/compiled-workflow.ts');
  return (place, bytes) => parseStored(place, bytes, parseCompiledWorkflow);
}

/** The workflow that is stored in the place of another. The same workflow in another spelling is plain damage. */
function otherWorkflow(
  { disk, sha256 }: FileStoreParts,
  hash: WorkflowHash,
  parse: ParseWorkflow,
): OtherWorkflowStored | undefined {
  const place = layout.pinnedWorkflow(hash);
  const found = accessingNow('read content', place, () => disk.fs.read(join(disk.root, place)) ?? new Uint8Array())
    .andThen((bytes) => parse(place, bytes))
    .andThen((workflow) => canonicalBytes(workflow))
    .map((bytes) => sha256(bytes) as string as WorkflowHash)
    .unwrapOr(hash);
  return found === hash ? undefined : { code: 'other_workflow_stored', place, found };
}

export function fileSnapshots(
  { disk }: Pick<FileStoreParts, 'disk'>,
  workflows: Pick<PinnedWorkflows, 'get'>,
): KeptSnapshots {
  return keptSnapshots(readerOf(disk, layout.snapshot), workflows);
}

export function fileArtifacts(disk: Disk): ArtifactStore {
  return storedArtifacts(readerOf(disk, layout.artifact));
}

function readerOf<Digest extends string>(disk: Disk, placeOf: (digest: Digest) => string): ContentReader<Digest> {
  return { placeOf, read: async (digest) => readContent(disk, placeOf(digest), digest) };
}

/** Bytes that were checked against their digest, and what messages call the place that they are stored at. */
export type ContentReader<Digest extends string> = {
  placeOf(digest: Digest): string;
  read(digest: Digest): Promise<Result<Uint8Array, StoreFailure>>;
};

const SNAPSHOTS_KEPT = 256;

export type KeptSnapshots = SnapshotStore & {
  /** Caches what was just stored: the same process is about to read it. */
  remember(snapshots: ReadonlyMap<SnapshotRef, ExecutionSnapshot>): void;
};

/** Snapshots of a store, those that were used last from memory. */
export function keptSnapshots(
  { placeOf, read }: ContentReader<SnapshotRef>,
  workflows: Pick<PinnedWorkflows, 'get'>,
): KeptSnapshots {
  const kept = boundedCache<SnapshotRef, ExecutionSnapshot>(SNAPSHOTS_KEPT);
  return {
    remember: (snapshots) => {
      for (const [ref, snapshot] of snapshots) kept.set(ref, snapshot);
    },
    get: async (ref) => {
      const known = kept.get(ref);
      if (known !== undefined) return ok(known);
      const place = placeOf(ref);
      const parsed = (await read(ref)).andThen((bytes) => parseStored(place, bytes, parseSnapshot));
      if (parsed.isErr()) return err(parsed.error);
      // If the workflow cannot be read, reading the workflow itself reports that.
      const workflow = await workflows.get(parsed.value.workflowHash);
      if (workflow.isOk() && !isSnapshotOf(workflow.value, parsed.value)) {
        return err(damagedContent(place, 'content_wrong_shape'));
      }
      kept.set(ref, parsed.value);
      return parsed;
    },
  };
}

/** Artifacts are read rarely, so none is cached. */
export function storedArtifacts({ placeOf, read }: ContentReader<Parameters<ArtifactStore['get']>[0]>): ArtifactStore {
  return {
    get: read,
    getJson: async (digest) =>
      (await read(digest)).andThen((bytes) =>
        parseStored(placeOf(digest), bytes, (value) => parseDocument(jsonObjectSchema, value)).map((value) => ({
          value,
          bytes,
        })),
      ),
  };
}
