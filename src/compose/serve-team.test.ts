import { expect, test } from 'vitest';
import { nodeHasher } from '../adapters/system.ts';
import { bareDigest, WORKFLOWS_META_KEY } from '../mcp/described-workflows.ts';
import { teamCatalogs } from './serve-team.ts';

const MIB = 1_048_576;

test('a replica forgets the files that were not used for longest, so that no caller can fill its memory', () => {
  const source = { files: async () => ({ files: [] }) };
  const { of } = teamCatalogs(
    { folder: '/nowhere', library: '/nowhere/library', compiler: '/nowhere/compiler' },
    () => () => source,
  );
  const sent = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'].map((letter) => letter.repeat(4 * MIB));
  const named = sent.map((text) => ({
    ref: 'workflows/one.json',
    digest: bareDigest(text, nodeHasher.sha256),
    text,
  }));
  for (const file of named) expect(of('shop', { [WORKFLOWS_META_KEY]: [file] })?.kind).toBe('catalog');
  const kinds = named.map(({ ref, digest }) => of('shop', { [WORKFLOWS_META_KEY]: [{ ref, digest }] })?.kind);
  expect(kinds).toEqual(['missing', ...Array<string>(8).fill('catalog')]);
});
