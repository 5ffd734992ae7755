import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { type Database, openDatabase } from '../src/adapters/postgres-store/database.ts';
import { migrate } from '../src/adapters/postgres-store/migrations.ts';
import { postgresStore } from '../src/adapters/postgres-store/postgres-store.ts';
import { nodeHasher } from '../src/adapters/system.ts';
import type { SpaceStore } from '../src/app/ports/team-database.ts';
import { resumeQuestion } from '../src/core/resume/resume-question.ts';
import { setup } from '../test/e2e/small-program.ts';
import { runAgent } from '../test/e2e/team-faults/agents.ts';
import { type DatabaseServer, newDatabaseServer } from '../test/e2e/team-faults/database-server.ts';
import { type FaultRun, onStage, type Stage } from '../test/e2e/team-faults/fault-run.ts';
import { SMALL_WORKFLOW } from '../test/examples/compiled.ts';
import { append, growingSession } from './bench-store.ts';
import { budgeted, median, noted, type Row, timed } from './row.ts';

const APPENDS = 400;
const SECONDS = 15;
const AGENTS = 64;
const ADVANCES_MIN = 150;

/** The team store: one append beside the cheapest commit of the same size, and agents on real replicas. */
export async function benchTeam(): Promise<readonly Row[]> {
  const appended = await benchAppends();
  if (appended.length === 0) return [];
  setup();
  return [...appended, ...(await benchStatements()), ...(await benchAgents())];
}

async function benchAppends(): Promise<readonly Row[]> {
  const server = await newDatabaseServer();
  if (server === undefined) return [];
  await server.start();
  const [others, alone] = [1, 2].map(() => openDatabase({ url: server.url, connectionsMax: 1 })) as [
    Database,
    Database,
  ];
  (await migrate(others, { isDryRun: false }))._unsafeUnwrap();
  await asked(others, "insert into wr.space (name) values ('bench')");
  await asked(others, 'create table floor (bytes bytea)');
  // The statement that appends has a connection to itself, so that what it costs can be told from the rest.
  let statementMs = 0;
  const database: Database = {
    ...others,
    run: async (statement, values) => {
      if (statement.name !== 'wr_append') return others.run(statement, values);
      const { cpuMs, value } = await timed(() => alone.run(statement, values));
      statementMs += cpuMs;
      return value;
    },
  };
  const store = postgresStore({
    database,
    spaceId: 1,
    sha256: nodeHasher.sha256,
    masterKey: () => Buffer.alloc(32, 1),
  });
  await store.pinnedWorkflows.pin(SMALL_WORKFLOW);
  await store.keyring.open();
  const session = growingSession(1);
  for (let warm = 0; warm < 50; warm++) await append(store.sessions, session.step());
  const bytes = Buffer.alloc(5_000, 7);
  const floor = await measured(alone, () => alone.run(FLOOR, [bytes]));
  statementMs = 0;
  const appends = await measured(alone, () => append(store.sessions, session.step()));
  const resumed = await benchFind(server, others, { index: store.sessionIndex, copied: session.sessionId });
  await Promise.all([others.close(), alone.close()]);
  await server.remove();
  return [
    budgeted('team: append, statement alone, node CPU', statementMs / APPENDS, { max: 0.5, unit: 'ms' }),
    budgeted('team: append, statement alone, database CPU', appends.databaseMs, { max: 0.6, unit: 'ms' }),
    noted('team: append with reading, signing and summary, node CPU', appends.nodeMs, 'ms'),
    noted('team: append, wall', appends.wallMs, 'ms'),
    noted('team: floor (one row of 5 kB), node CPU', floor.nodeMs, 'ms'),
    noted('team: floor, database CPU', floor.databaseMs, 'ms'),
    noted('team: floor, wall', floor.wallMs, 'ms'),
    ...resumed,
  ];
}

const RUNS = 100_000;
/** One in so many is not finished. */
const OPEN_ONE_IN = 20;

/** What finding a run to resume asks of the database in a space with many finished runs. */
async function benchFind(
  server: DatabaseServer,
  database: Database,
  { index, copied }: { readonly index: SpaceStore['sessionIndex']; readonly copied: string },
): Promise<readonly Row[]> {
  const copies = `select s.*, 'sess_z' || lpad(i::text, 15, '0') as id, i % ${OPEN_ONE_IN} = 0 as is_left
    from wr.session s, generate_series(1, ${RUNS}) i where s.session_id = '${copied}'`;
  await server.ask(
    `insert into wr.session (space_id, session_id, next_event_index, next_manifest_index, chain, last_at, is_open)
     select space_id, id, next_event_index, next_manifest_index, chain, last_at, is_left from (${copies}) c`,
  );
  await server.ask(
    `insert into wr.summary (space_id, session_id, manifest_index, summary)
     select c.space_id, c.id, c.next_manifest_index - 1, m.summary from (${copies}) c
     join wr.summary m on m.space_id = c.space_id and m.session_id = c.session_id`,
  );
  await server.ask('analyze wr.session, wr.summary');
  const question = resumeQuestion({}, { workspaces: ['/repo'], principal: 'me' });
  await index.find?.(question);
  const found = await measured(database, async () => index.find?.(question), FINDS);
  const name = `team: resume among ${RUNS} runs, ${RUNS / OPEN_ONE_IN} unfinished`;
  return [
    budgeted(`${name}, database CPU`, found.databaseMs, { max: 25, unit: 'ms' }),
    noted(`${name}, node CPU`, found.nodeMs, 'ms'),
  ];
}

