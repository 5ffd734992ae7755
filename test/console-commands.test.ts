import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { commandName } from '../src/cli/command.ts';
import { COMMANDS } from '../src/cli/command-list.ts';
import { COMMAND_INPUTS, type CommandPath, type RequestInput } from '../src/core/wire/command-shapes.ts';
import { CONSOLE_COMMANDS, commandWords, markText } from '../src/core/wire/console-commands.ts';
import { CONSOLE_PATHS, type ConsolePath } from '../src/core/wire/console-paths.ts';
import { enforces } from './enforces.ts';

/** The most that each request can carry. */
const WHOLE: { readonly [path in CommandPath]: RequestInput<path> } = {
  workflows: {},
  workflow: { id: 'a' },
  uses: { id: 'a' },
  versions: { a: 'a', b: 'b' },
  builtins: {},
  settings: {},
  setSetting: { key: 'mode', value: 'guided', scope: 'project' },
  servers: {},
  sources: {},
  addSource: { address: 'a', name: 'b', ref: 'c', folder: 'd' },
  removeSource: { name: 'a' },
  updateSource: { name: 'a', isDry: true, isForced: true },
  registrations: {},
  undoable: {},
  register: { client: 'zed', isForced: true },
  unregister: { client: 'zed' },
  doctor: {},
  fix: {},
  storage: { days: '30' },
  collect: { days: '30', isBinEmptied: true },
  bin: {},
  verify: {},
  keys: {},
  rotateKeys: {},
};

type Written = { [name in ConsolePath]: (typeof CONSOLE_PATHS)[name][0] extends 'POST' ? name : never }[ConsolePath];

/** What no command does, with why not, the page that does it, and what that page shows a person instead. */
const WITHOUT_COMMAND = {
  saveFile: {
    why: 'It writes a file that a person edits with any editor, so the page shows the path.',
    page: 'editor/editor.tsx',
    shown: /<p className="meta break">{shown\.path}<\/p>/,
  },
  addPasskey: {
    why: 'Only a browser can make a passkey. By a command, an approver is added with a key of another kind.',
    page: 'pages/approvers.tsx',
    shown: /workrail approvers add KEY/,
  },
} as const;

/** Every other request that carries something, with the command that does the same. A page asks for its key first. */
const OTHERS: { readonly [path in Exclude<Written, CommandPath | 'signIn' | keyof typeof WITHOUT_COMMAND>]: string } = {
  prefer: 'session prefer',
  mark: 'session close',
  import: 'import',
  answer: 'answer',
  challenge: 'answer',
  checkText: 'workflow check',
  suggest: 'workflow check',
  previewText: 'workflow preview',
  rehearse: 'workflow dry-run',
  testText: 'workflow test',
  createWorkflow: 'workflow new',
};

const textOf = (page: string) => readFileSync(new URL(`../console/${page}`, import.meta.url), 'utf8');

const pages = ['pages', 'parts', 'editor', 'settings'].flatMap((folder) =>
  readdirSync(new URL(`../console/${folder}`, import.meta.url))
    .filter((name) => name.endsWith('.tsx'))
    .map((name) => textOf(`${folder}/${name}`)),
);

it('every request that is a command names a command and only options that it has', async () => {
  enforces('console_settings_scope');
  for (const path of Object.keys(CONSOLE_COMMANDS) as CommandPath[]) {
    expect(COMMAND_INPUTS[path].safeParse(WHOLE[path]).success).toBe(true);
    const words = commandWords(path, WHOLE[path] as never);
    const entry = COMMANDS.find((one) => `${words.join(' ')} `.startsWith(`${commandName(one)} `));
    const { options = [] } = (await entry?.load()) ?? expect.fail(words.join(' '));
    const known = options.map(({ flags }) => flags.split(/[ ,]/).find((flag) => flag.startsWith('--')));
    expect([path, words.filter((word) => word.startsWith('--') && !known.includes(word))]).toEqual([path, []]);
  }
});

it('no value of a request becomes an option, ends a word or is longer than a name', () => {
  enforces('console_settings_scope');
  const hostile = ['--help', '-x', '--upload-pack=x', 'a\u0000b', 'x'.repeat(100_000), '', ['a'], { a: 1 }, null];
  for (const path of Object.keys(CONSOLE_COMMANDS) as CommandPath[]) {
    for (const [name, value] of Object.entries(WHOLE[path])) {
      if (typeof value !== 'string') continue;
      const read = hostile.filter((bad) => COMMAND_INPUTS[path].safeParse({ ...WHOLE[path], [name]: bad }).success);
      expect([path, name, read]).toEqual([path, name, []]);
    }
    expect([path, COMMAND_INPUTS[path].safeParse({ ...WHOLE[path], more: 'x' }).success]).toEqual([path, false]);
  }
});

it('everything else that a page can change is a command too, or says why not, and a page shows it', () => {
  const names = COMMANDS.map(commandName);
  for (const [path, command] of Object.entries(OTHERS)) {
    expect([path, names.includes(command)]).toEqual([path, true]);
    const isShown = path === 'mark' ? /title={markText\(/ : new RegExp(`workrail ${command}`);
    expect([path, pages.some((page) => isShown.test(page))]).toEqual([path, true]);
  }
  for (const [path, { why, page, shown }] of Object.entries(WITHOUT_COMMAND)) {
    expect([path, why, shown.test(textOf(page))]).toEqual([path, why, true]);
  }
  for (const mark of ['closed', 'open', 'kept', 'not_kept', 'deleted', 'restored'] as const) {
    const [, ...words] = markText(mark, ['7f3a']).split(' ');
    expect(names).toContain(words.slice(0, 2).join(' '));
  }
});

it('a page changes this machine only through the part that shows the command first', () => {
  const written = Object.entries(CONSOLE_PATHS).flatMap(([name, [method]]) =>
    method === 'POST' && Object.hasOwn(CONSOLE_COMMANDS, name) ? [name] : [],
  );
  const direct = pages.flatMap((page) => [...page.matchAll(/write\('(\w+)'/g)].map(([, name = '']) => name));
  // Looking for updates changes nothing, and its command is shown with what it found.
  expect(direct.filter((name) => written.includes(name))).toEqual(['updateSource']);
  const buttons = pages.flatMap((page) => [...page.matchAll(/path="(\w+)"/g)].map(([, name = '']) => name));
  expect([...new Set(buttons)].sort()).toEqual(written.sort());
});
