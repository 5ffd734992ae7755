import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { BrowserContext, CDPSession, Page } from 'playwright-core';
import { startBrowser } from '../test/e2e/browser.ts';
import { CLIENT_KINDS } from '../test/e2e/clients.ts';
import { type Asked, type Got, type RunningConsole, signedIn } from '../test/e2e/console/console-server.ts';
import { append, forkedSession, growingSession, hastyStore, inFolder, pinWorkflow } from './bench-store.ts';
import { budgeted, median, noted, type Row } from './row.ts';
import { bareNode, PROGRAM } from './start-up.ts';

const SESSIONS = 10_000;
const STEPS = 3;
const REQUESTS = 200;
const RUN = { nodes: 2_000, lines: 250 };
const ms = (max: number) => ({ max, unit: 'ms' });
const kB = (max: number) => ({ max, unit: 'kB' });

/** The console as a person has it: its files, its process beside many sessions, and its page in a browser. */
export async function benchConsole(): Promise<readonly Row[]> {
  return inFolder(async (root) => {
    const store = hastyStore(root);
    await pinWorkflow(store);
    for (let i = 0; i < SESSIONS; i++) {
      const session = growingSession(i + 1);
      for (let step = 0; step < STEPS; step++) await append(store.sessions, session.step());
    }
    const { sessionId, plans } = forkedSession(RUN);
    for (const plan of plans) await append(store.sessions, plan);
    await store.sessionIndex.settled();
    const started = await launch(root);
    const rows = [...fileSizes(), noted('bare node', await bareNode(), 'ms')];
    rows.push(budgeted('workrail console until its link is printed', started.wallMs, ms(400)));
    rows.push(...(await served(started)));
    rows.push(...(await browsed(root, sessionId)));
    return rows;
  });
}

type Started = RunningConsole & { readonly pid: number; readonly wallMs: number };

