import { hash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type {
  ArtifactStore,
  OtherWorkflowStored,
  PinnedWorkflows,
  SnapshotStore,
} from '../../../app/ports/content-stores.ts';
import type { StoreFailure } from '../../../app/ports/store-failure.ts';
import { assert } from '../../../core/assert.ts';
import { canonicalBytes } from '../../../core/json/canonical-json.ts';
import { type JsonValue, parseJson } from '../../../core/json/json-value.ts';
import { jsonObjectSchema, parseDocument, type SchemaRefusal } from '../../../core/log/document-schema.ts';
import { type ExecutionSnapshot, parseSnapshot } from '../../../core/log/execution-snapshot.ts';
import type { DamageReason } from '../../../core/log/health.ts';
import type { SnapshotRef, WorkflowHash } from '../../../core/log/ids.ts';
import { isSnapshotOf } from '../../../core/run/walk/pending-step.ts';
import {
  type CompiledWorkflow,
  parseCompiledWorkflow,
  sealWorkflow,
} from '../../../core/workflow/compiled/compiled-workflow.ts';
import { boundedCache } from '../../bounded-cache.ts';
import { accessing, accessingNow, type Disk, ensureDir, layout, putFile } from '../disk/disk.ts';
import type { FileStoreParts } from '../file-store-parts.ts';

type DocumentRefusal = { readonly code: 'unknown_version'; readonly version: unknown } | SchemaRefusal;

/** Parses the JSON in the bytes of a file. */
export function parseJsonBytes(bytes: Uint8Array): Result<JsonValue, 'not_json'> {
  const buffer = bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return parseJson(buffer.toString('utf8'));
}

/** Parses a stored document. Everything its parser refuses is damage, except for an unknown version. */
export function parseStored<Document>(
  place: string,
  bytes: Uint8Array,
  parse: (value: unknown) => Result<Document, DocumentRefusal>,
): Result<Document, StoreFailure> {
  const json = parseJsonBytes(bytes);
  if (json.isErr()) return err(damagedContent(place, 'content_not_json'));
  return parse(json.value).mapErr((refusal) =>
    refusal.code === 'unknown_version'
      ? { code: 'unknown_version', place, offset: 0, version: shownLabel(refusal.version) }
      : damagedContent(place, 'content_wrong_shape'),
  );
}

const SHOWN_MAX = 64;

/** A label from a file, for an error message. It may be any JSON value, so it must not be converted carelessly. */
export function shownLabel(label: unknown): string {
  const text = typeof label === 'string' ? label : (JSON.stringify(label) ?? 'none');
  return text.slice(0, SHOWN_MAX);
}

export function damagedContent(place: string, reason: DamageReason): StoreFailure {
  return { code: 'damaged', damage: { reason, place, offset: 0 } };
}

const WORKFLOWS_KEPT = 64;

export function filePinnedWorkflows(parts: FileStoreParts): PinnedWorkflows {
  const { disk, sha256 } = parts;
  const kept = boundedCache<WorkflowHash, CompiledWorkflow>(WORKFLOWS_KEPT);
  return {
    pin: async (workflow) => {
      const { hash, bytes } = sealWorkflow(workflow, sha256);
      const path = layout.pinnedWorkflow(hash);
      const pinned = await accessing('pin workflow', path, async () => {
        await ensureDir(disk, layout.pinnedWorkflows);
        await putContent(disk, { path, digest: hash }, bytes);
      });
      // Cached as stored and not as compiled: keys are in another order there, and replies must be the same to the byte
      // in all processes.
      return pinned.andThen(() => {
        if (kept.get(hash) !== undefined) return ok(hash);
        return parseStored(path, bytes, parseCompiledWorkflow).map((stored) => {
          kept.set(hash, stored);
          return hash;
        });
      });
    },
    get: async (hash) => {
      const known = kept.get(hash);
      if (known !== undefined) return ok(known);
      const path = layout.pinnedWorkflow(hash);
      return readContent(disk, path, hash)
        .andThen((bytes) => parseStored(path, bytes, parseCompiledWorkflow))
        .map((workflow) => {
          kept.set(hash, workflow);
          return workflow;
        })
        .orElse((failure) => err(otherWorkflow(parts, hash) ?? failure));
    },
  };
}

/** The workflow that is stored in the place of another. The same workflow in another spelling is plain damage. */
function otherWorkflow({ disk, sha256 }: FileStoreParts, hash: WorkflowHash): OtherWorkflowStored | undefined {
  const place = layout.pinnedWorkflow(hash);
  const found = accessingNow('read content', place, () => disk.fs.read(join(disk.root, place)) ?? new Uint8Array())
    .andThen((bytes): Result<CompiledWorkflow, StoreFailure> => parseStored(place, bytes, parseCompiledWorkflow))
    .andThen((workflow) => canonicalBytes(workflow))
    .map((bytes) => sha256(bytes) as string as WorkflowHash)
    .unwrapOr(hash);
  return found === hash ? undefined : { code: 'other_workflow_stored', place, found };
}

const SNAPSHOTS_KEPT = 256;

export type FileSnapshots = SnapshotStore & {
  /** Caches what was just stored: the same process is about to read it. */
  remember(snapshots: ReadonlyMap<SnapshotRef, ExecutionSnapshot>): void;
};

export function fileSnapshots(
  parts: FileStoreParts,
  workflows: Pick<PinnedWorkflows, 'get'> = filePinnedWorkflows(parts),
): FileSnapshots {
  const { disk } = parts;
  const kept = boundedCache<SnapshotRef, ExecutionSnapshot>(SNAPSHOTS_KEPT);
  return {
    remember: (snapshots) => {
      for (const [ref, snapshot] of snapshots) kept.set(ref, snapshot);
    },
    get: async (ref) => {
      const known = kept.get(ref);
      if (known !== undefined) return ok(known);
      const path = layout.snapshot(ref);
      const read = readContent(disk, path, ref).andThen((bytes) => parseStored(path, bytes, parseSnapshot));
      if (read.isErr()) return read;
      const snapshot = read.value;
      // If the workflow cannot be read, reading the workflow itself reports that.
      const workflow = await workflows.get(snapshot.workflowHash);
      if (workflow.isOk() && !isSnapshotOf(workflow.value, snapshot)) {
        return err(damagedContent(path, 'content_wrong_shape'));
      }
      kept.set(ref, snapshot);
      return ok(snapshot);
    },
  };
}

/** Artifacts are read rarely, so none is cached. */
export function fileArtifacts(disk: Disk): ArtifactStore {
  return {
    get: async (digest) => readContent(disk, layout.artifact(digest), digest),
    getJson: async (digest) => {
      const path = layout.artifact(digest);
      return readContent(disk, path, digest).andThen((bytes) =>
        parseStored(path, bytes, (value) => parseDocument(jsonObjectSchema, value)).map((value) => ({ value, bytes })),
      );
    },
  };
}

/** The place of content and the hash that names it. */
type ContentName = { readonly path: string; readonly digest: string };

/**
 * Stores content under its hash. Identical content that exists stays, but is touched, because collection spares young
 * files. Another process may not have flushed the name yet, so it is flushed here too.
 */
export async function putContent(disk: Disk, { path, digest }: ContentName, bytes: Uint8Array): Promise<void> {
  assert(digestOf(bytes) === digest, `${path} is named by its content`);
  const target = join(disk.root, path);
  if (!isPresent(disk, target, bytes)) return putFile(disk, path, bytes);
  await disk.fs.touch(target);
  await disk.fs.syncDir(dirname(target));
}

/** Most content is new, so the file is opened only if its length matches. */
function isPresent({ fs }: Disk, target: string, bytes: Uint8Array): boolean {
  if (fs.size(target) !== bytes.length) return false;
  const present = fs.read(target);
  return present !== undefined && Buffer.compare(present, bytes) === 0;
}

/** Reads content and checks it against its digest. */
export function readContent(disk: Disk, path: string, digest: string): Result<Uint8Array, StoreFailure> {
  return accessingNow('read content', path, () => disk.fs.read(join(disk.root, path))).andThen((bytes) => {
    if (bytes === undefined) return err(damagedContent(path, 'content_missing'));
    return digestOf(bytes) === digest ? ok(bytes) : err(damagedContent(path, 'content_digest_mismatch'));
  });
}

export function digestOf(bytes: Uint8Array): string {
  return `sha256:${hash('sha256', bytes)}`;
}