const FINDS = 20;

const FLOOR = { name: 'floor', text: 'insert into floor values ($1)' };

async function asked(database: Database, text: string) {
  return (await database.run({ name: '', text }, []))._unsafeUnwrap();
}

/** For each time: what this process and the backend of one connection used. */
async function measured(database: Database, once: () => Promise<unknown>, times = APPENDS) {
  const [{ pid }] = (await asked(database, 'select pg_backend_pid() as pid')) as [{ pid: number }];
  const before = backendMs(pid);
  const { cpuMs, wallMs } = await timed(async () => {
    for (let i = 0; i < times; i++) await once();
  });
  const databaseMs = backendMs(pid) - before;
  return { nodeMs: cpuMs / times, databaseMs: databaseMs / times, wallMs: wallMs / times };
}

const TICK_MS = 10;

function backendMs(pid: number): number {
  // Fields are counted after the name, which may have spaces in it.
  const path = `/proc/${pid}/stat`;
  // The connection that asked which there are has ended.
  if (!existsSync(path)) return 0;
  const fields = readFileSync(path, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

const CALM: Omit<FaultRun, 'agents' | 'replicas'> = { seconds: 0, seed: 1, isPromoted: false, replayedAfterMax: 0 };

/** One agent without faults: what its calls ask of the database, including who it is. */
async function benchStatements(): Promise<readonly Row[]> {
  const perCall = await onStage({ ...CALM, agents: 1, replicas: 1 }, async (stage) => {
    await work(stage, 3);
    const [{ way }, tries] = [stage.victims, stage.journal.counts.tries];
    const before = way.statements();
    await work(stage, 5);
    return (way.statements() - before) / (stage.journal.counts.tries - tries);
  });
  return perCall === undefined ? [] : [noted('team: statements for each call of an agent', perCall, '')];
}

async function work(stage: Stage, seconds: number): Promise<void> {
  stage.isOver = false;
  const working = Promise.all(stage.places.map((place) => runAgent(stage.around, place)));
  await pause(seconds * 1_000);
  stage.isOver = true;
  await working;
}

/** What everybody has used until now. */
async function cpuUsed({ victims }: Stage) {
  const sum = (pids: readonly number[]) => pids.reduce((total, pid) => total + backendMs(pid), 0);
  const backends = await victims.server().ask('select pid from pg_stat_activity');
  const { user, system } = process.cpuUsage();
  return {
    replicas: sum(victims.replicas.map(({ pid }) => pid)),
    database: sum(backends.map(({ pid }) => pid as number)),
    agents: (user + system) / 1_000,
  };
}

async function benchAgents(): Promise<readonly Row[]> {
  const rows = await onStage({ ...CALM, agents: AGENTS, replicas: 2 }, async (stage) => {
    await work(stage, 3);
    const { acknowledged, violations } = stage.journal;
    const before = acknowledged.length;
    const used = await cpuUsed(stage);
    await work(stage, SECONDS);
    const after = await cpuUsed(stage);
    const heard = acknowledged.slice(before);
    const advances = new Set(heard.map(({ call }) => call).filter(({ arguments: sent }) => 'ackToken' in sent)).size;
    const waited = heard.map(({ sentAt, heardAt }) => heardAt - sentAt).toSorted((one, other) => one - other);
    return [
      budgeted(`team: 1 / advances a second, 2 replicas x ${AGENTS} agents`, SECONDS / advances, {
        max: 1 / ADVANCES_MIN,
        unit: 's',
      }),
      noted('team: advances a second', advances / SECONDS, ''),
      noted('team: calls a second', heard.length / SECONDS, ''),
      // What limits it where all of this shares a machine.
      noted('team: CPU for each call, replicas', (after.replicas - used.replicas) / heard.length, 'ms'),
      noted('team: CPU for each call, database', (after.database - used.database) / heard.length, 'ms'),
      noted('team: CPU for each call, the agents themselves', (after.agents - used.agents) / heard.length, 'ms'),
      noted('team: reply, median', median(waited), 'ms'),
      noted('team: reply, 99 in 100 within', waited[Math.floor(waited.length * 0.99)] ?? Number.NaN, 'ms'),
      noted('team: wrong', violations.length, ''),
    ];
  });
  return rows ?? [];
}
