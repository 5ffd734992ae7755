import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { err, ok, type Result } from 'neverthrow';
import type { PdfFailure } from '../app/ports/bundle-output.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'microsoft-edge', 'chrome'];
/** Where browsers are that are not on the path. */
const PLACES = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe',
];
const TIME_MAX_MS = 60_000;

/** Prints a page without scripts as PDF, with a browser that is already installed. */
export async function printPdf(html: string, env: NodeJS.ProcessEnv): Promise<Result<Uint8Array, PdfFailure>> {
  const browser = findBrowser(env);
  if (browser === undefined) return err({ code: 'no_browser' });
  const folder = await mkdtemp(join(tmpdir(), 'workrail-pdf-'));
  try {
    const page = join(folder, 'report.html');
    await writeFile(page, html, { mode: 0o600 });
    return ok(await printed(browser, { url: pathToFileURL(page).href, profile: join(folder, 'profile') }));
  } catch (error) {
    return err({ code: 'print_failed', browser, cause: error instanceof Error ? error.message : String(error) });
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Asks the browser over a pipe that only this process has: no port is opened. */
async function printed(
  browser: string,
  { url, profile }: { readonly url: string; readonly profile: string },
): Promise<Uint8Array> {
  const child = spawn(
    browser,
    [
      '--headless',
      '--disable-gpu',
      '--disable-extensions',
      '--no-first-run',
      '--remote-debugging-pipe',
      `--user-data-dir=${profile}`,
      // The sandbox of the browser does not start for root. The page is our own and runs nothing.
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      'about:blank',
    ],
    { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'], timeout: TIME_MAX_MS },
  );
  const ended = new Promise<never>((_, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => reject(new Error(`it ended with ${code ?? signal}`)));
  });
  ended.catch(() => undefined);
  try {
    const ask = asking(child.stdio[3] as Writable, child.stdio[4] as Readable);
    const print = async () => {
      const { targetId } = await ask('Target.createTarget', { url: 'about:blank' });
      const { sessionId } = await ask('Target.attachToTarget', { targetId, flatten: true });
      const loaded = ask.once('Page.loadEventFired');
      await ask('Page.enable', {}, sessionId);
      await ask('Page.navigate', { url }, sessionId);
      await loaded;
      const { data } = await ask('Page.printToPDF', A4, sessionId);
      return Buffer.from(String(data), 'base64');
    };
    return await Promise.race([print(), ended]);
  } finally {
    child.kill('SIGKILL');
  }
}

const A4 = { paperWidth: 8.27, paperHeight: 11.69, printBackground: false };

type Answer = { readonly [name: string]: unknown };
type Ask = {
  (method: string, params: object, sessionId?: unknown): Promise<Answer>;
  /** Waits for an event. */
  readonly once: (method: string) => Promise<void>;
};

/** Messages are JSON, each followed by a zero byte. */
function asking(input: Writable, output: Readable): Ask {
  const waiting = new Map<
    number,
    { readonly resolve: (answer: Answer) => void; readonly reject: (why: Error) => void }
  >();
  const events = new Map<string, () => void>();
  let rest = '';
  output.setEncoding('utf8');
  output.on('data', (piece: string) => {
    const messages = `${rest}${piece}`.split('\0');
    rest = messages.pop() ?? '';
    for (const text of messages) {
      const { id, method, result, error } = JSON.parse(text) as {
        readonly id?: number;
        readonly method?: string;
        readonly result?: Answer;
        readonly error?: { readonly message: string };
      };
      if (method !== undefined) events.get(method)?.();
      const asked = id === undefined ? undefined : waiting.get(id);
      if (error !== undefined) asked?.reject(new Error(error.message));
      else asked?.resolve(result ?? {});
    }
  });
  let last = 0;
  const ask = (method: string, params: object, sessionId?: unknown) =>
    new Promise<Answer>((resolve, reject) => {
      last += 1;
      waiting.set(last, { resolve, reject });
      input.write(
        `${JSON.stringify({ id: last, method, params, ...(sessionId === undefined ? {} : { sessionId }) })}\0`,
      );
    });
  return Object.assign(ask, {
    once: (method: string) => new Promise<void>((resolve) => void events.set(method, resolve)),
  });
}

/** The one that `CHROMIUM_PATH` names, or the first on the path, or where browsers usually are. */
export function findBrowser(env: NodeJS.ProcessEnv): string | undefined {
  const named = env['CHROMIUM_PATH'];
  if (named !== undefined && named !== '') return isExecutable(named) ? named : undefined;
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return [...folders.flatMap((folder) => NAMES.map((name) => join(folder, name))), ...PLACES].find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
