import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { SMALL_PROGRAM } from '../small-program.ts';

/** A console of the built program on a port of its own. */
export type RunningConsole = {
  readonly port: number;
  /** An address that signs a browser in, once. */
  readonly link: string;
  readonly stop: () => Promise<number | null>;
};

export async function startConsole(place: {
  readonly env: Record<string, string>;
  readonly cwd: string;
}): Promise<RunningConsole> {
  const child = spawn(process.execPath, [SMALL_PROGRAM, 'console', '--port', '0', '--no-open'], place);
  const link = await new Promise<string>((resolve, reject) => {
    let talk = '';
    child.stderr.on('data', (part: Buffer) => {
      talk += part.toString();
      const [, found] = /Open (http:\/\/127\.0\.0\.1:\d+\/#[\w-]+)\n/.exec(talk) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.once('exit', () => reject(new Error(talk)));
  });
  return {
    port: Number(new URL(link).port),
    link,
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill();
      const [exitCode] = await ended;
      return exitCode;
    },
  };
}

export type Asked = {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
};

export type Got = {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
};

/** A request with any headers, as a hostile program or page would make it. */
export function ask(port: number, { method = 'GET', path, headers = {}, body }: Asked): Promise<Got> {
  return new Promise((resolve) => {
    const sent = request({ host: '127.0.0.1', port, method, path, headers, agent: false }, (response) => {
      let text = '';
      response.on('data', (part: Buffer) => {
        text += part.toString();
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    // A server that refuses a body closes the connection, perhaps before all of it was sent.
    sent.on('error', () => resolve({ status: 0, headers: {}, text: '' }));
    sent.end(body);
  });
}
