import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { bannedWords } from './tidy/banned-words.ts';

const FOLDERS = ['src', 'console', 'docs', 'workflows', 'examples', 'integrations', 'schemas', 'scripts', 'bench'];
const PAGES = readdirSync('.').filter((name) => name.endsWith('.md'));

const read = (path: string) => ({ path, text: readFileSync(path, 'utf8') });
const below = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:tsx?|mjs|md|json)$/.test(name) && !name.includes('node_modules'))
    .map((name) => read(`${folder}/${name}`));

it('no text of the program, its documents, its workflows or its test titles uses a word that plain English replaces', () => {
  const tests = below('test').filter(
    ({ path }) => /\.(?:test|contract)\.ts$/.test(path) && !path.endsWith('/banned-words.test.ts'),
  );
  const files = [...FOLDERS.flatMap(below), ...PAGES.map(read), ...tests];
  expect(files.length).toBeGreaterThan(800);
  expect(PAGES).toContain('README.md');
  expect(files.flatMap(bannedWords).map(({ path, line, message }) => `${path}:${line} ${message}`)).toEqual([]);
});

it.each([
  ['src/core/planted.ts', "const text = 'This can be mended.';"],
  ['src/core/planted.ts', '// Whoever calls this waits.'],
  ['src/core/planted.test.ts', "it('is told what to do', () => {});"],
  ['test/planted.test.ts', "it.each([1, 2])('a run shall end in %s', () => {});"],
  ['docs/planted.md', 'Read it anew.'],
  ['docs/planted.md', 'Any value, be it a list, is kept.'],
  ['docs/planted.md', 'Agents are told the next step, as told above.'],
  ['workflows/planted.json', '{"prompt": "Put it right."}'],
  ['README.md', 'One sitting.'],
])('a planted word is found in %s: %s', (path, text) => {
  expect(bannedWords({ path, text })).not.toEqual([]);
});

it('test data may quote any word', () => {
  expect(bannedWords({ path: 'test/planted.test.ts', text: "const sent = 'mend it';" })).toEqual([]);
});
