import { nodeBundleTools } from '../../src/adapters/bundle.ts';
import { storeKeyOf } from '../../src/adapters/system.ts';
import { canonicalLines, ownJsonBytes } from '../../src/core/json/canonical-json.ts';
import { defined, type JsonValue } from '../../src/core/json/json-value.ts';
import { type SessionEvent, takeAsParsed } from '../../src/core/log/event.ts';
import type { SessionId } from '../../src/core/log/ids.ts';
import { chainGenesis, type LogSigner, type ManifestRecord } from '../../src/core/log/manifest.ts';
import { manifestRecords } from '../../src/core/log/plan/append-plan.ts';
import { makePassport, type PassportMaking, type PassportSource } from '../../src/core/passport/make-passport.ts';
import {
  cleanTreeDigest,
  PAYLOAD_TYPE,
  type PassportStatement,
  preAuthEncoding,
} from '../../src/core/passport/passport.ts';
import { signingKey } from '../../src/core/token/keyring.ts';
import { foldEvents } from '../../src/core/views/session-view.ts';
import { sha256 } from '../examples/sha256.ts';
import { type RandomHistory, randomHistory } from '../simulation/random-history.ts';
import { type SeededRandom, seededRandom } from '../simulation/seeded-random.ts';
import { sessionWriter } from '../simulation/session-writer.ts';
import { SMALL_WORKFLOW_TEXT } from '../store-folder.ts';

export const KEY = storeKeyOf(signingKey(new Uint8Array(32).fill(21)));
export const OTHER_KEY = storeKeyOf(signingKey(new Uint8Array(32).fill(22)));
export const TREE = 'c'.repeat(40);
export const TOOLS = nodeBundleTools;

/** The events of a session, append by append. */
export type Log = Pick<RandomHistory, 'snapshots'> & {
  readonly sessionId: SessionId;
  readonly appends: readonly (readonly SessionEvent[])[];
  readonly contents?: PassportSource['contents'];
};

/** A log as a store takes it, append by append. */
export type WrittenLog = Log & Pick<RandomHistory, 'plans'>;

/** A legal session with gaps, approvals, rejections and checks, of which some ran on the tree of the passport. */
export function randomLog(
  seed: number,
  eventsMin = 20,
  asSession: { readonly sessionId?: SessionId } = {},
): WrittenLog {
  const random = seededRandom(seed);
  const { plans, snapshots } = randomHistory({
    seed,
    eventsMin,
    ...asSession,
    workflowText: SMALL_WORKFLOW_TEXT,
    at: () => 1_700_000_000_000 + random.below(1e6),
  });
  const sessionId = plans[0]?.sessionId as SessionId;
  const changed = plans.map((plan) => ({ ...plan, events: plan.events.map((event) => withChecks(event, random)) }));
  const contents = new Map(
    plans.flatMap(({ artifacts }) =>
      [...artifacts].map(([name, bytes]) => [name, TOOLS.parseJson(bytes)._unsafeUnwrap() as JsonValue] as const),
    ),
  );
  return { sessionId, snapshots, contents, plans: changed, appends: changed.map(({ events }) => events) };
}

/** A run with a few answers about two drafts, one after the other. */
export function answeredLog(seed: number): Log {
  const random = seededRandom(seed);
  const writer = sessionWriter({});
  let at = writer.startRun({ context: { goal: 'go' } });
  for (let i = 4 + random.below(4); i > 0; i--) at = writer.block(at, { others: ['attestation_recorded'] });
  writer.advance(at, { note: { name: 'n', text: 'done' } }, 'complete');
  const appends = writer.plans.map(({ events }) => events.map((event) => withChecks(event, random)));
  return { sessionId: writer.plans[0]?.sessionId as SessionId, snapshots: writer.snapshots, appends };
}

