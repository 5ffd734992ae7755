import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chownSync,
  closeSync,
  cpSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { freePort, postgresPrograms } from '../../postgres.ts';

/** A PostgreSQL server that can be crashed, copied and promoted. */
export type DatabaseServer = {
  readonly port: number;
  /** As its superuser. */
  readonly url: string;
  readonly start: () => Promise<void>;
  /** Ends it without flushing anything, as a loss of power would. */
  readonly crash: () => Promise<void>;
  /** A standby of this server, made while it runs. It is not started. */
  readonly standby: () => Promise<DatabaseServer>;
  /** A tablespace `small` on a disk of its own, which can be filled. */
  readonly smallDisk: (bytes: number) => Promise<SmallDisk>;
  readonly ask: (text: string, database?: string) => Promise<readonly Record<string, unknown>[]>;
  /** Stops it and removes its files. */
  readonly remove: () => Promise<void>;
};

export type SmallDisk = {
  /** Leaves no byte free, until `free`. */
  readonly fill: () => void;
  readonly free: () => void;
  readonly remove: () => Promise<void>;
};

const PASSWORD = 'test';
/** With the mutant that does not wait for a flush, a crash must lose something. */
const SETTINGS = { listen_addresses: '127.0.0.1', unix_socket_directories: '', wal_writer_delay: '10s' };

/** `undefined`, after one loud line, where there is no server to start. */
export async function newDatabaseServer(): Promise<DatabaseServer | undefined> {
  try {
    const programs = await postgresPrograms();
    const folder = mkdtempSync(join(tmpdir(), 'workrail-faults-'));
    await programs.initialise(folder, PASSWORD);
    return serverIn(folder, await freePort(), programs.postgres);
  } catch (error) {
    process.stderr.write(`SKIPPED: no PostgreSQL server to crash, so no fault run (${(error as Error).message}).\n`);
    return undefined;
  }
}

