import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONSOLE_PATHS } from '../../../src/core/wire/console-paths.ts';
import { EDITOR_INPUTS, EDITOR_REPLIES } from '../../../src/core/wire/editor-shapes.ts';
import { enforces } from '../../enforces.ts';
import { drawnSeed, isLong, share } from '../../volume.ts';
import { runSmall } from '../small-program.ts';
import { type Asked, type Got, type RunningConsole, signedIn, startConsole } from './console-server.ts';

/** The requests of the editor, made to a real console with the whole library. */
const PROGRAM = resolve('dist', 'workrail.js');
const BASE = `${JSON.stringify(
  {
    id: 'team.subject',
    name: 'Subject',
    description: 'A workflow that is edited.',
    version: '1.0.0',
    about: 'For the tests of the editor.',
    examples: ['Edit this workflow'],
    steps: [{ id: 'do', title: 'Do it', prompt: 'Do it, and write in your notes what you did.' }],
  },
  null,
  2,
)}\n`;

let folder: string;
let server: RunningConsole;
let call: (asked: Asked) => Promise<Got>;
const place = () => ({ env: { WORKRAIL_DATA_DIR: join(folder, 'data'), HOME: join(folder, 'home') }, cwd: here() });
const here = () => join(folder, 'here');
const own = () => join(here(), '.workrail', 'workflows');
const subject = () => join(own(), 'team.subject.json');

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'workrail-editor-')));
  mkdirSync(own(), { recursive: true });
  mkdirSync(join(folder, 'home'));
  mkdirSync(join(folder, 'outside'));
  writeFileSync(subject(), BASE);
  server = await startConsole({ ...place(), program: PROGRAM });
  call = await signedIn(server);
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

type Posted = Exclude<keyof typeof EDITOR_INPUTS, 'editFile'>;

async function post(name: Posted, body: object): Promise<Got> {
  return call({ method: 'POST', path: CONSOLE_PATHS[name][1], body: JSON.stringify(body) });
}

async function open(workflow: string) {
  const { text } = await call({ path: `/api/author/file?workflow=${encodeURIComponent(workflow)}` });
  return EDITOR_REPLIES.editFile.parse(JSON.parse(text));
}

async function save(asked: { readonly path: string; readonly text: string; readonly digest?: string | undefined }) {
  return EDITOR_REPLIES.saveFile.parse(JSON.parse((await post('saveFile', asked)).text));
}

type Finding = { readonly code: string };

async function checkedByEditor(path: string, text: string): Promise<readonly Finding[]> {
  const { text: reply } = await post('checkText', { path, text });
  return EDITOR_REPLIES.checkText.parse(JSON.parse(reply)).findings;
}

type CheckedFiles = readonly { readonly path: string; readonly findings: readonly Finding[] }[];

async function checkedByCommand(...args: readonly string[]): Promise<CheckedFiles> {
  const { out } = await runSmall(['workflow', 'check', ...args, '--json'], { ...place(), program: PROGRAM });
  return (JSON.parse(out) as { readonly data: { readonly files: CheckedFiles } }).data.files;
}

const CORPUS = process.env['WORKRAIL_CORPUS'] ?? resolve('..', 'shared', 'corpus');
const jsonIn = (from: string) => {
  try {
    return readdirSync(from).filter((name) => name.endsWith('.json') && !name.endsWith('.test.json'));
  } catch {
    return [];
  }
};

