import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fileStore } from '../../../src/adapters/file-store/file-store.ts';
import { printPdf } from '../../../src/adapters/print-pdf.ts';
import { nodeHasher } from '../../../src/adapters/system.ts';
import { reportHtml } from '../../../src/core/report/html/report-html.ts';
import { reportMarkdown } from '../../../src/core/report/markdown/report-markdown.ts';
import { withoutProgress } from '../../cli/without-progress.ts';
import { enforces } from '../../enforces.ts';
import { axeSource, findChromium, startBrowser } from '../browser.ts';
import { runSmall } from '../small-program.ts';
import { codingReport } from './hunted-report.ts';
import { ANATOMY, LOW_CONTRAST } from './page-probes.ts';
import { bugHunt, huntEngine } from './report-session.ts';

/** Set it to a folder to look at the pictures. */
const shots = process.env['WORKRAIL_SHOTS'];
let folder: string;
let page: string;
let told: { readonly md: string; readonly piped: string };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'workrail-report-'));
  const dataDir = join(folder, 'data');
  const sessionId = await bugHunt(huntEngine({ store: fileStore(dataDir, nodeHasher.sha256) }), HOSTILE);
  page = join(folder, 'report.html');
  const env = { PATH: process.env['PATH'] ?? '', HOME: homedir(), WORKRAIL_DATA_DIR: dataDir };
  const run = (...args: string[]) => runSmall(['export', sessionId.slice(-6), ...args], { env, cwd: '.' });
  expect(await run('--as', 'html', '-o', page)).toMatchObject({
    exitCode: 0,
    out: expect.stringContaining('Hidden: '),
  });
  const [md, piped] = [await run('--as', 'md'), await run('--as', 'html')];
  expect([md, piped].map(({ exitCode, talk }) => [exitCode, withoutProgress(talk)])).toEqual([
    [0, NEXT],
    [0, NEXT],
  ]);
  told = { md: md.out, piped: piped.out };
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('a report is the same in a file and in a pipe, and leaves no other file', () => {
  expect(readdirSync(folder).sort()).toEqual(['data', 'report.html']);
  expect(readFileSync(page, 'utf8')).toBe(told.piped);
  expect(told.md).toContain('# Checkout fails on an empty cart\n');
  expect(told.md.split('\n').filter((line) => /^#+ .*Not a heading/.test(line))).toEqual([]);
});

it('an HTML report has no element and no attribute that runs or loads anything', () => {
  enforces('report_notes_inert', 'report_page_self_contained');
  const body = told.piped.replace(/<style>[^<]*<\/style>/, '');
  const tags = [...body.matchAll(/<([a-z][\w-]*)((?:\s+[\w-]+(?:="[^"<>]*")?)*)\s*\/?>/gi)];
  // Nothing else begins with a bracket: a text has none.
  expect(body.match(/</g)).toHaveLength(tags.length + (body.match(/<\/[a-z]\w*>/g)?.length ?? 0) + 1);
  expect(
    [...new Set(tags.map(([, name]) => name))].filter((name) => ACTIVE.includes((name ?? '').toLowerCase())),
  ).toEqual([]);
  const attributes = tags.flatMap(([, , rest = '']) => [...rest.matchAll(/([\w-]+)(?:="([^"]*)")?/g)]);
  const names = new Set(attributes.map(([, name = '']) => name));
  expect([...names].filter((name) => /^(?:on.*|style|src.*|action|background|poster|ping|xlink)$/i.test(name))).toEqual(
    [],
  );
  const targets = attributes.filter(([, name]) => name === 'href').map(([, , value = '']) => value);
  expect(targets.length).toBeGreaterThan(10);
  expect(targets.filter((target) => !/^(?:#[\w-]+|https:\/\/[\w./?=&;-]+)$/.test(target))).toEqual([]);
  expect(told.piped).toContain(`content="default-src 'none'; style-src 'sha256-`);
});

it('an HTML report is readable in light, dark and print, loads nothing and executes no note', async ({ skip }) => {
  enforces('report_notes_inert', 'report_page_self_contained');
  const browser = await startBrowser();
  if (browser === undefined) {
    skip('no chromium');
    return;
  }
  await lookAt(browser);
});

async function lookAt(browser: Browser): Promise<void> {
  const url = pathToFileURL(page).href;
  const pictures: Buffer[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    const context = await browser.newContext({ colorScheme, viewport: { width: 1_000, height: 900 } });
    const tab = await context.newPage();
    const requests: string[] = [];
    const noise: string[] = [];
    context.on('request', (request) => requests.push(request.url()));
    tab.on('console', (message) => noise.push(message.text()));
    tab.on('dialog', (dialog) => {
      noise.push(dialog.message());
      dialog.dismiss();
    });
    await tab.goto(url);
    expect(await tab.evaluate(ANATOMY)).toEqual({
      active: [],
      handlers: [],
      links: ['file:#', 'https:'],
      dangling: 0,
      doubled: 0,
      owned: null,
      bidi: false,
      title: 'Checkout fails on an empty cart',
      lang: 'en',
      landmarks: [1, 1, 1, 1],
      headings: [],
      graphs: 1,
      isStyled: true,
    });
    expect(await tab.evaluate(LOW_CONTRAST)).toEqual({ seen: expect.toSatisfy((seen) => seen > 200), low: [] });
    pictures.push(await tab.screenshot({ fullPage: true, ...(shots === undefined ? {} : shotIn(shots, colorScheme)) }));

    await tab.setViewportSize({ width: 360, height: 800 });
    expect(await tab.evaluate('document.documentElement.scrollWidth')).toBe(360);
    if (shots !== undefined) await tab.screenshot({ fullPage: true, ...shotIn(shots, `${colorScheme}-phone`) });
    await tab.emulateMedia({ media: 'print', colorScheme });
    expect(await tab.evaluate(LOW_CONTRAST)).toEqual({ seen: expect.toSatisfy((seen) => seen > 200), low: [] });
    const pdf = await tab.pdf({
      format: 'A4',
      printBackground: false,
      ...(shots === undefined ? {} : { path: join(shots, `${colorScheme}.pdf`) }),
    });
    expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
    expect([requests, noise]).toEqual([[url], []]);
    await context.close();
  }
  const [light, dark] = pictures;
  expect(light?.equals(dark ?? light)).toBe(false);
}

it('the report of a four-step coding task shows goal, outcome, checks and approvals first, on at most 2,200 pixels', async ({
  skip,
}) => {
  const browser = await startBrowser();
  if (browser === undefined) {
    skip('no chromium');
    return;
  }
  const file = join(folder, 'coding.html');
  const report = await codingReport(HOSTILE);
  writeFileSync(file, reportHtml(report));
  expect(reportMarkdown(report)).toMatch(
    /\*\*Result:\*\* The flag works[\s\S]*\| AC2 \| pass, reported \|[\s\S]*\*\*Approvals:/,
  );
  for (const [colorScheme, width] of [
    ['light', 1_440],
    ['dark', 390],
  ] as const) {
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 900 }, bypassCSP: true });
    const tab = await context.newPage();
    await tab.goto(pathToFileURL(file).href);
    const bottoms =
      '["h1", ".result", ".outcome table", ".cols"].map((it) => document.querySelector(it).getBoundingClientRect().bottom)';
    expect(Math.max(...((await tab.evaluate(bottoms)) as number[]))).toBeLessThan(width === 390 ? 1_100 : 900);
    expect(await tab.evaluate('[document.documentElement.scrollWidth, window.owned ?? null]')).toEqual([width, null]);
    if (width === 1_440) expect(await tab.evaluate('document.documentElement.scrollHeight')).toBeLessThanOrEqual(2_200);
    await tab.evaluate(axeSource());
    const found = 'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html].join()))';
    expect(await tab.evaluate(found)).toEqual([]);
    if (shots !== undefined) await tab.screenshot({ fullPage: true, ...shotIn(shots, `coding-${width}`) });
    await context.close();
  }
  const pdf = (await printPdf(reportHtml(report), { CHROMIUM_PATH: await findChromium(process.env) }))._unsafeUnwrap();
  expect(Buffer.from(pdf.subarray(0, 5)).toString()).toBe('%PDF-');
  expect((await printPdf('', { PATH: '' })).isErr()).toBe(true);
});

function shotIn(into: string, name: string): { readonly path: string } {
  mkdirSync(into, { recursive: true });
  return { path: join(into, `${name}.png`) };
}

const ACTIVE =
  'script img iframe frame object embed link base form input video audio source style foreignobject animate use template'.split(
    ' ',
  );

const NEXT = 'Next: check the report before you share it\n';

const HOSTILE = [
  '<script>window.owned = 1; alert(1)</script>',
  '<img src=x onerror="window.owned = 2">',
  '# Not a heading of the page </h4></article></main>',
  '[run](javascript:window.owned=3) [data](data:text/html,<script>alert(1)</script>) [ok](https://shop.example/ok)',
  '![pixel](https://tracker.example/pixel.png) ![inline](data:image/svg+xml,%3Csvg%20onload=alert(1)%3E)',
  '<style>body{display:none}</style><link rel=stylesheet href=https://tracker.example/x.css><base href=https://tracker.example>',
  '<svg onload="window.owned = 4"><animate onbegin=alert(1)></svg><iframe src=https://tracker.example></iframe>',
  '\u202egnp.tfosorcim\u2066 \u0007 <!-- ',
  `"><a href="https://tracker.example" onclick="window.owned=5" style="position:fixed">x`,
  '```\n</code></pre><script>window.owned = 6</script>\n```',
  `| a | b |\n| - | - |\n| <td onclick=x> | ${'long'.repeat(60)} |`,
].join('\n\n');
