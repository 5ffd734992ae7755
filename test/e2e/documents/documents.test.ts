import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { measurementsPage } from '../../../bench/measurements.ts';
import { budgeted, noted } from '../../../bench/row.ts';
import { ERROR_CODES } from '../../../src/core/log/error-envelope.ts';
import { UNWRITTEN } from '../../../src/core/workflow/lint/text-rules.ts';
import { enforces } from '../../enforces.ts';
import { CLIENTS } from '../clients.ts';
import { runSmall } from '../small-program.ts';
import { writtenPages } from './written-commands.ts';

const PAGES = writtenPages();
/** Typed by people in a clone, and run by other tests or by CI itself. */
const ELSEWHERE =
  /^(?:npm (?:start|test|install|run [\w:-]+)\b|claude |node scripts\/|WORKRAIL_DATA_DIR=|node_modules\/|npx )/;
/** Fills the reader's example values in. */
const EXAMPLE_TAG = '7f3a';
const EXAMPLE_REPOSITORY = 'https://example.org/team/flows.git';

const PART = { name: 'Part', description: 'A part of a page.', about: 'A part.', examples: ['Show a part of it'] };

let place: string;
let tag: string;
const at = (...names: string[]) => join(place, ...names);
const env = (data = 'data', home = 'home') => ({
  PATH: process.env['PATH'] ?? '',
  HOME: at(home),
  WORKRAIL_DATA_DIR: at(data),
});

beforeAll(async () => {
  place = mkdtempSync(join(tmpdir(), 'workrail-documents-'));
  for (const folder of ['home/.cursor', 'project', 'flows.git/workflows']) mkdirSync(at(folder), { recursive: true });
  const git = (...args: string[]) => execFileSync('git', ['-C', at('flows.git'), ...args], { stdio: 'ignore' });
  writeFileSync(
    at('flows.git/workflows/team.hello.json'),
    readFileSync('workflows/wr.first_steps.json', 'utf8').replace('wr.first_steps', 'team.hello'),
  );
  git('init', '--quiet', '--initial-branch=main');
  git('add', '--all');
  git('-c', 'user.name=test', '-c', 'user.email=test@example.org', 'commit', '--quiet', '-m', 'first');
  cpSync('examples', at('project/examples'), { recursive: true });
  tag = await branchedRun();
});

afterAll(() => {
  rmSync(place, { recursive: true, force: true });
});

/** A run that was rewound and is not finished, in the project of the reader. */
async function branchedRun(): Promise<string> {
  const client = await CLIENTS['client 2.x']?.(env());
  if (client === undefined) throw new Error('there is no such client');
  const call = async (name: string, args: Record<string, unknown>) =>
    (await client.call(name, args)).structuredContent as { run: { tag: string }; ackToken: string; stateToken: string };
  const report = (ackToken: string, notesMarkdown: string) =>
    call('continue_workflow', { ackToken, output: { notesMarkdown } });
  const goal = 'Add a --json flag to the export command';
  const first = await call('start_workflow', { workflowId: 'wr.first_steps', goal, workspacePath: at('project') });
  const second = await report(first.ackToken, 'Looked around.');
  await report(second.ackToken, 'One proposal.');
  const again = await call('continue_workflow', { stateToken: second.stateToken });
  await report(again.ackToken, 'Another proposal.');
  await client.close();
  return first.run.tag;
}

/** What the guide asks of the author of a new workflow. */
function writeTemplateTexts(id: string): void {
  const file = at('project/.workrail/workflows', `${id}.json`);
  const text = readFileSync(file, 'utf8').replace(UNWRITTEN.about, PART.about);
  writeFileSync(file, text.replace(UNWRITTEN.example, 'Show a part of it'));
}

