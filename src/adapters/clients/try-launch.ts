import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { Machine } from '../../app/ports/machine.ts';
import type { TrialLaunch, TrialResult } from '../../app/ports/machine-health.ts';
import { atExit } from '../at-exit.ts';
import { type StartedServer, startServer } from './start-server.ts';

/** A user does not wait longer, and neither does a client. */
const LIFE_MS = 4_000;
const SAID_MAX = 300;
const WORKFLOW = 'wr.first_steps';

/** Starts a server exactly as a client would, and runs a step forward and back in a temporary folder. */
export function launchTrial(machine: Machine, lifeMs = LIFE_MS): (trialLaunch: TrialLaunch) => Promise<TrialResult> {
  return async ({ launch, environment }) => {
    const { command, args } = launch;
    const paths = [command, ...args.filter((arg) => /\.[cm]?js$/.test(arg))];
    const missing = paths.find((path) => isAbsolute(path) && !existsSync(path));
    if (missing !== undefined) return { kind: 'stale', missing };

    const folder = mkdtempSync(join(tmpdir(), 'workrail-doctor-'));
    const clear = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    const forget = atExit(clear);
    const env = { ...defined(environmentFor(machine, environment)), ...launch.env, WORKRAIL_DATA_DIR: folder };
    try {
      return await trial({ command, args, env, cwd: folder, lifeMs });
    } finally {
      clear();
      forget();
    }
  };
}

type Start = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Record<string, string>;
  readonly cwd: string;
  readonly lifeMs: number;
};

async function trial(start: Start): Promise<TrialResult> {
  const begun = performance.now();
  let at = 'the start';
  let said = '';
  let isOverdue = false;
  let server: StartedServer | undefined;
  try {
    server = await startServer({
      ...start,
      onOverdue: () => {
        isOverdue = true;
      },
      onSaid: (text) => {
        if (said.length < SAID_MAX) said += text;
      },
    });
    at = 'the list of tools';
    const tools = await server.tools();
    const step = async (tool: string, args: object) => {
      at = tool;
      const { isError, data } = await (server as StartedServer).call(tool, { ...args });
      if (isError) throw new Error(String((data as { message?: unknown } | undefined)?.message ?? 'it was refused'));
      return data as {
        readonly stateToken?: string;
        readonly ackToken?: string;
        readonly pending?: { readonly stepId?: string };
      };
    };
    const first = await step('start_workflow', { workflowId: WORKFLOW, mode: 'guided' });
    const second = await step('continue_workflow', {
      ackToken: first.ackToken,
      output: { notesMarkdown: 'A trial run.' },
    });
    const again = await step('continue_workflow', { stateToken: first.stateToken });
    at = 'going back';
    const isBack = again.pending?.stepId === first.pending?.stepId && second.pending?.stepId !== first.pending?.stepId;
    if (!isBack) throw new Error('another step came back');
    return { kind: 'works', version: server.version, tools: tools.length, ms: Math.round(performance.now() - begun) };
  } catch (cause) {
    // Any failure of the other program is a result here.
    const words = said.trim() === '' && cause instanceof Error ? cause.message : said.trim();
    return { kind: 'fails', at, said: isOverdue ? `no answer in ${start.lifeMs} ms` : words.slice(0, SAID_MAX) };
  } finally {
    await server?.stop().catch(() => undefined);
  }
}

/** The variables that restrictive programs pass on. */
const FEW = ['HOME', 'LOGNAME', 'SHELL', 'USER', 'LANG', 'LC_ALL', 'TERM', 'TMPDIR', 'TZ'];

/** A program that was started from the desktop has neither the PATH nor the variables of a shell. */
function environmentFor({ env, platform }: Machine, environment: TrialLaunch['environment']): Machine['env'] {
  if (environment === 'shell' || platform === 'win32') return env;
  const few = Object.fromEntries(FEW.map((name) => [name, env[name]]));
  if (environment === 'few') return { ...few, PATH: env['PATH'] };
  return { ...few, PATH: platform === 'darwin' ? '/usr/bin:/bin:/usr/sbin:/sbin' : '/usr/local/bin:/usr/bin:/bin' };
}

function defined(env: Machine['env']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
