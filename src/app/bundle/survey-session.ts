import { err, ok, type Result } from 'neverthrow';
import { assert } from '../../core/assert.ts';
import { BUNDLE_DEPTH_MAX, BUNDLE_EVENTS_MAX, type IntegrityEntry } from '../../core/bundle/bundle-document.ts';
import type { BundleTools } from '../../core/bundle/bundle-tools.ts';
import { listDigest, segmentLines } from '../../core/bundle/digest-lists.ts';
import { isTooDeep } from '../../core/bundle/json-walk.ts';
import type { OnProgress } from '../../core/flow.ts';
import { type CanonicalBytes, canonicalLines, ownJsonBytes } from '../../core/json/canonical-json.ts';
import { isObject } from '../../core/json/json-value.ts';
import { type Salvage, salvageSchema } from '../../core/log/health.ts';
import type { ArtifactDigest, SnapshotRef, WorkflowHash } from '../../core/log/ids.ts';
import { chainGenesis, chainOf } from '../../core/log/manifest.ts';
import { encodeUtf8 } from '../../core/text/utf8.ts';
import type { LoadRefusal, LoggedAppend, SessionLog } from '../ports/session-store.ts';
import { type LoggedPlan, type LogReader, readIntactPart } from './read-intact-part.ts';

/** More than a bundle may hold, so that nobody could import it. */
export type TooLargeToShare = {
  readonly code: 'session_too_large';
  readonly measure: 'bytes' | 'events' | 'depth';
  readonly size: number;
  readonly max: number;
};

/** What goes into a bundle: all of a session, or what can be trusted. */
export type Survey = {
  readonly appends: readonly SharedAppend[];
  readonly entries: readonly IntegrityEntry[];
  readonly salvage: Salvage | undefined;
  readonly events: number;
  /** Sorted as in a bundle. */
  readonly artifacts: readonly ArtifactDigest[];
  readonly workflows: readonly WorkflowHash[];
  readonly snapshots: readonly SnapshotRef[];
};

/** An append as it is stored, and its records as they are shared. */
export type SharedAppend = { readonly stored: LoggedAppend; readonly shared: LoggedAppend };

export type SurveyOptions = {
  /** Keeps the git identity, and with it the log as it was signed. */
  readonly keepsAuthor: boolean;
  readonly onProgress: OnProgress;
};

/** Reads a session as an import would, up to where it cannot be trusted, and measures each part. */
export async function surveySession(
  services: LogReader,
  log: SessionLog,
  { keepsAuthor, onProgress }: SurveyOptions,
): Promise<Result<Survey, LoadRefusal | TooLargeToShare>> {
  const { tools } = services;
  const content = contentEntries(tools);
  const digests = { events: listDigest(tools), manifest: listDigest(tools) };
  const appends: SharedAppend[] = [];
  const share = keepsAuthor
    ? (append: LoggedAppend, segment: CanonicalBytes) => ({ append, segment })
    : withoutAuthors(log, tools);
  let isTooNested = false;
  const intact = await readIntactPart(services, log, {
    onProgress,
    each: ({ append: stored, segment: storedSegment, ...logged }) => {
      const { append, segment } = share(stored, storedSegment);
      for (const line of segmentLines(segment)) {
        isTooNested ||= isTooDeep(line);
        digests.events.add(line);
      }
      for (const record of [append.segment, ...append.pins]) digests.manifest.add(ownJsonBytes(record));
      isTooNested = content.add(logged) || isTooNested;
      appends.push({ stored, shared: append });
    },
  });
  if (intact.isErr()) return err(intact.error);
  const { view, health } = intact.value;
  const events = view.nextEventIndex;
  if (events > BUNDLE_EVENTS_MAX) return err(tooLarge('events', events, BUNDLE_EVENTS_MAX));
  if (isTooNested) return err(tooLarge('depth', BUNDLE_DEPTH_MAX + 1, BUNDLE_DEPTH_MAX));
  const salvage = health && salvageSchema.parse({ health, lastEventIndex: events - 1 });
  const entries = [
    ...content.entries.values(),
    { path: 'session/events', ...digests.events.end() },
    { path: 'session/manifest', ...digests.manifest.end() },
    ...(salvage === undefined ? [] : [entryOf('session/salvage', ownJsonBytes(salvage), tools)]),
  ];
  return ok({ appends, entries, salvage, events, ...content.sorted() });
}