describe.each(PAGES.filter(({ commands }) => commands.length > 0))('the commands of $path', ({ path, commands }) => {
  it('the commands on the page do what it says, in order', async () => {
    enforces('cli_docs_commands_run_in_ci');
    const typed = commands.filter((line) => !ELSEWHERE.test(line));
    const foreign = typed.filter((line) => !/^(?:workrail|node dist\/workrail\.js) /.test(line));
    expect(foreign).toEqual([]);
    // Every page is read on a machine of its own, and a bundle is taken in on another one.
    const machine = path.replaceAll('/', '-');
    cpSync(at('data'), at(machine), { recursive: true });
    const home = `${machine}-home`;
    cpSync(at('home'), at(home), { recursive: true });
    for (const line of typed) {
      const words = wordsOf(line.replaceAll(EXAMPLE_TAG, tag).replaceAll(EXAMPLE_REPOSITORY, at('flows.git')));
      const args = words[0] === 'node' ? words.slice(2) : words.slice(1);
      const variables = env(args[0] === 'import' ? 'elsewhere' : machine, home);
      const ran = await runSmall(args, { cwd: at('project'), env: variables });
      // A doctor may find something on a machine where nobody is registered; that is what it is for.
      const isFine = ran.exitCode === 0 || (/ doctor$/.test(line) && ran.exitCode === 4);
      expect({ line, said: isFine ? '' : ran.talk + ran.out }).toEqual({ line, said: '' });
      if (args[0] === 'workflow' && args[1] === 'new') writeTemplateTexts(String(args[2]));
    }
  }, 120_000);
});

type DryRun = { readonly calls: readonly { readonly blockers: readonly { readonly code: string }[] }[] };

