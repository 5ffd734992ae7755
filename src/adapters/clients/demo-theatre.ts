import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { atExit } from '../at-exit.ts';
import { type StartedServer, startServer } from './start-server.ts';

/** A temporary data folder with a running server. */
export type Performance = {
  readonly server: StartedServer;
  readonly dataDir: string;
  /** Runs a command on that folder and returns its output. */
  readonly run: (args: readonly string[]) => Promise<string>;
};

export type Theatre = {
  readonly pause: (ms: number) => Promise<unknown>;
  /** Runs the demo with a server and removes the folder afterwards, even when interrupted, unless it is to be kept. */
  readonly perform: <T>(
    act: (performance: Performance) => Promise<T>,
    options: { readonly isKept: boolean },
  ) => Promise<T>;
};

/** Runs the demo with this program. */
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
      // The folder is not a project, so no settings of the user are read.
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
