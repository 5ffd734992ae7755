import pg from 'pg';
import { openDatabase } from '../../../src/adapters/postgres-store/database.ts';
import { postgresStore } from '../../../src/adapters/postgres-store/postgres-store.ts';
import { nodeHasher } from '../../../src/adapters/system.ts';
import type { StoredReply } from '../../../src/core/log/events/graph-events.ts';
import type { SessionId } from '../../../src/core/log/ids.ts';
import { fillReply } from '../../../src/core/log/operation/stored-reply.ts';
import { fromBase32 } from '../../../src/core/text/binary-text.ts';
import { type Acknowledged, type AgentCall, type Journal, type Violation, withoutTokens } from './journal.ts';

/** What the database holds at the end. */
export type Checked = {
  readonly violations: readonly Violation[];
  readonly sessions: number;
  readonly advances: number;
};

type Event = {
  readonly kind: string;
  readonly eventIndex: number;
  readonly scope?: { readonly runId?: string; readonly nodeId?: string };
  readonly data: {
    readonly attemptId?: number;
    readonly reply?: StoredReply;
    readonly context?: { readonly goal?: string };
    readonly parentNodeId?: string | null;
    readonly nodeKind?: string;
  };
};
type Session = { readonly space: string; readonly sessionId: string; readonly events: readonly Event[] };

/**
 * Holds the database against what agents heard, reply by reply: each is in the log once, in the order in which it was
 * heard, and nothing is there that nobody sent.
 */
export async function checkDatabase(url: string, journal: Journal): Promise<Checked> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const sessions = await readSessions(client);
  const violations = [...(await unsound(client, url)), ...sessions.flatMap((session) => forks(session))];
  await client.end();
  const attempts = new Map(sessions.map((session) => [`${session.space}/${session.sessionId}`, attemptsIn(session)]));
  for (const [place, recorded] of attempts) {
    for (const [attempt, { length }] of recorded) {
      if (length > 1) violations.push({ kind: 'twice', what: `${place} recorded ${attempt} ${length} times` });
    }
  }
  violations.push(...startsOf(sessions, journal), ...strangers(attempts, journal), ...unheard(attempts, journal));
  const advances = [...attempts.values()].reduce((sum, recorded) => sum + recorded.size, 0);
  return { violations, sessions: sessions.length, advances };
}

async function readSessions(client: pg.Client): Promise<readonly Session[]> {
  const { rows } = await client.query(
    `select p.name as space, a.session_id, string_agg(convert_from(a.events, 'UTF8'), '' order by a.first_event_index) as lines
     from wr.append a join wr.space p on p.space_id = a.space_id group by p.name, a.session_id`,
  );
  return (rows as { space: string; session_id: string; lines: string }[]).map(({ space, session_id, lines }) => ({
    space,
    sessionId: session_id,
    events: lines
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Event),
  }));
}

/** Digests, chains, heads and references, read as a replica that has cached nothing reads them. */
async function unsound(client: pg.Client, url: string): Promise<readonly Violation[]> {
  const found: Violation[] = [];
  const database = openDatabase({ url });
  const { rows } = await client.query('select space_id, session_id from wr.session where next_event_index > 0');
  for (const { space_id: spaceId, session_id: sessionId } of rows as { space_id: number; session_id: SessionId }[]) {
    const parts = { database, spaceId, sha256: nodeHasher.sha256, masterKey: () => Buffer.alloc(32) };
    const read = await postgresStore(parts).sessions.load(sessionId);
    if (read.isErr()) found.push({ kind: 'damaged', what: `${sessionId}: ${JSON.stringify(read.error)}` });
  }
  await database.close();
  const dangling = await client.query(
    `select a.session_id, r->>'snapshotRef' as ref from wr.append a, jsonb_array_elements(a.records) r
     where r->>'kind' = 'snapshot_pinned' and not exists (select 1 from wr.content c
       where c.space_id = a.space_id and c.kind = 1 and 'sha256:' || encode(c.digest, 'hex') = r->>'snapshotRef')`,
  );
  for (const row of dangling.rows) found.push({ kind: 'dangling', what: JSON.stringify(row) });
  return found;
}

/** Agents of this run never go back, so no step has two ways on. */
function forks({ sessionId, events }: Session): readonly Violation[] {
  const children = new Map<string, number>();
  for (const { kind, data } of events) {
    if (kind !== 'node_created' || data.nodeKind !== 'step' || typeof data.parentNodeId !== 'string') continue;
    children.set(data.parentNodeId, (children.get(data.parentNodeId) ?? 0) + 1);
  }
  const forked = [...children].filter(([, count]) => count > 1);
  const gaps = events.filter(({ eventIndex }, at) => eventIndex !== at);
  return [
    ...forked.map(
      ([node, count]): Violation => ({ kind: 'fork', what: `${sessionId}: ${node} has ${count} next steps` }),
    ),
    ...gaps
      .slice(0, 1)
      .map(({ eventIndex }): Violation => ({ kind: 'damaged', what: `${sessionId}: index ${eventIndex}` })),
  ];
}

type Attempts = ReadonlyMap<string, readonly Event[]>;

/** What was recorded, by the event of its node and its number. */
function attemptsIn({ events }: Session): Attempts {
  const nodes = new Map<string, number>();
  const attempts = new Map<string, Event[]>();
  for (const event of events) {
    const nodeId = event.scope?.nodeId ?? '';
    if (event.kind === 'node_created') nodes.set(nodeId, event.eventIndex);
    if (event.kind !== 'advance_recorded') continue;
    const key = `${nodes.get(nodeId)}/${event.data.attemptId}`;
    attempts.set(key, [...(attempts.get(key) ?? []), event]);
  }
  return attempts;
}