describe('the documents', () => {
  it('the documents show only valid JSON and workflows that pass the check', async () => {
    enforces('cli_docs_commands_run_in_ci');
    const snippets = PAGES.flatMap(({ path, json }) =>
      json.map((text) => ({ path, value: JSON.parse(text) as unknown })),
    );
    expect(snippets.length).toBeGreaterThan(0);
    for (const [i, { path, value }] of snippets.entries()) {
      const steps = Array.isArray(value) ? value : undefined;
      const isWorkflow = typeof value === 'object' && value !== null && 'steps' in value;
      if (steps === undefined && !isWorkflow) continue;
      const whole = steps === undefined ? (value as { id: string }) : { ...PART, id: `project.part_${i}`, steps };
      const file = at(`${whole.id}.json`);
      writeFileSync(file, JSON.stringify(whole));
      const run = (...words: readonly string[]) => runSmall(['workflow', ...words], { cwd: place, env: env() });
      const ran = await run('check', file, '--strict');
      expect([path, ran.exitCode, ran.exitCode === 0 ? '' : ran.out]).toEqual([path, 0, '']);
      // A user who takes over an example must not be blocked by it, or find half of it passed over.
      const { data } = JSON.parse((await run('dry-run', file, '--yes', '--json')).out) as { data: DryRun };
      expect([path, data]).toEqual([path, expect.objectContaining({ isComplete: true, skipped: [] })]);
      // Waiting for a person is what some examples show.
      const blockers = data.calls.flatMap((call) => call.blockers.map(({ code }) => code));
      expect([path, blockers.filter((code) => code !== 'USER_ONLY_DEPENDENCY')]).toEqual([path, []]);
    }
  });

  it('the documents link only to existing pages, by relative paths', () => {
    const files = execFileSync('git', ['ls-files', '*.md', ':!test'], { encoding: 'utf8' }).trim().split('\n');
    const links = files.flatMap((path) =>
      [...readFileSync(path, 'utf8').matchAll(/\]\((?!https?:)([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, target = '']) => ({
        path,
        target,
      })),
    );
    expect(links.length).toBeGreaterThan(100);
    const broken = links.filter(
      // The repository's own pages, wherever it is hosted.
      ({ path, target }) =>
        !/^\.\.\/\.\.\/(?:issues|discussions|releases)$/.test(target) && !existsSync(join(dirname(path), target)),
    );
    expect(broken).toEqual([]);
  });

  it('every heading that a document links to exists', () => {
    const files = execFileSync('git', ['ls-files', '*.md', ':!test'], { encoding: 'utf8' }).trim().split('\n');
    const links = files.flatMap((path) =>
      [...prose(path).matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)].map(([, target = '', anchor = '']) => ({
        page: target === '' ? path : join(dirname(path), target),
        path,
        anchor,
      })),
    );
    expect(links.length).toBeGreaterThan(100);
    const broken = links.filter(({ page, anchor }) => page.endsWith('.md') && !anchorsOf(page).has(anchor));
    expect(broken).toEqual([]);
  });

  it('every page of docs has its title in front matter, and can be reached from the index', () => {
    enforces('docs_as_a_site');
    const files = execFileSync('git', ['ls-files', 'docs/*.md'], { encoding: 'utf8' }).trim().split('\n');
    const index = readFileSync('docs/index.md', 'utf8');
    const odd = files.filter((path) => {
      const text = readFileSync(path, 'utf8');
      const [, title] = /^---\ntitle: (.+)\n---\n\n# /.exec(text) ?? [];
      const [, heading = ''] = /^# (.+)$/m.exec(text) ?? [];
      const isListed = path === 'docs/index.md' || index.includes(`](${path.slice('docs/'.length)})`);
      return title !== JSON.stringify(heading.replaceAll('`', '')) || !isListed;
    });
    expect(files.length).toBeGreaterThan(20);
    expect(odd).toEqual([]);
  });

  it('the page of measurements names machine, date, commit and load, and marks what is over its budget', () => {
    enforces('measurements_page');
    const parts = [
      /^- Date: \d{4}-\d{2}-\d{2} · commit [0-9a-f]{10}$/m,
      /^- Machine: .+, \d+ cores, \d+ GiB of memory$/m,
      /^- System: .+, Node \d+\.\d+\.\d+$/m,
      /^- Load over 1, 5 and 15 minutes: /m,
      /^\| tools\/list \| \d+ B \| at most 7500 B/m,
    ];
    const kept = readFileSync('docs/measurements.md', 'utf8');
    const made = measurementsPage({
      sections: [
        { name: 'sizes', rows: [budgeted('tools/list', 8000, { max: 7500, unit: 'B' }), noted('a|b', 3, '×')] },
      ],
      machine: { processor: 'A chip', cores: 2, memoryBytes: 2 ** 34, system: 'Linux 6.1', node: '20.19.0' },
      at: '2026-01-02T03:04:05.678Z',
      commit: '0123456789',
      load: { before: [0, 0, 0], after: [1, 1, 1] },
    });
    for (const part of parts) expect([kept, made].map((page) => part.test(page))).toEqual([true, true]);
    expect(made).toContain('at most 7500 B **over** |');
    expect(made).toContain('| a\\|b | 3.00 × |  |');
  });

  it('every claim in the tables of the README links to its test, its page or its source', () => {
    enforces('readme_claims_linked');
    const readme = readFileSync('README.md', 'utf8');
    const rows = (heading: string) =>
      (readme.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '')
        .split('\n')
        .filter((line) => /^\| (?!When |Instead )/.test(line));
    const claims = rows('What happens when …');
    expect(claims.length).toBeGreaterThan(9);
    expect(claims.filter((row) => !/\[test\]\([\w./-]+\.test\.ts\)/.test(row))).toEqual([]);
    const compared = rows('How it compares');
    expect(compared.filter((row) => !/\[\d\]/.test(row))).toEqual([]);
    const [, date = ''] = /^Sources, as of (\d{4}-\d{2}-\d{2}): /m.exec(readme) ?? [];
    expect(Date.parse(date)).not.toBeNaN();
    for (const [, number] of compared.join('').matchAll(/\[(\d)\]/g)) expect(readme).toContain(`[${number}] [`);
    // The picture is drawn from a run, narrow enough for half a page, with glyphs that fonts for terminals have.
    const picture = readFileSync('docs/demo.svg', 'utf8');
    expect(Number(/viewBox="0 0 (\d+) /.exec(picture)?.[1])).toBeLessThanOrEqual(560);
    expect(picture).not.toContain('⑂');
    expect(readme.split('\n').findIndex((line) => line.includes('docs/demo.svg'))).toBeLessThan(8);
  });

  it('the documents explain every error code', () => {
    const { text = '' } = PAGES.find(({ path }) => path.endsWith('troubleshooting.md')) ?? {};
    expect(ERROR_CODES.filter((code) => !text.includes(`### ${code}\n`))).toEqual([]);
  });
});

/** A line as a shell splits it; only the quotes that our pages use. */
function wordsOf(line: string): readonly string[] {
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? '',
  );
}

/** A page without its code, where `#` and brackets are no headings and links. */
function prose(path: string): string {
  return readFileSync(path, 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '');
}

/** The names that the headings of a page get on GitHub: a repeated one has a number. */
function anchorsOf(path: string): ReadonlySet<string> {
  const counts = new Map<string, number>();
  const headings = [...prose(path).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => {
    const words = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const slug = words.replaceAll(/[^\p{L}\p{M}\p{N}_ -]/gu, '').replaceAll(' ', '-');
    const count = counts.get(slug) ?? 0;
    counts.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  });
  const named = [...prose(path).matchAll(/<a (?:id|name)="([^"]+)"/g)].map(([, name = '']) => name);
  return new Set([...headings, ...named]);
}