async function launch(root: string): Promise<Started> {
  const start = performance.now();
  const env = { ...process.env, WORKRAIL_DATA_DIR: root };
  const child = spawn(process.execPath, [PROGRAM, 'console', '--port', '0', '--no-open'], { env });
  let talk = '';
  const link = await new Promise<string>((done) => {
    child.stderr.on('data', (part: Buffer) => {
      talk += part.toString();
      const [, found] = /Open (http:\/\/localhost:\d+\/#[\w-]+)\n/.exec(talk) ?? [];
      if (found !== undefined) done(found);
    });
  });
  return {
    pid: child.pid ?? 0,
    wallMs: performance.now() - start,
    link: link.replace('localhost', '127.0.0.1'),
    nameLink: link,
    port: Number(new URL(link).port),
    stop: async () => {
      child.kill();
      const [exitCode] = await once(child, 'exit');
      return exitCode;
    },
  };
}

const EDITED = { steps: 100, keys: 60 };

/** The editor: its files, and how long a check takes after a key in a workflow of a hundred steps. */
export async function benchEditor(): Promise<readonly Row[]> {
  return inFolder(async (root) => {
    const started = await launch(root);
    const call = await signedIn(started);
    const file = (typed: string) => ({
      path: join(root, 'team.large.json'),
      text: JSON.stringify(largeWorkflow(typed), null, 2),
    });
    const check = async (typed: string) => {
      const body = JSON.stringify(file(typed));
      const start = performance.now();
      await call({ method: 'POST', path: '/api/author/check', body });
      return performance.now() - start;
    };
    const first = await check('first');
    for (let key = 0; key < EDITED.keys; key++) await check(`warm ${key}`);
    const before = cpuMs(started.pid);
    const times: number[] = [];
    for (let key = 0; key < EDITED.keys; key++) times.push(await check(`typed ${key}`));
    const cpu = (cpuMs(started.pid) - before) / EDITED.keys;
    await started.stop();
    return [
      budgeted('editor, scripts that only it loads, gzip', editorSize(), kB(150)),
      noted('first check in the editor', first, 'ms'),
      budgeted(`check after a key, ${EDITED.steps} steps, median`, median(times), ms(150)),
      noted(`check after a key, ${EDITED.steps} steps, slowest`, Math.max(...times), 'ms'),
      noted(`check after a key, ${EDITED.steps} steps, CPU`, cpu, 'ms'),
    ];
  });
}

function largeWorkflow(typed: string): object {
  const steps = Array.from({ length: EDITED.steps }, (_, i) => ({
    id: `step-${i}`,
    title: `Step ${i}`,
    prompt: `Do part ${i} of the work. ${'Look at what it touches. '.repeat(6)}Write in your notes what you did: ${typed}`,
    ...(i % 5 === 0 && { outputContract: { contractRef: 'wr.contracts.verification_report' } }),
    ...(i % 7 === 0 && { runCondition: { var: 'size', equals: 'large' } }),
  }));
  return { id: 'team.large', name: 'Large', description: 'A large workflow.', version: '1.0.0', steps };
}

/** What the page of the editor loads beyond what every page has. */
function editorSize(): number {
  const folder = 'dist/console/assets';
  const html = readFileSync('dist/console/index.html', 'utf8');
  const first = new Set([...html.matchAll(/assets\/([\w.-]+\.js)/g)].map(([, name = '']) => name));
  const chunk = readdirSync(folder).find((name) => /^editor-.*\.js\.gz$/.test(name)) ?? '';
  const name = chunk.replace(/\.gz$/, '');
  const common = importedBy(folder, first);
  const own = [...importedBy(folder, new Set([name]))].filter((one) => !common.has(one) && !first.has(one));
  return [name, ...own].reduce((sum, one) => sum + statSync(join(folder, `${one}.gz`)).size / 1_000, 0);
}

/** What a browser loads before it shows the list, and what it loads for a file. */
function fileSizes(): readonly Row[] {
  const folder = 'dist/console/assets';
  const html = readFileSync('dist/console/index.html', 'utf8');
  const needed = new Set([...html.matchAll(/assets\/([\w.-]+\.(?:js|css))/g)].map(([, name = '']) => name));
  const sizeOf = (name: string) => statSync(join(folder, `${name}.gz`)).size / 1_000;
  const total = (kind: string) =>
    [...needed].filter((name) => name.endsWith(kind)).reduce((sum, name) => sum + sizeOf(name), 0);
  const worker = readdirSync(folder).find((name) => name.startsWith('bundle-worker')) ?? '';
  return [
    budgeted('first load of the console, scripts, gzip', total('.js') + staticImports(folder, needed), kB(150)),
    budgeted('first load of the console, styles, gzip', total('.css'), kB(15)),
    budgeted('viewer of bundles, gzip', statSync(join(folder, worker)).size / 1_000, kB(70)),
  ];
}

/** The size of chunks that the first one cannot do without. */
function staticImports(folder: string, needed: ReadonlySet<string>): number {
  return [...importedBy(folder, needed)].reduce(
    (sum, name) => sum + statSync(join(folder, `${name}.gz`)).size / 1_000,
    0,
  );
}

function importedBy(folder: string, needed: ReadonlySet<string>): ReadonlySet<string> {
  const seen = new Set<string>();
  const visit = (name: string) => {
    const text = gunzipSync(readFileSync(join(folder, `${name}.gz`))).toString();
    for (const [, found = ''] of text.matchAll(/(?:from|import) ?"\.\/([\w.-]+\.js)"/g)) {
      if (seen.has(found) || needed.has(found)) continue;
      seen.add(found);
      visit(found);
    }
  };
  for (const name of needed) if (name.endsWith('.js')) visit(name);
  return seen;
}

/** Processor time of the process, as the system counts it. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

async function served(started: Started): Promise<readonly Row[]> {
  const call = await signedIn(started);
  const list = () => call({ path: '/api/sessions?limit=100' });
  const before = cpuMs(started.pid);
  await list();
  const first = cpuMs(started.pid) - before;
  // What the engine compiles on the way is not what a request costs.
  for (let i = 0; i < REQUESTS; i++) await list();
  const warm = cpuMs(started.pid);
  for (let i = 0; i < REQUESTS; i++) await list();
  const each = (cpuMs(started.pid) - warm) / REQUESTS;
  const at = performance.now();
  const many = await Promise.all(Array.from({ length: 20 }, () => list().then(() => performance.now() - at)));
  const search = await searched(call);
  const memory = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${started.pid}/status`, 'utf8'))?.[1]) / 1_024;
  await started.stop();
  return [
    budgeted(`list of ${SESSIONS} sessions, first, CPU`, first, ms(250)),
    budgeted(`list of ${SESSIONS} sessions, further, CPU of the server`, each, ms(5)),
    budgeted('20 lists at once, slowest', Math.max(...many), ms(100)),
    budgeted(`search in ${SESSIONS} sessions, 200 of them read`, search, ms(800)),
    budgeted(`memory of the console beside ${SESSIONS} sessions`, memory, { max: 200, unit: 'MiB' }),
  ];
}

async function searched(call: (asked: Asked) => Promise<Got>): Promise<number> {
  const start = performance.now();
  await call({ path: '/api/search?q=zebra' });
  return performance.now() - start;
}

const FRAMES = 120;
const TABS = 6;
const PUSHES = 20;

async function browsed(root: string, largest: string): Promise<readonly Row[]> {
  const browser = await startBrowser();
  if (browser === undefined) return [];
  const started = await launch(root);
  const context = await browser.newContext({ viewport: { width: 1_440, height: 900 } });
  const page = await context.newPage();
  const metrics = await context.newCDPSession(page);
  await metrics.send('Performance.enable', { timeDomain: 'threadTicks' });
  await page.goto(started.link);
  await page.waitForSelector('.row');
  const usable = (await taskMs(metrics)).tasks;
  const rows = [
    budgeted('CPU of the page until the list is usable', usable, ms(250)),
    budgeted(`scrolling ${SESSIONS} sessions, CPU a frame`, await scrolled(page, metrics, '.list'), ms(8)),
    ...(await filtered(page)),
    ...(await idle(page, metrics)),
    ...(await pushed(context, page, { root, port: started.port })),
    ...(await openedRun(page, metrics, `http://127.0.0.1:${started.port}/sessions/${largest}?branches=all`)),
  ];
  await browser.close();
  await started.stop();
  return rows;
}

async function taskMs(metrics: CDPSession): Promise<{ readonly tasks: number; readonly layouts: number }> {
  const { metrics: all } = (await metrics.send('Performance.getMetrics')) as {
    readonly metrics: readonly { readonly name: string; readonly value: number }[];
  };
  const value = (name: string) => all.find((one) => one.name === name)?.value ?? 0;
  return { tasks: value('TaskDuration') * 1_000, layouts: value('LayoutCount') };
}

/** What a frame costs while a list is scrolled down from its top. */
async function scrolled(page: Page, metrics: CDPSession, selector: string): Promise<number> {
  const scroll = (frames: number) =>
    page.evaluate(`(async () => {
      const list = document.querySelector('${selector}');
      list.scrollTo(0, 0);
      for (let i = 0; i < ${frames}; i++) {
        await new Promise(requestAnimationFrame);
        list.scrollBy(0, 60);
      }
    })()`);
  // A long run opens at its end.
  await scroll(1);
  const before = (await taskMs(metrics)).tasks;
  await scroll(FRAMES);
  const frame = ((await taskMs(metrics)).tasks - before) / FRAMES;
  await scroll(0);
  return frame;
}

/** A large run with all its branches open. */
async function openedRun(page: Page, metrics: CDPSession, address: string): Promise<readonly Row[]> {
  const steps = page.waitForResponse(/\/runs\/\w+$/);
  await page.goto(address);
  await page.waitForSelector('.step');
  // A new document counts from its start.
  const { tasks } = await taskMs(metrics);
  const size = gzipSync(await (await steps).body(), { level: 9 }).length / 1_000;
  return [
    budgeted(`steps of a run of ${RUN.nodes} nodes, gzip`, size, kB(40)),
    budgeted(`CPU of the page until a run of ${RUN.nodes} nodes is usable`, tasks, ms(200)),
    budgeted(
      `scrolling a run of ${RUN.nodes} nodes, CPU a frame`,
      await scrolled(page, metrics, '.step-scroll'),
      ms(8),
    ),
  ];
}

async function filtered(page: Page): Promise<readonly Row[]> {
  await page.keyboard.press('/');
  const start = performance.now();
  await page.keyboard.type('zzzz');
  await page.getByText('matches.').waitFor();
  const wallMs = performance.now() - start;
  await page.locator('input[type=search]').fill('');
  await page.waitForSelector('.row');
  return [noted('four letters of a filter until the rows follow', wallMs, 'ms')];
}

const IDLE_MS = 3_000;

async function idle(page: Page, metrics: CDPSession): Promise<readonly Row[]> {
  await page.waitForTimeout(1_000);
  const before = await taskMs(metrics);
  await page.waitForTimeout(IDLE_MS);
  const after = await taskMs(metrics);
  return [
    budgeted(`idle page, layouts in ${IDLE_MS / 1_000} s`, after.layouts - before.layouts, { max: 0, unit: '' }),
    noted(`idle page, CPU in ${IDLE_MS / 1_000} s`, after.tasks - before.tasks, 'ms'),
  ];
}

type Place = { readonly root: string; readonly port: number };

/** From the reply that an agent gets to the changed row on the screen, with several tabs open. */
async function pushed(context: BrowserContext, page: Page, { root, port }: Place): Promise<readonly Row[]> {
  for (let i = 1; i < TABS; i++) {
    const tab = await context.newPage();
    await tab.goto(`http://127.0.0.1:${port}/`);
    await tab.waitForSelector('.row');
  }
  await page.bringToFront();
  const connect = CLIENT_KINDS['client 2.x'];
  const agent = await connect?.({ env: { WORKRAIL_DATA_DIR: root }, cwd: root, program: resolve(PROGRAM) });
  const took: number[] = [];
  for (let i = 0; i < PUSHES; i++) {
    const goal = `Pushed ${i}`;
    const seen = page.evaluate<number>(`new Promise((done) => {
      const look = () => document.querySelector('.list')?.textContent.includes('${goal}"') ||
        document.querySelector('.row .goal')?.textContent === '${goal}';
      new MutationObserver((_, observer) => {
        if (!look()) return;
        observer.disconnect();
        requestAnimationFrame(() => done(Date.now()));
      }).observe(document.body, { subtree: true, childList: true, characterData: true });
    })`);
    await agent?.call('start_workflow', { workflowId: 'wr.first_steps', goal });
    const replied = Date.now();
    took.push(Math.max(0, (await seen) - replied));
  }
  await agent?.close();
  const sorted = took.toSorted((a, b) => a - b);
  return [
    budgeted(`reply of a tool to pixel with ${TABS} tabs, median`, median(took), ms(150)),
    budgeted(
      `reply of a tool to pixel with ${TABS} tabs, 95th of 100`,
      sorted[Math.floor(PUSHES * 0.95)] ?? 0,
      ms(500),
    ),
  ];
}
