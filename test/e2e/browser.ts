import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContext, chromium } from 'playwright-core';
import { findBrowser } from '../../src/adapters/print-pdf.ts';

/** Tools that `npm test` installs beside the tests. */
const testTools = createRequire(import.meta.url);

/** A browser that is there already wins: the one that `CHROMIUM_PATH` names, or the first on the path. */
export async function findChromium(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  return findBrowser(env) ?? unpackedChromium();
}

type Packed = { readonly default: { executablePath(): Promise<string> } };

async function unpackedChromium(): Promise<string | undefined> {
  try {
    const { default: packed } = (await import(testTools.resolve('@sparticuz/chromium'))) as Packed;
    return await packed.executablePath();
  } catch {
    // Not installed, or not made for this machine.
    return undefined;
  }
}

/** Vitest calls this once before the tests: two workers that unpack the same file at once cannot start it. */
export async function setup(): Promise<void> {
  await findChromium(process.env);
}

/** The one that tests share. Each has a context of its own in it, and it ends with the tests. */
let shared: Browser | undefined;

/** A browser in which nobody closes more than a context; without one, says loudly that nothing was tested. */
export async function startBrowser(): Promise<Browser | undefined> {
  if (shared?.isConnected()) return shared;
  const executablePath = await findChromium(process.env);
  if (executablePath !== undefined) {
    shared = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
    return shared;
  }
  process.stderr.write('\n!!! NOT TESTED: no chromium was found or could be unpacked, so no page was opened !!!\n\n');
  return undefined;
}

/** A browser with a folder of its own, which can be killed like one that crashes. */
export type OwnBrowser = { readonly context: BrowserContext; readonly kill: () => Promise<void> };

export async function startOwnBrowser(folder: string): Promise<OwnBrowser | undefined> {
  const executable = await findChromium(process.env);
  if (executable === undefined) return undefined;
  const args = ['--headless', '--no-sandbox', '--remote-debugging-port=0', `--user-data-dir=${folder}`, 'about:blank'];
  const child = spawn(executable, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const endpoint = await new Promise<string>((resolve, reject) => {
    let talk = '';
    child.stderr.on('data', (part: Buffer) => {
      talk += part.toString();
      const [, found] = /listening on (ws:\S+)/.exec(talk) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.once('exit', () => reject(new Error(talk)));
  });
  const browser = await chromium.connectOverCDP(endpoint);
  const [context = await browser.newContext()] = browser.contexts();
  return {
    context,
    kill: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** The source of axe, which runs inside a page. */
export function axeSource(): string {
  return readFileSync(testTools.resolve('axe-core/axe.min.js'), 'utf8');
}