const AUTHOR_KEY = encodeUtf8('"author"');

/**
 * The same log without git identities. From the first one on, digests and chain are those of the shared events, and
 * nothing is signed: the signatures are over what the store holds.
 */
function withoutAuthors({ sessionId }: SessionLog, tools: BundleTools) {
  const { sha256 } = tools;
  let chain = chainGenesis(sessionId, sha256);
  let isChanged = false;
  return (append: LoggedAppend, segment: CanonicalBytes): { append: LoggedAppend; segment: CanonicalBytes } => {
    const lines = contains(segment, AUTHOR_KEY) ? authorless(segment, tools) : undefined;
    isChanged ||= lines !== undefined;
    if (!isChanged) {
      chain = (append.pins.at(-1) ?? append.segment).chain;
      return { append, segment };
    }
    const bytes = lines ?? segment;
    const { sig: _, chain: __, ...record } = { sig: undefined, ...append.segment };
    const changed = { ...record, sha256: sha256(bytes), bytes: bytes.length };
    chain = chainOf(chain, changed, sha256);
    const shared = { ...changed, chain };
    const pins = append.pins.map((pin) => {
      chain = chainOf(chain, pin, sha256);
      return { ...pin, chain };
    });
    return { append: { segment: shared, pins }, segment: bytes };
  };
}

/** A segment without authors; `undefined` if it has none. */
function authorless(segment: CanonicalBytes, { parseJson }: BundleTools): CanonicalBytes | undefined {
  const events = [...segmentLines(segment)].map((line) => parseJson(line).unwrapOr(undefined));
  const shared = events.map(sharedEvent);
  if (shared.every((event, i) => event === events[i])) return undefined;
  const lines = canonicalLines(shared);
  assert(lines.isOk(), 'what is stored is JSON');
  return lines.value;
}

/** An event without the git identity. */
export function sharedEvent(event: unknown): unknown {
  if (!isObject(event) || !isObject(event['by']) || !Object.hasOwn(event['by'], 'author')) return event;
  const { author: _, ...by } = event['by'];
  return { ...event, by };
}

function contains(bytes: Uint8Array, part: Uint8Array): boolean {
  const [first = 0] = part;
  for (let at = bytes.indexOf(first); at !== -1; at = bytes.indexOf(first, at + 1)) {
    if (part.every((byte, i) => bytes[at + i] === byte)) return true;
  }
  return false;
}

/** Collects content, each piece once. */
function contentEntries(tools: BundleTools) {
  const entries = new Map<string, IntegrityEntry>();
  const names = {
    artifacts: new Set<ArtifactDigest>(),
    workflows: new Set<WorkflowHash>(),
    snapshots: new Set<SnapshotRef>(),
  };
  const put = (path: string, value: () => unknown): boolean => {
    if (entries.has(path)) return false;
    const bytes = ownJsonBytes(value());
    entries.set(path, entryOf(path, bytes, tools));
    return isTooDeep(bytes);
  };
  return {
    entries,
    /** Returns whether something is nested too deeply. */
    add: ({ plan, workflows }: LoggedPlan): boolean => {
      let isTooNested = false;
      for (const [digest, bytes] of plan.artifacts) {
        names.artifacts.add(digest);
        put(`session/artifacts/${digest}`, () => tools.toBase64(bytes));
      }
      for (const [hash, workflow] of workflows) {
        names.workflows.add(hash);
        isTooNested = put(`session/pinnedWorkflows/${hash}`, () => workflow) || isTooNested;
      }
      for (const [ref, snapshot] of plan.snapshots) {
        names.snapshots.add(ref);
        isTooNested = put(`session/snapshots/${ref}`, () => snapshot) || isTooNested;
      }
      return isTooNested;
    },
    sorted: () => ({
      artifacts: [...names.artifacts].sort(),
      workflows: [...names.workflows].sort(),
      snapshots: [...names.snapshots].sort(),
    }),
  };
}

function entryOf(path: string, bytes: CanonicalBytes, { sha256 }: BundleTools): IntegrityEntry {
  return { path, sha256: sha256(bytes), bytes: bytes.length };
}

function tooLarge(measure: TooLargeToShare['measure'], size: number, max: number): TooLargeToShare {
  return { code: 'session_too_large', measure, size, max };
}
