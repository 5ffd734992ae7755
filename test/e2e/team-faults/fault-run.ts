import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { teamDatabase } from '../../../src/adapters/postgres-store/postgres-store.ts';
import { nodeHasher, systemClock } from '../../../src/adapters/system.ts';
import type { SpaceStore, TeamDatabase } from '../../../src/app/ports/team-database.ts';
import { createToken } from '../../../src/app/team/access.ts';
import { seededRandom } from '../../simulation/seeded-random.ts';
import { type AgentPlace, replayAll, runAgent, type Surroundings } from './agents.ts';
import { type Checked, checkDatabase } from './checker.ts';
import { type DatabaseServer, faultyWay, newDatabaseServer } from './database-server.ts';
import { type Acknowledged, type Journal, newJournal, type Violation } from './journal.ts';
import { NEMESES, NEMESIS_NAMES, type NemesisName, type Victims } from './nemeses.ts';
import { type ReplicaPlace, startReplica } from './replicas.ts';

export type FaultRun = {
  readonly seconds: number;
  /** It goes on until there were as many. */
  readonly faultsMin?: number;
  readonly agents: number;
  readonly replicas: number;
  readonly seed: number;
  readonly nemeses?: readonly NemesisName[];
  /** How many calls are sent again at the end. */
  readonly replayedAfterMax: number;
  /** Whether standbys are made and promoted at the end. */
  readonly isPromoted: boolean;
  readonly place?: ReplicaPlace;
  /** Changes the database before anybody uses it, as some mutants need. */
  readonly spoil?: readonly string[];
  readonly say?: (line: string) => void;
};

export type FaultReport = {
  readonly acknowledged: number;
  readonly replays: number;
  readonly doubles: number;
  readonly tries: number;
  readonly sessions: number;
  readonly advances: number;
  readonly faults: { readonly [name: string]: number };
  /** Answers of appends that were lost on the way. */
  readonly lostAnswers: number;
  /** Acknowledged work that was lost when a standby that lagged was promoted: nothing else may lose any. */
  readonly lostByPromotion: readonly string[];
  readonly violations: readonly Violation[];
};

const DATABASE = 'team';
const SPACES = ['red', 'blue'];
const HOST = '127.0.0.1:9';
/** What agents do between two faults. */
const CALM_MS = 400;
const PROMOTION_MS = 1_000;

/** Agents work through replicas that fail, and everything they heard is checked against the database. */
export function faultRun(run: FaultRun): Promise<FaultReport | undefined> {
  return onStage(run, (stage) => play(run, stage));
}