type Named = { readonly session: string; readonly attempt: string };
/** A call with the space that it was sent to. */
type SentCall = { readonly space: string; readonly call: AgentCall };

const SESSION_AT = 1;
const EVENT_INDEX_AT = 11;
const ATTEMPT_AT = 15;
const BODY_LENGTH = 44;

/** The attempt that an ack token names; nobody has to trust its signature here. */
function attemptOf({ space, call: { arguments: args } }: SentCall): Named | undefined {
  const { ackToken } = args as { readonly ackToken?: string };
  const bytes = ackToken === undefined ? undefined : fromBase32(`${ackToken.slice(-BODY_LENGTH)}0`);
  if (bytes === undefined) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const session = `${space}/${Buffer.from(bytes.subarray(SESSION_AT, EVENT_INDEX_AT)).toString('hex')}`;
  return { session, attempt: `${view.getUint32(EVENT_INDEX_AT)}/${view.getUint16(ATTEMPT_AT)}` };
}

const bitsOf = (sessionId: string) => Buffer.from(fromBase32(sessionId.slice(-16)) ?? []).toString('hex');

function byBits(attempts: ReadonlyMap<string, Attempts>): ReadonlyMap<string, Attempts> {
  return new Map([...attempts].map(([place, recorded]) => [`${place.split('/')[0]}/${bitsOf(place)}`, recorded]));
}

/** What was recorded although nobody has sent it. */
function strangers(attempts: ReadonlyMap<string, Attempts>, { sent }: Journal): readonly Violation[] {
  const known = new Set([...sent].map(attemptOf).map((named) => `${named?.session}/${named?.attempt}`));
  return [...byBits(attempts)].flatMap(([session, recorded]) =>
    [...recorded.keys()]
      .filter((attempt) => !known.has(`${session}/${attempt}`))
      .map((attempt): Violation => ({ kind: 'stranger', what: `${session} recorded ${attempt}` })),
  );
}

/** What was heard and is not in the log, or not as it was heard, or not in that order. */
function unheard(attempts: ReadonlyMap<string, Attempts>, { acknowledged }: Journal): readonly Violation[] {
  const violations: Violation[] = [];
  const recorded = byBits(attempts);
  const heardIn = new Map<string, { readonly heard: Acknowledged; readonly index: number }[]>();
  for (const heard of acknowledged) {
    const named = attemptOf(heard);
    if (named === undefined) continue;
    const what = `agent ${heard.agent}: ${named.session} ${named.attempt}`;
    const event = recorded.get(named.session)?.get(named.attempt)?.[0];
    if (event?.data.reply === undefined) {
      violations.push({ kind: 'lost', what, heardAt: heard.heardAt });
      continue;
    }
    if (!isRecordedReply(event.data.reply, heard.reply)) violations.push({ kind: 'differs', what });
    const line = heardIn.get(named.session) ?? [];
    line.push({ heard, index: event.eventIndex });
    heardIn.set(named.session, line);
  }
  for (const [session, line] of heardIn) {
    for (const { heard, index } of line.filter((one) => !isReplay(line, one.heard))) {
      // Whatever was heard before this call was sent is before it in the log.
      const earlier = line.filter((other) => other.heard.heardAt < heard.sentAt).map((other) => other.index);
      if (Math.max(-1, ...earlier) < index) continue;
      violations.push({ kind: 'out_of_order', what: `${session}: ${index} after ${Math.max(...earlier)}` });
    }
  }
  return violations;
}

/** Whether the same call had got its reply before. */
function isReplay(line: readonly { readonly heard: Acknowledged }[], { call, sentAt }: Acknowledged): boolean {
  return line.some(({ heard }) => heard.call === call && heard.heardAt < sentAt);
}

const BLANKS = {
  sessionId: 'SESSION',
  stateToken: 'TOKEN',
  ackToken: 'TOKEN',
  checkpointToken: 'TOKEN',
  againToken: 'TOKEN',
};

function isRecordedReply(stored: StoredReply, reply: string): boolean {
  const { text, structured } = fillReply(stored, BLANKS);
  const { content, structuredContent } = JSON.parse(withoutTokens(reply)) as {
    readonly content: readonly { readonly text: string }[];
    readonly structuredContent: object;
  };
  return content[0]?.text === text && JSON.stringify(sorted(structuredContent)) === JSON.stringify(sorted(structured));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}

/** Every start is one run: none twice, and none that was heard of is missing. */
function startsOf(sessions: readonly Session[], { sent, acknowledged }: Journal): readonly Violation[] {
  const goals = new Map<string, number>();
  for (const { space, events } of sessions) {
    for (const { kind, data } of events) {
      const goal =
        kind === 'context_set' && data.context?.goal !== undefined ? `${space}: ${data.context.goal}` : undefined;
      if (goal !== undefined) goals.set(goal, (goals.get(goal) ?? 0) + 1);
    }
  }
  const known = new Set([...sent].map(goalOf));
  const heard = acknowledged.map((one) => ({ goal: goalOf(one), heardAt: one.heardAt }));
  return [
    ...[...goals].flatMap(([goal, count]): readonly Violation[] => [
      ...(count > 1 ? [{ kind: 'twice', what: `${count} runs: ${goal}` } as const] : []),
      ...(known.has(goal) ? [] : [{ kind: 'stranger', what: `a run that nobody started: ${goal}` } as const]),
    ]),
    ...heard
      .filter(({ goal }) => goal !== undefined && !goals.has(goal))
      .map(({ goal, heardAt }): Violation => ({ kind: 'lost', what: `run: ${goal}`, heardAt })),
  ];
}

function goalOf({ space, call: { tool, arguments: args } }: SentCall): string | undefined {
  return tool === 'start_workflow' ? `${space}: ${(args as { readonly goal?: string }).goal}` : undefined;
}