function serverIn(folder: string, port: number, program: string): DatabaseServer {
  let child: ChildProcess | undefined;
  const url = `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`;
  const { uid, gid } = statSync(folder);
  const end = async (signal: NodeJS.Signals) => {
    const running = child;
    child = undefined;
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
    running.kill(signal);
    await once(running, 'exit');
  };
  const ask: DatabaseServer['ask'] = async (text, database = 'postgres') => {
    const client = new pg.Client({ connectionString: Object.assign(new URL(url), { pathname: `/${database}` }).href });
    client.on('error', () => undefined);
    await client.connect();
    return client
      .query(text)
      .then(({ rows }) => rows as Record<string, unknown>[])
      .finally(() => client.end());
  };
  return {
    port,
    url,
    ask,
    start: async () => {
      const settings = Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
      const owner = process.getuid?.() === 0 ? { uid, gid } : {};
      child = spawn(program, ['-D', folder, '-p', String(port), ...settings], {
        ...owner,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      await readyToAccept(child);
    },
    crash: () => end('SIGQUIT'),
    standby: async () => {
      const copy = mkdtempSync(join(tmpdir(), 'workrail-standby-'));
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query("select pg_backup_start('standby', true)");
      cpSync(folder, copy, { recursive: true, filter: (path) => !path.endsWith('postmaster.pid') });
      const { rows } = await client.query('select labelfile from pg_backup_stop()');
      await client.end();
      writeFileSync(join(copy, 'backup_label'), String((rows[0] as { labelfile: string }).labelfile));
      writeFileSync(join(copy, 'standby.signal'), '');
      const source = `host=127.0.0.1 port=${port} user=postgres password=${PASSWORD}`;
      appendFileSync(join(copy, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`);
      // A copy has the owner of the process that made it.
      if (process.getuid?.() === 0) await chownAll(copy, uid, gid);
      return serverIn(copy, await freePort(), program);
    },
    smallDisk: async (bytes) => {
      // A crash that comes later still finds the folder that the log of the database names.
      const disk = mkdtempSync(join(folder, 'small-'));
      mountDisk(disk, `size=${bytes},uid=${uid},gid=${gid},mode=700`);
      const filler = join(disk, 'filler');
      await ask(`create tablespace small location '${disk}'`);
      await ask('grant create on tablespace small to public');
      return {
        fill: () => fillUp(filler),
        free: () => rmSync(filler, { force: true }),
        remove: async () => {
          await ask('drop tablespace small');
          await ask('checkpoint');
          execFileSync('umount', [disk]);
        },
      };
    },
    remove: async () => {
      await end('SIGINT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function mountDisk(folder: string, options: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { stdio: 'pipe' });
}

/** Says in one loud line if not. */
export function canMountDisks(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'workrail-disk-'));
  try {
    mountDisk(folder, 'size=64k');
    execFileSync('umount', [folder]);
    return true;
  } catch {
    process.stderr.write('SKIPPED: no small disk can be mounted here, so no fault run with a full disk.\n');
    return false;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function fillUp(path: string): void {
  const file = openSync(path, 'w');
  try {
    for (let size = 1024 * 1024; size >= 1; ) {
      try {
        // What fits of it is written, so a shorter one is tried next.
        if (writeSync(file, Buffer.alloc(size)) < size) size = Math.floor(size / 2);
      } catch {
        size = Math.floor(size / 2);
      }
    }
  } finally {
    closeSync(file);
  }
}

async function chownAll(folder: string, uid: number, gid: number): Promise<void> {
  const done = spawn('chown', ['-R', `${uid}:${gid}`, folder], { stdio: 'ignore' });
  await once(done, 'exit');
  chownSync(folder, uid, gid);
}

function readyToAccept(child: ChildProcess): Promise<void> {
  let said = '';
  return new Promise((ready, failed) => {
    child.stderr?.on('data', (part) => {
      said = `${said}${part}`.slice(-4_000);
      if (/ready to accept (?:read-only )?connections/.test(said)) ready();
    });
    child.once('exit', (code) => failed(new Error(`the database server ended with ${code}: ${said}`)));
  });
}

/** What happens to the answer of an append that was carried out. */
export type LostAnswer = 'cut' | 'half';

/** The only way to the database. It can lose answers, stall, and lead to another server. */
export type FaultyWay = {
  readonly port: number;
  readonly pointTo: (port: number) => void;
  /** Cuts the connections on which the next appends are answered, before the answer or in the middle of it. */
  readonly loseAnswers: (how: LostAnswer, count: number) => void;
  /** Passes nothing on for a while. */
  readonly stall: (ms: number) => Promise<void>;
  /** Passes statements on and drops their answers for a while; then the connections end. */
  readonly dropAnswers: (ms: number) => Promise<void>;
  readonly cutAll: () => void;
  readonly lost: () => number;
  /** How many statements were passed on. */
  readonly statements: () => number;
  readonly close: () => Promise<void>;
};

export async function faultyWay(firstPort: number): Promise<FaultyWay> {
  let target = firstPort;
  let [lost, isDropping, statements] = [0, false, 0];
  const armed: LostAnswer[] = [];
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect({ port: target, host: '127.0.0.1' });
    let isAppend = false;
    const end = () => {
      for (const socket of [client, upstream]) {
        open.delete(socket);
        socket.destroy();
      }
    };
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', end).on('close', end);
    }
    client.on('data', (bytes: Buffer) => {
      // The name of a statement is part of every message that runs it.
      isAppend = bytes.includes('wr_append');
      statements += statementsIn(bytes);
      upstream.write(bytes);
    });
    upstream.on('data', (bytes: Buffer) => {
      const how = isAppend ? armed.shift() : undefined;
      if (how !== undefined || isDropping) lost += 1;
      if (isDropping) return;
      if (how === undefined) return client.write(bytes);
      if (how === 'half') client.write(bytes.subarray(0, bytes.length >> 1), end);
      else end();
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the way to the database is closed');
  const cutAll = () => {
    for (const socket of [...open]) socket.destroy();
  };
  return {
    port: address.port,
    cutAll,
    lost: () => lost,
    statements: () => statements,
    pointTo: (port) => {
      target = port;
      cutAll();
    },
    loseAnswers: (how, count) => armed.push(...Array.from({ length: count }, () => how)),
    stall: async (ms) => {
      const held = [...open];
      for (const socket of held) socket.pause();
      await new Promise((over) => setTimeout(over, ms));
      for (const socket of held) socket.resume();
    },
    dropAnswers: async (ms) => {
      isDropping = true;
      await new Promise((over) => setTimeout(over, ms));
      isDropping = false;
      cutAll();
    },
    close: () =>
      new Promise((closed) => {
        cutAll();
        server.close(() => closed());
      }),
  };
}

const EXECUTE = 0x45;
const QUERY = 0x51;
/** A length of four bytes follows the kind of a message. */
const HEAD_BYTES = 5;

/** Messages of the protocol that run something. A large one may come in parts; it is counted at most once. */
function statementsIn(bytes: Buffer): number {
  let count = 0;
  for (let at = 0; at + HEAD_BYTES <= bytes.length; ) {
    const kind = bytes.readUInt8(at);
    if (kind === EXECUTE || kind === QUERY) count += 1;
    at += 1 + Math.max(4, bytes.readUInt32BE(at + 1));
  }
  return count;
}
