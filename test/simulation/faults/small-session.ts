import { join } from 'node:path';
import { layout } from '../../../src/adapters/file-store/disk/disk.ts';
import { canonicalLines, type Sha256Digest } from '../../../src/core/json/canonical-json.ts';
import type { StoredReply } from '../../../src/core/log/events/graph-events.ts';
import type { EventIndex, SessionId } from '../../../src/core/log/ids.ts';
import { chainGenesis, segmentRelPath } from '../../../src/core/log/manifest.ts';
import { type AppendPlan, manifestRecords, sealPlan } from '../../../src/core/log/plan/append-plan.ts';
import { HASHES, sha256 } from '../../examples/sha256.ts';
import { type SessionWriter, sessionWriter } from '../session-writer.ts';

/** A plan, and every byte that its append must leave behind. */
export type ExpectedAppend = {
  readonly plan: AppendPlan;
  readonly segment: { readonly place: string; readonly bytes: Uint8Array };
  readonly manifestLines: Uint8Array;
  /** The number of events once it is there. */
  readonly events: number;
  readonly replies: readonly (readonly [EventIndex, StoredReply])[];
};

/** Start, advance with a note and an artifact, block, checkpoint with two artifacts, fork that ends the run, late notes. */
export const SMALL_SESSION: readonly ExpectedAppend[] = expectedAppends(writeSmallSession());

export const SMALL_SESSION_ID: SessionId = sessionIdOf(SMALL_SESSION);

/** The whole manifest behind so many appends. */
export function manifestBehind(appends: number): Uint8Array {
  return Buffer.concat(SMALL_SESSION.slice(0, appends).map(({ manifestLines }) => manifestLines));
}

/** The whole lines of a manifest without signatures and chain: a store signs what it appends, and the chain covers that. */
export function unsignedRecords(manifest: Uint8Array | undefined): readonly string[] {
  const lines = Buffer.from(manifest ?? [])
    .toString()
    .split('\n')
    .slice(0, -1);
  return lines.map((line) => line.replace(/"chain":"[^"]*",?/, '').replace(/"sig":\{[^}]*\},?/, ''));
}

function writeSmallSession(): SessionWriter {
  const writer = sessionWriter();
  const root = writer.startRun({ context: { goal: 'small' } });
  const second = writer.advance(root, { note: { name: 'a', text: 'done' }, artifacts: [{ name: 'b' }] });
  writer.block(second, { note: { name: 'c', text: 'half done' } });
  writer.checkpoint(second, { artifacts: [{ name: 'd' }, { name: 'e' }] });
  writer.advance(root, { note: { name: 'f', text: 'anew' } }, 'complete');
  writer.record(second, { gaps: [{ name: 'g' }] });
  return writer;
}

function expectedAppends({ plans }: SessionWriter): readonly ExpectedAppend[] {
  let tail: { nextManifestIndex: number; chain: Sha256Digest } | undefined;
  let events = 0;
  return plans.map((plan) => {
    const { segment: bytes } = sealPlan(plan, events, HASHES)._unsafeUnwrap();
    tail ??= { nextManifestIndex: 0, chain: chainGenesis(plan.sessionId, sha256) };
    const records = manifestRecords(plan, { bytes, tail }, sha256);
    tail = { nextManifestIndex: tail.nextManifestIndex + records.length, chain: records.at(-1)?.chain ?? tail.chain };
    const first = events;
    events += plan.events.length;
    return {
      plan,
      segment: { place: join(layout.session(plan.sessionId), segmentRelPath(first, events - 1)), bytes },
      manifestLines: canonicalLines(records)._unsafeUnwrap(),
      events,
      replies: plan.events.flatMap((event) =>
        event.kind === 'advance_recorded' ? [[event.eventIndex, event.data.reply] as const] : [],
      ),
    };
  });
}

function sessionIdOf([first]: readonly ExpectedAppend[]): SessionId {
  if (first === undefined) throw new Error('a session has plans');
  return first.plan.sessionId;
}
