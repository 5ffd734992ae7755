import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { EVENT_KINDS } from '../src/core/log/event.ts';
import { enforces } from './enforces.ts';
import { lineAt, readSourceTree, type SourceFile, sourceFile } from './tidy/source-file.ts';

/**
 * The log, its bundles and the views may tell events apart; everything else would make a projection of its own. A passport
 * is checked without our views, so it says itself what its events say.
 */
const READERS_OF_EVENTS = /^src\/core\/(?:log|views|bundle|passport)\//;

const kinds = EVENT_KINDS.join('|');
const TELLS_EVENTS_APART = new RegExp(
  `(?:[!=]==?\\s*|\\bcase\\s+)['"\`](?:${kinds})['"\`]|['"\`](?:${kinds})['"\`]\\s*[!=]==?`,
  'g',
);

test('only the views interpret events; every other part asks the views', () => {
  enforces('views_code_shared_not_duplicated');
  const root = resolve(import.meta.dirname, '..');
  const program = readSourceTree(root).filter(({ path }) => /^(?:src|console)\//.test(path) && !isTest(path));
  expect(program.flatMap(ownProjections)).toEqual([]);

  // The pattern sees something where it should: in the views themselves, and in planted violations.
  const views = program.filter(({ path }) => path.startsWith('src/core/views/'));
  expect(views.flatMap(placesIn).length).toBeGreaterThan(10);
  const planted = [
    `const gaps = events.filter((event) => event.kind === 'gap_recorded');`,
    `switch (event.kind) {\n  case 'node_output_appended':\n}`,
    `const isRun = ("run_started" === kind);`,
    `if (kind !== 'context_set') return;`,
  ];
  expect(planted.map((text) => ownProjections(sourceFile('src/cli/planted.ts', text)).length)).toEqual([1, 1, 1, 1]);
  expect(ownProjections(sourceFile('src/core/run/planted.ts', `return { kind: 'gap_recorded', data };`))).toEqual([]);
});

function ownProjections(file: SourceFile): readonly string[] {
  return READERS_OF_EVENTS.test(file.path) ? [] : placesIn(file);
}

function placesIn({ path, codeWithStrings }: SourceFile): readonly string[] {
  return [...codeWithStrings.matchAll(TELLS_EVENTS_APART)].map(
    ({ index }) => `${path}:${lineAt(codeWithStrings, index)}`,
  );
}

function isTest(path: string): boolean {
  return /\.test\.tsx?$/.test(path);
}
