import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import config from '../vitest.config.ts';
import { enforces } from './enforces.ts';
import { TIDY_RULES } from './tidy/rules.ts';
import { readSourceTree, sourceFile } from './tidy/source-file.ts';

const files = readSourceTree(fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, ''));

describe('the repository', () => {
  it('the rules see the source files: a walk that finds no file finds no violation either', () => {
    const count = (start: string) => files.filter(({ path }) => path.startsWith(start)).length;
    expect(count('src/core/')).toBeGreaterThan(40);
    expect(count('src/')).toBeGreaterThan(count('src/core/'));
    expect(count('test/')).toBeGreaterThan(10);
    expect(count('scripts/')).toBeGreaterThan(5);
    expect(files.every(({ text }) => text.length > 0)).toBe(true);
    expect(files.map(({ path }) => path)).toContain('src/core/log/event.ts');
  });

  for (const { name, find, planted } of TIDY_RULES) {
    it(`${name}: no file violates the rule`, () => {
      expect(find(files).map(({ path, line, message }) => `${path}:${line} ${message}`)).toEqual([]);
    });

    it(`${name}: every planted violation is found`, () => {
      expect(planted.length).toBeGreaterThan(0);
      for (const offence of planted) {
        const found = find(offence.map(([path, text]) => sourceFile(path, text)));
        expect(found, JSON.stringify(offence.slice(0, 2))).not.toEqual([]);
      }
    });
  }

  it('the program keeps to its layers, core is pure, and only adapters catch exceptions', () => {
    enforces('layer_direction', 'core_is_pure', 'try_only_in_adapters');
    const names = /^(?:layer-direction|no-node-below-adapters|core-.*|caught-in-adapters-only)$/;
    const rules = TIDY_RULES.filter(({ name }) => names.test(name));
    expect(rules).toHaveLength(6);
    expect(rules.flatMap(({ find }) => find(files))).toEqual([]);
  });

  it('tests without an assertion fail', () => {
    expect(config).toMatchObject({ test: { expect: { requireAssertions: true } } });
  });

  it('words in strings, comments and patterns are not mistaken for code', () => {
    const text = [
      "const prefix = 'st.v1.'; // a Promise, and `try {`",
      'const pattern = /async globalThis.Date/;',
      `const half = total / 2; const rest = \`try { \${half} } await\`;`,
      '/** Writes `v1` tokens: export * from nowhere. */',
    ].join('\n');
    const quiet = TIDY_RULES.flatMap(({ find }) => find([sourceFile('src/core/planted.ts', text)]));
    expect(quiet).toEqual([]);
  });
});
