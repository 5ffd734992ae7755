import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Files by their paths; `null` removes one. */
export type Files = { readonly [path: string]: string | null };

/** A git repository with one commit, in a folder of its own. */
export type TinyRepository = {
  readonly folder: string;
  readonly write: (files: Files) => void;
  readonly commit: () => void;
  readonly remove: () => void;
};

export function tinyRepository(files: Files): TinyRepository {
  const room = mkdtempSync(join(realpathSync(tmpdir()), 'workrail-tiny-'));
  const folder = join(room, 'repo');
  mkdirSync(folder);
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=T', '-c', 'user.email=t@example.org', ...args], {
      stdio: 'ignore',
    });
  const write = (written: Files) => {
    for (const [path, text] of Object.entries(written)) {
      const at = join(folder, path);
      mkdirSync(dirname(at), { recursive: true });
      if (text === null) rmSync(at, { force: true });
      else writeFileSync(at, text);
    }
  };
  const commit = () => {
    git('add', '-A');
    git('commit', '-q', '--allow-empty', '-m', 'c');
  };
  git('init', '-q');
  write(files);
  commit();
  return { folder, write, commit, remove: () => rmSync(room, { recursive: true, force: true }) };
}

/** A function with a bug: what is on the base, what fixes it, and what shows the bug. */
export type Bug = { readonly name: string; readonly wrong: string; readonly right: string; readonly shows: string };

export const BUGS: readonly Bug[] = [
  { name: 'add', wrong: '(a, b) => a - b', right: '(a, b) => a + b', shows: 'assert.equal(lib.add(1, 2), 3)' },
  {
    name: 'largest',
    wrong: '(l) => l[0]',
    right: '(l) => Math.max(...l)',
    shows: 'assert.equal(lib.largest([1, 5, 2]), 5)',
  },
  { name: 'trimmed', wrong: '(t) => t', right: '(t) => t.trim()', shows: "assert.equal(lib.trimmed(' x '), 'x')" },
  {
    name: 'parsed',
    wrong: '(t) => Number(t) || 1',
    right: '(t) => Number(t)',
    shows: "assert.equal(lib.parsed('0'), 0)",
  },
  {
    name: 'isLeap',
    wrong: '(y) => y % 4 === 0',
    right: '(y) => (y % 4 === 0 && y % 100 !== 0) || y % 400 === 0',
    shows: 'assert.equal(lib.isLeap(1900), false)',
  },
];

export const source = (bug: Bug, body: string) => `export const ${bug.name} = ${body};\nexport const kept = () => 1;\n`;

const HEAD =
  "import assert from 'node:assert';\nimport test from 'node:test';\nimport * as lib from '../src/lib.mjs';\n";
export const testFile = (...lines: readonly string[]) => `${HEAD}${lines.join('\n')}\n`;
/** A test of something that was right before. */
export const KEPT = "test('keeps what was right', () => assert.equal(lib.kept(), 1));";
export const real = (bug: Bug) => `test('${bug.name} works', () => ${bug.shows});`;

export const TAP_SCRIPT = 'exec node --test --test-reporter=tap test/*.test.mjs\n';
export const JUNIT_SCRIPT =
  'mkdir -p out\nexec node --test --test-reporter=junit --test-reporter-destination=out/report.xml test/*.test.mjs\n';

/** What every repository begins with: a library with a bug, a test that does not see it, and a script that runs tests. */
export const begin = (bug: Bug, script = TAP_SCRIPT): Files => ({
  '.gitignore': 'out/\nnode_modules/\n',
  'src/lib.mjs': source(bug, bug.wrong),
  'test/kept.test.mjs': testFile(KEPT),
  'test.sh': script,
});