describe('what the editor reports is what "workflow check" reports', () => {
  it('about every bundled workflow, as it is', async () => {
    enforces('console_editor_checks_same');
    const reported = await checkedByCommand('--all');
    const bundled = reported.filter(({ path }) => path.startsWith(resolve('workflows')));
    expect(bundled.length).toBeGreaterThan(20);
    for (const { path, findings } of share(bundled, { every: 8 })) {
      expect([path, await checkedByEditor(path, readFileSync(path, 'utf8'))]).toEqual([path, findings]);
    }
  });

  it('about files of others and damaged files that nobody saved', async () => {
    enforces('console_editor_checks_same');
    const texts = [
      ...DAMAGED,
      ...share(
        jsonIn(CORPUS).map((name) => readFileSync(join(CORPUS, name), 'utf8')),
        { every: 7 },
      ),
      ...share(mutated(100), { every: 8 }),
    ];
    const codes = new Set<string>();
    for (const text of texts) {
      const found = await checkedByEditor(subject(), text);
      writeFileSync(subject(), text);
      const [reported] = await checkedByCommand(subject());
      writeFileSync(subject(), BASE);
      expect({ text, findings: found }).toEqual({ text, findings: reported?.findings });
      for (const { code } of found) codes.add(code);
    }
    expect(codes.size).toBeGreaterThan(isLong ? 8 : 3);
  }, 240_000);
});

/** The seed may damage only what is never read, or everything in the same way. Each of these has an error of its own. */
const DAMAGED = [
  BASE.slice(0, BASE.length / 2),
  BASE.replace('"title": "Do it"', '"title": ""'),
  BASE.replace('"title": "Do it"', '"titel": "Do it"'),
  BASE.replace('"1.0.0"', '7'),
  BASE.replace('"steps"', '"steps": [], "steps"'),
];

/** Bundled workflows under an id of their own, each damaged in a few places. The seed says how. */
function mutated(count: number): readonly string[] {
  const sources = jsonIn('workflows').map((name) =>
    readFileSync(join('workflows', name), 'utf8').replace(/"id": "wr\.\w+"/, '"id": "team.subject"'),
  );
  const place = fc.nat({ max: 1_000_000 });
  const change = fc.tuple(fc.constantFrom(...MUTATIONS), place);
  const one = fc.tuple(fc.constantFrom(...sources), fc.array(change, { minLength: 1, maxLength: 4 }));
  return fc
    .sample(one, { numRuns: count, seed: drawnSeed() })
    .map(([text, changes]) => changes.reduce((whole, [mutate, at]) => mutate(whole, at), text));
}

