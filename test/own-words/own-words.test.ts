import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { enforces } from '../enforces.ts';
import { fingerprint, sentencesOf } from './sentences.ts';

/** Of every sentence of the design papers, which are not part of this repository. */
const PAPERS = new Set(readFileSync('test/own-words/paper-sentences.txt', 'utf8').split('\n'));
/** The registry of rules tells what the papers say. */
const TOLD_AGAIN = /^docs\/internals\/invariants\./;

function copiedIn(text: string): readonly string[] {
  return sentencesOf(text).filter((sentence) => PAPERS.has(fingerprint(sentence)));
}

it('workflows, built-ins and documents are in our own words: no sentence of the design papers is copied', () => {
  enforces('builtin_texts_are_own');
  const files = [
    ...filesIn('workflows', '.json'),
    ...filesIn('src/core/workflow/builtins', '.ts'),
    ...filesIn('docs', '.md').filter((path) => !TOLD_AGAIN.test(path)),
    ...['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md'],
  ];
  const texts = files.map((path) => ({ path, text: readFileSync(path, 'utf8').replaceAll(/\\n|["'`]/g, '\n') }));
  expect(texts.flatMap(({ text }) => sentencesOf(text)).length).toBeGreaterThan(1_000);
  expect(texts.flatMap(({ path, text }) => copiedIn(text).map((sentence) => `${path}: ${sentence}`))).toEqual([]);
});

it('a copied sentence is found, however it is set', () => {
  expect(PAPERS.size).toBeGreaterThan(1_000);
  const planted = '{"prompt": "Look. **Durable state** is an append-only session/run graph: keep it."}';
  expect(copiedIn(planted)).toEqual(['durable state is an append-only session run graph']);
  expect(copiedIn('The durable state of a run is a graph that only ever grows.')).toEqual([]);
});

function filesIn(folder: string, extension: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(extension))
    .map((name) => join(folder, name));
}