/** Sets up a database, replicas and agents for some work; `undefined` where there is no database server. */
export async function onStage<Value>(
  run: FaultRun,
  work: (stage: Stage) => Promise<Value>,
): Promise<Value | undefined> {
  const server = await newDatabaseServer();
  if (server === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'workrail-fault-run-'));
  const stage = await setUp(run, server, folder);
  try {
    return await work(stage);
  } finally {
    await Promise.all(stage.victims.replicas.map((replica) => replica.kill()));
    await stage.victims.way.close();
    for (const used of stage.servers) await used.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Everything that plays a part in a run. */
export type Stage = {
  readonly victims: Victims;
  readonly around: Surroundings;
  readonly journal: Journal;
  readonly places: readonly AgentPlace[];
  /** All that were started; the last one is in use. */
  readonly servers: DatabaseServer[];
  readonly faults: Record<string, number>;
  /** When acknowledged work may have been lost, because the standby did not follow. */
  readonly lossy: { from: number; until: number };
  isOver: boolean;
};

/** Owns nothing. */
const SERVER_ROLE = 'rail_server';

function urlOf(port: number, user = 'rail'): string {
  const password = user === 'postgres' ? 'test' : 'rail';
  return `postgres://${user}:${password}@127.0.0.1:${port}/${DATABASE}`;
}

type Operator = <Value>(work: (database: TeamDatabase) => Promise<Value>) => Promise<Value>;

async function setUp(run: FaultRun, first: DatabaseServer, folder: string): Promise<Stage> {
  const servers = [first];
  const server = () => servers.at(-1) ?? first;
  await first.start();
  for (const role of ['rail', SERVER_ROLE]) await first.ask(`create role ${role} login password 'rail'`);
  await first.ask(`create database ${DATABASE} owner rail`);
  const masterKey = randomBytes(32);
  const keyFile = join(folder, 'master-key');
  writeFileSync(keyFile, masterKey.toString('hex'), { mode: 0o600 });
  const operator: Operator = async (work) => {
    const database = teamDatabase(urlOf(server().port), nodeHasher.sha256);
    return work(database).finally(() => database.close());
  };
  const tokens = await operator(async (database) => {
    (await database.migrate({ isDryRun: false, serverRole: SERVER_ROLE }))._unsafeUnwrap();
    for (const space of SPACES) (await database.createSpace(space))._unsafeUnwrap();
    return makeTokens(database, run.agents);
  });
  for (const text of run.spoil ?? []) await first.ask(text, DATABASE);
  const way = await faultyWay(first.port);
  const serving = (...more: readonly string[]) => [
    ...['serve', '--team', '--public-url', `http://${HOST}`, '--master-key-file', keyFile, '--no-drain'],
    ...[
      '--listen',
      '127.0.0.1:0',
      '--admin-listen',
      '127.0.0.1:0',
      '--database-url',
      urlOf(way.port, SERVER_ROLE),
      ...more,
    ],
  ];
  const place = run.place ?? {};
  const replicas = await Promise.all(
    Array.from({ length: run.replicas }, (_, at) => startReplica(serving(...(at === 1 ? ['--rls'] : [])), place)),
  );
  const journal = newJournal(SPACES);
  const random = seededRandom(run.seed);
  const { rotations, ...upkeep } = operatorWork(operator, masterKey);
  const stage: Stage = {
    victims: { random, server, way, replicas, serving, place, database: DATABASE, ...upkeep },
    ...{ journal, servers, faults: {}, lossy: { from: Number.POSITIVE_INFINITY, until: 0 }, isOver: false },
    places: tokens.map((token, number) => ({
      ...{ number, token, space: SPACES[number % SPACES.length] ?? 'red' },
      random: seededRandom(run.seed + number + 1),
    })),
    around: {
      ...{ journal, rotations, host: HOST },
      ports: () => replicas.map(({ port }) => port),
      isOver: () => stage.isOver,
      isLossAllowed: () => stage.lossy.until > 0,
    },
  };
  return stage;
}

const DAY_MS = 86_400_000;

/** What an operator does while agents work. */
function operatorWork(operator: Operator, masterKey: Uint8Array) {
  let rotations = 0;
  const inEachSpace = (work: (store: SpaceStore) => Promise<unknown>) =>
    operator(async (database) => {
      for (const space of SPACES) await work((await database.openSpace(space, masterKey))._unsafeUnwrap());
    });
  return {
    rotations: () => rotations,
    rotateKeys: async () => {
      // Counted when it begins and when it ends: in between nobody knows which key signs.
      rotations += 1;
      await inEachSpace(async ({ keyring }) => (await keyring.rotate())._unsafeUnwrap());
      rotations += 1;
    },
    collect: () =>
      inEachSpace(async ({ collector }) => {
        const nowMs = Date.now();
        const request = { expiredBeforeMs: nowMs - DAY_MS, binnedBeforeMs: nowMs, nowMs, isDryRun: false };
        (await collector.collect(request))._unsafeUnwrap();
      }),
    migrate: () => operator(async (database) => void (await database.migrate({ isDryRun: false }))._unsafeUnwrap()),
  };
}

async function makeTokens(database: TeamDatabase, count: number): Promise<readonly string[]> {
  const tokens: string[] = [];
  for (let number = 0; number < count; number++) {
    const access = (await database.access(SPACES[number % SPACES.length] ?? 'red'))._unsafeUnwrap();
    const services = { clock: systemClock, sha256: nodeHasher.sha256 };
    const wish = {
      principal: `agent-${number >> 1}`,
      role: 'agent',
      days: 1,
      by: 'test',
      random: randomBytes(32),
    } as const;
    tokens.push((await createToken(services, access, wish))._unsafeUnwrap().text);
  }
  return tokens;
}

async function play(run: FaultRun, stage: Stage): Promise<FaultReport> {
  const { victims, journal, around } = stage;
  const working = Promise.all(stage.places.map((place) => runAgent(around, place)));
  await harm(run, stage);
  if (run.isPromoted) await promote(run, stage);
  await pause(CALM_MS);
  stage.isOver = true;
  await working;
  run.say?.('agents are done');
  const replicas = await Promise.all([
    startReplica(victims.serving(), victims.place),
    ...victims.replicas.map((replica) => replica.kill()),
  ]);
  victims.replicas.splice(0, victims.replicas.length, replicas[0]);
  const checked = await checkDatabase(urlOf(victims.server().port, 'postgres'), journal);
  run.say?.('the database was checked against what agents heard');
  // A replica that has seen nothing answers every call again as it was answered, and records nothing.
  const isKept = ({ heardAt }: Acknowledged) => heardAt < stage.lossy.from || heardAt > stage.lossy.until;
  const answered = journal.acknowledged.filter(isKept).slice(-run.replayedAfterMax);
  await replayAll({ ...around, isOver: () => false }, { places: stage.places, answered });
  const { advances } = await checkDatabase(urlOf(victims.server().port, 'postgres'), journal);
  if (advances !== checked.advances) {
    journal.violations.push({ kind: 'twice', what: `replays recorded ${advances - checked.advances} attempts` });
  }
  return report(stage, checked);
}

/** Every kind in turn, in an order that follows from the seed. */
async function harm({ seconds, faultsMin = 0, nemeses = NEMESIS_NAMES, say }: FaultRun, stage: Stage): Promise<void> {
  const { victims, faults, journal } = stage;
  const end = performance.now() + seconds * 1_000;
  let left: NemesisName[] = [];
  let shown = 0;
  for (let count = 0; performance.now() < end || count < faultsMin; count++) {
    if (left.length === 0) left = [...nemeses];
    const [name] = left.splice(victims.random.below(left.length), 1);
    if (name === undefined) break;
    await pause(CALM_MS / 2 + victims.random.below(CALM_MS));
    await NEMESES[name](victims);
    faults[name] = (faults[name] ?? 0) + 1;
    say?.(`${count + 1} ${name}: ${journal.acknowledged.length} acknowledged, ${journal.violations.length} violations`);
    for (const { kind, what } of journal.violations.slice(shown)) say?.(`  ${kind}: ${what}`);
    shown = journal.violations.length;
  }
}

/** First a standby that has everything, then one that lags behind: only that one may lose acknowledged work. */
async function promote({ say }: FaultRun, { victims, servers, faults, lossy }: Stage): Promise<void> {
  const { server, way } = victims;
  const makeStandby = async () => {
    const standby = await server().standby();
    await standby.start();
    return standby;
  };
  const takeOver = async (standby: DatabaseServer) => {
    await standby.ask('select pg_promote()');
    servers.push(standby);
    way.pointTo(standby.port);
  };
  const follower = await makeStandby();
  await server().ask("alter system set synchronous_standby_names = '*'");
  await server().ask('select pg_reload_conf()');
  await until(async () =>
    (await server().ask('select sync_state from pg_stat_replication')).some((row) => row['sync_state'] === 'sync'),
  );
  await pause(PROMOTION_MS);
  await server().crash();
  await takeOver(follower);
  faults['standby_promoted'] = 1;
  say?.('a synchronous standby was promoted');
  await pause(PROMOTION_MS);

  const laggard = await makeStandby();
  // What was acknowledged until now is on the standby before it stops to follow.
  lossy.from = performance.now();
  const [{ lsn } = {}] = await server().ask('select pg_current_wal_flush_lsn()::text as lsn');
  const followed = `select 1 from pg_stat_replication where flush_lsn >= '${lsn}'::pg_lsn`;
  await until(async () => (await server().ask(followed)).length > 0);
  await laggard.crash();
  await pause(PROMOTION_MS);
  await server().crash();
  await laggard.start();
  lossy.until = performance.now();
  await takeOver(laggard);
  faults['lagging_standby_promoted'] = 1;
  say?.('an asynchronous standby was promoted');
  await pause(PROMOTION_MS);
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if (await isSo()) return;
    await pause(50);
  }
  throw new Error('it did not happen in ten seconds');
}

function report({ journal, faults, victims, lossy }: Stage, checked: Checked): FaultReport {
  const isExpected = ({ kind, heardAt = 0 }: Violation) =>
    (kind === 'lost' || kind === 'stranger') && lossy.until > 0 && heardAt >= lossy.from;
  const all = [...journal.violations, ...checked.violations];
  return {
    acknowledged: journal.acknowledged.length,
    ...journal.counts,
    sessions: checked.sessions,
    advances: checked.advances,
    faults,
    lostAnswers: victims.way.lost(),
    lostByPromotion: all.filter(isExpected).map(({ what }) => what),
    violations: all.filter((violation) => !isExpected(violation)),
  };
}
