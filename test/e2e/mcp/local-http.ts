import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';

/** A server of the built program that listens on a port of its own. */
export type HttpServer = {
  readonly url: string;
  readonly child: ChildProcessWithoutNullStreams;
  /** Ends it, and gives its exit code. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<number | null>;
};

export async function startHttp(env: Record<string, string>, program = 'dist/workrail.js'): Promise<HttpServer> {
  const child = spawn(process.execPath, [program, 'serve', '--http', '0'], { env });
  const url = await new Promise<string>((resolve, reject) => {
    let talk = '';
    child.stderr.on('data', (part: Buffer) => {
      talk += part.toString();
      const found = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(talk)?.[0];
      if (found !== undefined) resolve(found);
    });
    child.once('exit', () => reject(new Error(talk)));
  });
  return {
    url,
    child,
    stop: async (signal = 'SIGTERM') => {
      const ended = once(child, 'exit');
      child.kill(signal);
      const [exitCode] = await ended;
      return exitCode;
    },
  };
}
