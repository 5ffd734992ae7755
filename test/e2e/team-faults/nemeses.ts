import { setTimeout as pause } from 'node:timers/promises';
import type { SeededRandom } from '../../simulation/seeded-random.ts';
import { canMountDisks, type DatabaseServer, type FaultyWay } from './database-server.ts';
import { beginReplica, type Replica, type ReplicaPlace, startReplica } from './replicas.ts';

/** What can be harmed while agents work. */
export type Victims = {
  readonly random: SeededRandom;
  readonly server: () => DatabaseServer;
  readonly way: FaultyWay;
  /** Replaced in place, so that agents find the new one. */
  readonly replicas: Replica[];
  readonly serving: (...more: readonly string[]) => readonly string[];
  readonly place: ReplicaPlace;
  readonly database: string;
  /** Work of the operator that goes on beside the calls of agents. */
  readonly rotateKeys: () => Promise<void>;
  readonly collect: () => Promise<void>;
  readonly migrate: () => Promise<void>;
};

type Nemesis = (victims: Victims) => Promise<void>;

const CUTS = 3;
const STALL_MS = 3_000;
const DROP_MS = 1_000;
const HOUR_MS = 3_600_000;
const ENDED = 20;
/** Large enough for the table while it is moved there and back. */
const ROOM_BYTES = 32 * 1024 * 1024;
const FULL_MS = 1_500;

/** Everything that a run must survive without losing, repeating or forking anything. */
export const NEMESES = {
  replica_killed: (victims) => replaced(victims, []),
  replica_stopped: async (victims) => {
    const at = victims.random.below(victims.replicas.length);
    await victims.replicas[at]?.stop();
    victims.replicas[at] = await startReplica(victims.serving(), victims.place);
  },
  replica_killed_at_start: async (victims) => {
    const begun = beginReplica(victims.serving(), victims.place);
    const ended = begun.ready.catch(() => undefined);
    await pause(victims.random.below(600));
    await begun.kill();
    await ended;
  },
  backends_terminated: async ({ server }) => {
    await server().ask(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'workrail' and pid <> pg_backend_pid()",
    );
  },
  database_crashed: async ({ server }) => {
    await server().crash();
    await server().start();
  },
  // What a statement timeout does, at any moment: the server ends statements and keeps their connections.
  statements_ended: async ({ server, random }) => {
    for (let times = 0; times < ENDED; times++) {
      await server().ask(
        "select pg_cancel_backend(pid) from pg_stat_activity where application_name = 'workrail' and state = 'active'",
      );
      await pause(random.below(50));
    }
  },
  disk_full: async ({ server, database, random }) => {
    const ask = (text: string) => server().ask(text, database);
    const [{ bytes } = {}] = await ask("select pg_total_relation_size('wr.append') as bytes");
    const disk = await server().smallDisk(Number(bytes) + ROOM_BYTES);
    await retried(() => ask("set lock_timeout = '1s'; alter table wr.append set tablespace small"), random);
    disk.fill();
    await pause(FULL_MS);
    disk.free();
    await retried(() => ask("set lock_timeout = '1s'; alter table wr.append set tablespace pg_default"), random);
    await disk.remove();
  },
  answers_cut: async ({ way }) => way.loseAnswers('cut', CUTS),
  answers_halved: async ({ way }) => way.loseAnswers('half', CUTS),
  connections_cut: async ({ way }) => way.cutAll(),
  connections_stalled: ({ way, random }) => way.stall(random.below(STALL_MS)),
  answers_dropped: ({ way }) => way.dropAnswers(DROP_MS),
  pool_of_one: (victims) => replaced(victims, ['--connections', '1']),
  clock_ahead: (victims) => replaced(victims, [], HOUR_MS),
  clock_behind: (victims) => replaced(victims, [], -HOUR_MS),
  keys_rotated: ({ rotateKeys }) => rotateKeys(),
  garbage_collected: ({ collect }) => collect(),
  migrated: async ({ migrate, server, database, random }) => {
    await migrate();
    // What a later release may do while this one serves: it adds first. Without its lock it tries again.
    for (const change of [
      'alter table wr.session add column if not exists later text',
      'alter table wr.append add column if not exists later text',
      'alter table wr.append drop column if exists later',
      'alter table wr.session drop column if exists later',
    ]) {
      await retried(() => server().ask(`set lock_timeout = '1s'; ${change}`, database), random);
    }
  },
} as const satisfies { readonly [name: string]: Nemesis };
export type NemesisName = keyof typeof NEMESES;
/** Those that can be played here. */
export const NEMESIS_NAMES = (Object.keys(NEMESES) as readonly NemesisName[]).filter(
  (name) => name !== 'disk_full' || canMountDisks(),
);

/** Tries until it is done, as an operator would who does not get the lock. */
async function retried(work: () => Promise<unknown>, random: SeededRandom): Promise<void> {
  const isDone = () =>
    work().then(
      () => true,
      () => false,
    );
  while (!(await isDone())) await pause(random.below(500));
}

/** Kills a replica and starts another in its place, with other options or another clock. */
async function replaced(victims: Victims, more: readonly string[], shiftMs = 0): Promise<void> {
  const { random, replicas, serving, place } = victims;
  const at = random.below(replicas.length);
  await replicas[at]?.kill();
  const shifted = `const now = Date.now; Date.now = () => now() + ${shiftMs};`;
  const env =
    shiftMs === 0
      ? { ...place.env }
      : { ...place.env, NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(shifted)}` };
  replicas[at] = await startReplica(serving(...more), { ...place, env });
}
