import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { CONSOLE_PATHS, PAGE_KEY_HEADER } from '../../../src/core/wire/console-paths.ts';
import { SMALL_PROGRAM } from '../small-program.ts';
import { CTRL_C, hasTerminal, spawnAtTerminal } from '../terminal.ts';

/** A console of the built program on a port of its own. */
export type RunningConsole = {
  readonly port: number;
  /** An address that signs a browser in, once. */
  readonly link: string;
  /** The same by the name that passkeys belong to, as it was printed. */
  readonly nameLink: string;
  readonly stop: () => Promise<number | null>;
};

export async function startConsole(place: {
  readonly env: Record<string, string>;
  readonly cwd: string;
  /** Any free one by default. */
  readonly port?: number;
  /** A person starts it at a terminal; a program without one. Only the former takes decisions. */
  readonly isAtTerminal?: boolean;
  /** The one with a small library by default. Another one is started without a terminal. */
  readonly program?: string;
}): Promise<RunningConsole> {
  const { port = 0, program, isAtTerminal = hasTerminal && program === undefined, env, cwd } = place;
  const args = ['console', '--port', String(port), '--no-open'];
  const child = isAtTerminal
    ? spawnAtTerminal(args, { env, cwd })
    : spawn(process.execPath, [program ?? SMALL_PROGRAM, ...args], { env, cwd });
  const link = await new Promise<string>((resolve, reject) => {
    let talk = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (part: Buffer) => {
        talk += part.toString();
        const [, found] = /Open (http:\/\/localhost:\d+\/#[\w-]+)\r?\n/.exec(talk) ?? [];
        if (found !== undefined) resolve(found);
      });
    }
    child.once('exit', () => reject(new Error(talk)));
  });
  return {
    port: Number(new URL(link).port),
    link: link.replace('localhost', '127.0.0.1'),
    nameLink: link,
    stop: async () => {
      const ended = once(child, 'exit');
      if (isAtTerminal) child.stdin.write(CTRL_C);
      else child.kill();
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

/** Asks as the page of the console does, once it has redeemed its link. */
export async function signedIn({ port, link }: RunningConsole): Promise<(asked: Asked) => Promise<Got>> {
  const json = { host: `127.0.0.1:${port}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ code: new URL(link).hash.slice(1) });
  const first = await ask(port, { method: 'POST', path: CONSOLE_PATHS.signIn[1], headers: json, body });
  const cookie = first.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  const { key } = JSON.parse(first.text) as { readonly key: string };
  const own = { ...json, cookie, [PAGE_KEY_HEADER]: key };
  return (asked) => ask(port, { ...asked, headers: { ...own, ...asked.headers } });
}
