import { expect, it } from 'vitest';
import { shellWord } from './shell-word.ts';

it('is quoted where a shell would take it for more than one word, and only there', () => {
  expect(['a b;touch x.json', "it's", '', 'ü.json', '$(x)', '~/x'].map(shellWord)).toEqual([
    "'a b;touch x.json'",
    `'it'\\''s'`,
    "''",
    "'ü.json'",
    "'$(x)'",
    "'~/x'",
  ]);
  expect(['./a-b_1.json', 'npm:@acme/flows', 'run_abc'].map(shellWord)).toEqual([
    './a-b_1.json',
    'npm:@acme/flows',
    'run_abc',
  ]);
});