const MUTATIONS: readonly ((text: string, at: number) => string)[] = [
  // A line is lost.
  (text, at) => withLine(text, at, () => []),
  // A line is there twice.
  (text, at) => withLine(text, at, (line) => [line, line]),
  // A key is misspelt.
  (text, at) => withLine(text, at, (line) => [line.replace(/"(\w)(\w)(\w*)":/, '"$2$1$3":')]),
  // A text is empty.
  (text, at) => withLine(text, at, (line) => [line.replace(/: "[^"]*"/, ': ""')]),
  // A value is of another kind.
  (text, at) => withLine(text, at, (line) => [line.replace(/: "[^"]*"/, ': 7')]),
  // A name is another one.
  (text, at) => withLine(text, at, (line) => [line.replace(/"wr\.(\w+)\.\w+"/, '"wr.$1.unknown"')]),
  // The file breaks off.
  (text, at) => text.slice(0, at % text.length),
];

function withLine(text: string, at: number, change: (line: string) => readonly string[]): string {
  const lines = text.split('\n');
  const line = at % lines.length;
  return lines.flatMap((one, i) => (i === line ? change(one) : [one])).join('\n');
}

describe('what is saved', () => {
  it('changes nothing but what was typed: byte order mark, line ends and spaces stay', async () => {
    enforces('console_save_keeps_bytes');
    const shapes: readonly ((text: string) => string)[] = [
      (text) => text,
      (text) => `\uFEFF${text}`,
      (text) => text.replaceAll('\n', '\r\n'),
      (text) => text.replace('\n', '\r\n').trimEnd(),
      (text) => text.replaceAll('  ', '\t').replace('Subject', 'Süßes 日本 \u{1F600}'),
    ];
    for (const shape of shapes) {
      const before = shape(BASE);
      writeFileSync(subject(), before);
      const { text = '', digest, path } = await open('team.subject');
      expect(text).toBe(before.replace(/^\uFEFF/, ''));
      expect(await save({ path, text: text.replace('Do it, and', 'Do this, and'), digest })).toMatchObject({
        kind: 'saved',
      });
      expect(readFileSync(subject(), 'utf8')).toBe(before.replace('Do it, and', 'Do this, and'));
    }
    writeFileSync(subject(), BASE);
  });

  it('never replaces what another program wrote meanwhile, and gives both versions back', async () => {
    enforces('console_save_keeps_both');
    const { digest, path } = await open('team.subject');
    writeFileSync(subject(), BASE.replace('Do it', 'Theirs'));
    const refused = await save({ path, text: BASE.replace('Do it', 'Mine'), digest });
    expect(refused).toMatchObject({ kind: 'changed', text: BASE.replace('Do it', 'Theirs') });
    expect(readFileSync(subject(), 'utf8')).toBe(BASE.replace('Do it', 'Theirs'));
    rmSync(subject());
    expect(await save({ path, text: BASE, digest })).toEqual({ kind: 'changed' });
    expect(await save({ path, text: BASE })).toMatchObject({ kind: 'saved' });
    expect(await save({ path, text: 'x' })).toMatchObject({ kind: 'changed', text: BASE });
    expect(readFileSync(subject(), 'utf8')).toBe(BASE);
  });

  it('is one of several texts that are saved at once; the others see which', async () => {
    enforces('console_save_keeps_both');
    const { digest, path } = await open('team.subject');
    const texts = Array.from({ length: 12 }, (_, i) => BASE.replace('Do it', `Version ${i}`));
    const ended = await Promise.all(texts.map((text) => save({ path, text, digest })));
    const won = ended.findIndex(({ kind }) => kind === 'saved');
    expect(ended.filter(({ kind }) => kind === 'saved')).toHaveLength(1);
    expect(readFileSync(subject(), 'utf8')).toBe(texts[won]);
    for (const one of ended) if (one.kind === 'changed') expect(one.text).toBe(texts[won]);
    writeFileSync(subject(), BASE);
  });

  it('can only be a workflow file of the author, or its scenarios', async () => {
    enforces('console_edits_source_only', 'console_bundled_read_only');
    const bundled = await open('wr.first_steps');
    expect(bundled.readOnly).toBe('bundled');
    writeFileSync(join(folder, 'outside', 'team.linked.json'), BASE.replace('team.subject', 'team.linked'));
    symlinkSync(join(folder, 'outside'), join(own(), 'link'));
    symlinkSync(join(folder, 'outside', 'team.linked.json'), join(own(), 'team.linked.json'));
    const pinned = join(folder, 'data', 'content', 'x.json');
    const before = readFileSync(bundled.path, 'utf8');
    const paths = [
      bundled.path,
      bundled.scenarios.path,
      join(own(), 'team.linked.json'),
      join(own(), 'link', 'team.new.json'),
      join(own(), '..', '..', 'package.json'),
      `${own()}/../bindings.json`,
      join(here(), 'package.json'),
      join(own(), 'notes.txt'),
      pinned,
      '/etc/passwd',
      '../outside.json',
      'team.subject.json',
      '',
      '\0.json',
    ];
    for (const path of paths) {
      for (const digest of [bundled.digest, undefined]) {
        const got = await post('saveFile', { path, text: '{}', ...(digest === undefined ? {} : { digest }) });
        expect([path, got.status]).toEqual([path, 409]);
        expect(JSON.parse(got.text)).toMatchObject({
          error: { message: expect.any(String), suggestion: expect.any(String) },
        });
      }
    }
    expect(readFileSync(bundled.path, 'utf8')).toBe(before);
    expect(readdirSync(join(folder, 'outside'))).toEqual(['team.linked.json']);
    expect(readdirSync(here()).sort()).toEqual(['.workrail']);
    rmSync(join(own(), 'link'));
    rmSync(join(own(), 'team.linked.json'));
  });

  it('never takes the place of scenarios that are not text, and a link out of the folder is not followed', async () => {
    enforces('console_edits_source_only', 'console_save_keeps_bytes');
    const scenarios = join(own(), 'team.subject.test.json');
    const secret = join(folder, 'outside', 'secret.json');
    writeFileSync(secret, '{"secret":1}');
    const latin = Buffer.from('{"workflowId": "team.subject", "scenarios": [{"name": "caf\xe9"}]}', 'latin1');
    const put: readonly (readonly [why: RegExp, put: () => void])[] = [
      [/not UTF-8 text/, () => writeFileSync(scenarios, latin)],
      [new RegExp(`a link to ${secret}, outside of the folder`), () => symlinkSync(secret, scenarios)],
      [/not a readable file/, () => mkdirSync(scenarios)],
    ];
    for (const [why, make] of put) {
      make();
      const opened = await open('team.subject');
      expect(opened.readOnly).toBeUndefined();
      expect(opened.scenarios).toEqual({ path: scenarios, unread: expect.stringMatching(why) });
      for (const refused of [
        await post('saveFile', { path: scenarios, text: '{}' }),
        await post('testText', { path: subject(), text: BASE }),
      ]) {
        expect([refused.status, JSON.parse(refused.text).error.message]).toEqual([409, expect.stringMatching(why)]);
        expect(refused.text).not.toContain('"secret"');
      }
      if (why.source.includes('UTF-8')) expect(readFileSync(scenarios)).toEqual(latin);
      rmSync(scenarios, { recursive: true });
    }
    expect(readFileSync(secret, 'utf8')).toBe('{"secret":1}');
    // A link that stays in the folder is followed.
    writeFileSync(join(own(), 'shared.test.json'), '{}');
    symlinkSync('shared.test.json', scenarios);
    expect((await open('team.subject')).scenarios.text).toBe('{}');
    rmSync(scenarios);
    rmSync(join(own(), 'shared.test.json'));
    rmSync(secret);
  });

  it('a refusal names the place that a link leads to', async () => {
    const real = join(folder, 'outside', 'team.linked.json');
    writeFileSync(real, BASE.replace('team.subject', 'team.linked'));
    symlinkSync(real, join(own(), 'team.linked.json'));
    symlinkSync(join(folder, 'outside'), join(own(), 'link'));
    for (const [name, target] of [
      ['team.linked.json', real],
      ['link/team.new.json', join(folder, 'outside', 'team.new.json')],
    ] as const) {
      expect((await post('saveFile', { path: join(own(), name), text: '{}' })).text).toContain(target);
    }
    rmSync(join(own(), 'team.linked.json'));
    rmSync(join(own(), 'link'));
  });

  it('a copy of a bundled workflow has an id and a folder of its own, and wr is nobody else’s', async () => {
    enforces('console_bundled_read_only');
    const copy = (id: string) =>
      post('createWorkflow', { from: { kind: 'copy', workflow: 'wr.first_steps' }, id, to: 'project' });
    expect((await copy('wr.mine')).status).toBe(409);
    const made = EDITOR_REPLIES.createWorkflow.parse(JSON.parse((await copy('team.mine')).text));
    expect(made).toEqual({ id: 'team.mine', path: join(own(), 'team.mine.json') });
    const opened = await open('team.mine');
    expect(opened.readOnly).toBeUndefined();
    expect(opened.scenarios.text).toContain('"workflowId": "team.mine"');
    expect((await copy('team.mine')).status).toBe(409);
  });
});

it('requests of the wrong form are refused, and what is tried out is stored nowhere', async () => {
  for (const name of Object.keys(EDITOR_INPUTS).filter((one) => one !== 'editFile') as readonly Posted[]) {
    for (const body of [{}, { path: 7 }, { path: 'x', text: 'y', more: 1 }, []]) {
      expect([name, (await post(name, body)).status]).toEqual([name, 400]);
    }
  }
  const before = readdirSync(own());
  const texts = { path: subject(), text: BASE.replace('Do it', 'Something else') };
  await post('rehearse', { ...texts, sent: [{ notes: 'Done.', artifacts: [] }] });
  await post('previewText', texts);
  await post('testText', { ...texts, scenarios: '{}' });
  expect(readdirSync(own())).toEqual(before);
  expect(readFileSync(subject(), 'utf8')).toBe(BASE);
  expect(readdirSync(folder)).not.toContain('data');
});
