import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { atExit } from '../at-exit.ts';
import { type StartedServer, startServer } from './start-server.ts';

/** A folder of its own, with a server that works in it. */
export type Performance = {
  readonly server: StartedServer;
  readonly dataDir: string;
  /** Runs a command on that folder, and returns what it prints. */
  readonly run: (args: readonly string[]) => Promise<string>;
};

export type Theatre = {
  readonly pause: (ms: number) => Promise<unknown>;
  /** Performs with a server and takes everything away afterwards, also when it was broken off, unless it shall be kept. */
  readonly perform: <T>(
    act: (performance: Performance) => Promise<T>,
    options: { readonly isKept: boolean },
  ) => Promise<T>;
};

/** Performs with the program that is running, found by its path. */
export function demoTheatre(program: string): Theatre {
  return {
    pause: (ms) => setTimeout(ms),
    perform: async (act, { isKept }) => {
      const dataDir = mkdtempSync(join(tmpdir(), 'workrail-demo-'));
      const clear = () => {
        if (!isKept) rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 });
      };
      const forget = atExit(clear);
      const env = { WORKRAIL_DATA_DIR: dataDir };
      // The folder is no project, so nothing of the user's is read; the server is told what it needs and no more.
      const server = await startServer({ command: process.execPath, args: [program, 'serve'], env, cwd: dataDir });
      try {
        return await act({ server, dataDir, run: (args) => output(program, args, env) });
      } finally {
        await server.stop();
        clear();
        forget();
      }
    },
  };
}

async function output(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...args], { env });
  return stdout;
}