function withChecks(event: SessionEvent, random: SeededRandom): SessionEvent {
  const [stepId, checkId] = ['one', random.pick(['tests', 'lint'])];
  if (event.kind === 'attestation_recorded' && random.chance(0.5)) {
    const treeDigest = random.chance(0.5) ? cleanTreeDigest(TREE, { sha256 }) : `sha256:${'b'.repeat(64)}`;
    const result = { exitCode: 0, timedOut: false, durationMs: 1.5e3, commandDigest: `sha256:${'d'.repeat(64)}` };
    const subject = { kind: 'step', stepId, loopPath: [], snapshotRef: `sha256:${'e'.repeat(64)}` };
    const statement = {
      kind: 'check',
      checkId,
      ...result,
      ...(random.chance(0.8) ? { treeDigest } : {}),
      ...(random.chance(0.2) ? { folder: 'docs' } : {}),
      ...(random.chance(0.7) ? { headSha: random.pick(['e', 'f']).repeat(40) } : {}),
    };
    const by = { ...event.data.by, ...(random.chance(0.4) ? { via: 'ci' } : {}) };
    return takeAsParsed({ ...event, data: { ...event.data, subject, statement, by } });
  }
  if (event.kind === 'attestation_recorded' && event.data.subject.kind === 'attempt') {
    const subject = { ...event.data.subject, digest: `sha256:${random.pick(['1', '2']).repeat(64)}` };
    const statement = { kind: random.pick(['approved', 'rejected']), shown: 'whole' };
    return takeAsParsed({ ...event, data: { ...event.data, subject, statement } });
  }
  if (event.kind === 'advance_recorded' && event.data.outcome.kind === 'advanced' && random.chance(0.5)) {
    const grade = random.pick([{ grade: 'observed' }, { grade: 'reported' }, {}]);
    return takeAsParsed({
      ...event,
      data: { ...event.data, checks: [{ stepId, checkId, minimum: 'observed', ...grade }] },
    });
  }
  return event;
}

/** The records of a log, each append signed as asked. */
export function recordsOf(
  log: Log,
  signer: (append: number) => LogSigner | undefined = () => KEY,
): readonly ManifestRecord[] {
  const records: ManifestRecord[] = [];
  for (const [i, events] of log.appends.entries()) {
    const chain = records.at(-1)?.chain ?? chainGenesis(log.sessionId, sha256);
    const plan = { sessionId: log.sessionId, events, snapshots: new Map(), artifacts: new Map() };
    const bytes = canonicalLines(events)._unsafeUnwrap();
    records.push(
      ...manifestRecords(
        plan,
        { bytes, tail: { nextManifestIndex: records.length, chain }, signer: signer(i) },
        sha256,
      ),
    );
  }
  return records;
}

/** The records, append by append. */
export function appendsOf(records: readonly ManifestRecord[]): PassportSource['appends'] {
  return records.flatMap((segment, i) => {
    if (segment.kind !== 'segment_closed') return [];
    const pins = records.slice(i + 1, i + 1 + segment.pins).filter((record) => record.kind === 'snapshot_pinned');
    return [{ segment, pins }];
  });
}

export function sourceOf(log: Log, records: readonly ManifestRecord[] = recordsOf(log)): PassportSource {
  const events = log.appends.flat();
  const { sessionId, snapshots, contents = new Map() } = log;
  return { sessionId, events, appends: appendsOf(records), snapshots, contents, view: foldEvents(events) };
}

export const NOTHING = { kinds: [], events: [] };

export function passportOf(source: PassportSource, making: Partial<PassportMaking> = {}) {
  return makePassport(source, {
    subject: { commit: 'f'.repeat(40), tree: TREE },
    withholding: NOTHING,
    made: { at: '2026-01-01T00:00:00.000Z', by: 'workrail 0' },
    tools: TOOLS,
    saltOf: KEY.saltOf,
    key: KEY,
    keys: [KEY.publicKey, OTHER_KEY.publicKey],
    ...making,
  });
}

/** A finished run with a check and an approval, about a tree. */
type About = {
  readonly ran?: string;
  readonly grade?: string;
  readonly said?: string;
  /** Where the check ran, if that is not the top. */
  readonly folder?: string;
  /** The commit on which CI ran the check, if CI did. */
  readonly ci?: string;
  /** The commit that the run saw at its start. */
  readonly seen?: string;
};

