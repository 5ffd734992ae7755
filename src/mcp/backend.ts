import { homedir } from 'node:os';
import * as z from 'zod';
import type { Services } from '../app/services.ts';
import { callsUnderWay } from './calls-under-way.ts';
import { recentReplies } from './explain/recent-replies.ts';
import type { Backend } from './server.ts';
import { serverLog } from './server-log.ts';

// Generating code for every schema takes longer than the checks it speeds up: most schemas of a server are used once.
z.config({ jitless: true });

export type BackendOptions = {
  readonly version: string;
  /** Called when the first call needs it. */
  readonly services: () => Promise<Services>;
  /** A line of JSON on standard error for everything that happens. */
  readonly isLogged: boolean;
  readonly isSessionStartOn?: boolean;
};

/** What a server of this process is made from. */
export function mcpBackend({ version, services, isLogged, isSessionStartOn = false }: BackendOptions): Backend {
  let opened: Promise<Services> | undefined;
  return {
    version,
    services: () => {
      opened ??= services();
      return opened;
    },
    recent: recentReplies(),
    log: serverLog({
      write: (text) => process.stderr.write(text),
      isStructured: isLogged,
      now: () => new Date(),
    }),
    calls: callsUnderWay(),
    place: { workingDir: process.cwd(), homeDir: homedir() },
    isSessionStartOn,
  };
}
