import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { NO_PROJECT, SMALL_PROGRAM } from '../small-program.ts';

/** A server of the built program that listens on a port of its own. */
export type HttpServer = {
  readonly url: string;
  /** What its clients must send. */
  readonly token: string;
  readonly child: ChildProcessWithoutNullStreams;
  /** Ends it, and gives its exit code. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<number | null>;
};

export async function startHttp(env: Record<string, string>, program = SMALL_PROGRAM, port = '0'): Promise<HttpServer> {
  const child = spawn(process.execPath, [program, 'serve', '--http', port], { env, cwd: NO_PROJECT });
  const [url, secretFile] = await new Promise<readonly [string, string]>((resolve, reject) => {
    let talk = '';
    child.stderr.on('data', (part: Buffer) => {
      talk += part.toString();
      const [, found, file] = /(http:\/\/127\.0\.0\.1:\d+\/mcp)[\s\S]*the token in (.*)\.\n/.exec(talk) ?? [];
      if (found !== undefined && file !== undefined) resolve([found, file]);
    });
    child.once('exit', () => reject(new Error(talk)));
  });
  return {
    url,
    token: readFileSync(secretFile, 'utf8').trim(),
    child,
    stop: async (signal = 'SIGTERM') => {
      const ended = once(child, 'exit');
      child.kill(signal);
      const [exitCode] = await ended;
      return exitCode;
    },
  };
}