export function passportAbout(
  tree: string,
  { ran = tree, grade = 'observed', said = 'approved', folder, ci, seen: commit }: About = {},
): Uint8Array {
  const writer = sessionWriter({});
  const observed = commit === undefined ? {} : { git_head_sha: commit };
  const root = writer.startRun({ context: { goal: 'go' }, observed });
  const blocked = writer.block(root, { others: ['attestation_recorded'] });
  const checked = writer.block(blocked, { others: ['attestation_recorded'] });
  writer.advance(checked, { note: { name: 'n', text: 'done' } }, 'complete');
  let seen = 0;
  const about = { headSha: 'f'.repeat(40), treeDigest: cleanTreeDigest(ran, { sha256 }) };
  const appends = writer.plans.map(({ events }) =>
    events.map((event) => {
      if (event.kind === 'advance_recorded' && event.data.outcome.kind === 'advanced') {
        const checks = [{ stepId: 'one', checkId: 'tests', minimum: 'reported', grade }];
        return takeAsParsed({ ...event, data: { ...event.data, checks } });
      }
      if (event.kind === 'observation_recorded') {
        return takeAsParsed({ ...event, data: { ...event.data, value: { type: 'git_sha1', value: commit } } });
      }
      if (event.kind !== 'attestation_recorded') return event;
      seen += 1;
      const approval = {
        subject: { kind: 'attempt', digest: `sha256:${'a'.repeat(64)}`, workspace: about },
        statement: { kind: said, shown: 'whole' },
      };
      const check = {
        subject: { kind: 'step', stepId: 'one', loopPath: [], snapshotRef: `sha256:${'e'.repeat(64)}` },
        statement: {
          kind: 'check',
          checkId: 'tests',
          exitCode: 0,
          timedOut: false,
          durationMs: 1,
          commandDigest: `sha256:${'d'.repeat(64)}`,
          ...(ci === undefined ? about : { headSha: ci }),
          ...defined({ folder }),
        },
        ...(ci === undefined ? {} : { by: { ...event.data.by, via: 'ci' } }),
      };
      return takeAsParsed({ ...event, data: { ...event.data, ...(seen === 1 ? approval : check) } });
    }),
  );
  const events = appends.flat();
  const log: Log = { sessionId: events[0]?.sessionId as never, snapshots: writer.snapshots, appends };
  return passportOf(sourceOf(log), { subject: { commit: 'f'.repeat(40), tree } }).bytes;
}

const TEST_RUN = {
  kind: 'check',
  checkId: 'tests',
  timedOut: false,
  durationMs: 1,
  commandDigest: `sha256:${'d'.repeat(64)}`,
};

/**
 * A run whose tests passed twice on one branch, and failed on the tree of the passport on a branch that began later. The
 * run ended on the first branch. The result is the passport, with the indexes of all three runs of the tests.
 */
export function branchedPassport() {
  const writer = sessionWriter({});
  const root = writer.startRun({ context: { goal: 'go' } });
  const [here, there] = [writer.advance(root), writer.advance(root)];
  const attest = { others: ['attestation_recorded'] as const };
  const again = writer.block(writer.block(here, attest), attest);
  writer.block(there, attest);
  writer.advance(again, { note: { name: 'n', text: 'done' } }, 'complete');
  const digests = ['a', 'b', TREE].map((tree) => cleanTreeDigest(tree, { sha256 }));
  let seen = 0;
  const appends = writer.plans.map(({ events }) =>
    events.map((event) => {
      if (event.kind === 'advance_recorded' && event.data.outcome.kind === 'advanced') {
        const checks = [{ stepId: 'one', checkId: 'tests', minimum: 'observed', grade: 'observed' }];
        return seen < 3 ? event : takeAsParsed({ ...event, data: { ...event.data, checks } });
      }
      if (event.kind !== 'attestation_recorded') return event;
      const isRed = seen === 2;
      const statement = { ...TEST_RUN, exitCode: isRed ? 1 : 0, headSha: 'f'.repeat(40), treeDigest: digests[seen++] };
      const subject = { kind: 'step', stepId: 'one', loopPath: [], snapshotRef: `sha256:${'e'.repeat(64)}` };
      return takeAsParsed({ ...event, data: { ...event.data, subject, statement } });
    }),
  );
  const sessionId = appends[0]?.[0]?.sessionId as SessionId;
  const made = passportOf(sourceOf({ sessionId, snapshots: writer.snapshots, appends }));
  const runs = appends.flat().flatMap(({ kind, eventIndex }) => (kind === 'attestation_recorded' ? [eventIndex] : []));
  return { ...made, runs };
}

/** A statement, signed by the store. */
export function resealed(statement: PassportStatement): Uint8Array {
  const payload = ownJsonBytes(statement);
  const signature = { keyid: KEY.keyid, sig: KEY.signBytes(preAuthEncoding(payload)) };
  return ownJsonBytes({ payload: TOOLS.toBase64(payload), payloadType: PAYLOAD_TYPE, signatures: [signature] });
}
