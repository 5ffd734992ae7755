import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { textTokens } from './search-words.ts';
import { truncate } from './utf8.ts';

test('the words of a text are lower case, each once, in order', () => {
  expect(textTokens('Fix the login-page: THE `parse_url` bug (#42).')).toEqual([
    '42',
    'bug',
    'fix',
    'login',
    'page',
    'parse',
    'the',
    'url',
  ]);
  expect(textTokens('')).toEqual([]);
});

test('the parts of a word with hyphens or underscores are found, and so is the whole', () => {
  const goal = textTokens('Fix "login-timeout": --force and _private, Prüf-Bericht');
  for (const query of ['login timeout', 'login-timeout', 'force', '--force', 'private', '_private', 'bericht']) {
    expect(goal, query).toEqual(expect.arrayContaining([...textTokens(query)]));
    expect(textTokens(query), query).not.toEqual([]);
  }
  expect(textTokens('-- _ ---')).toEqual([]);
});

test('compatible Unicode forms are the same word', () => {
  expect(textTokens('Ｆｉｘ ﬁle №1 K')).toEqual(textTokens('fix file no1 k'));
});

test('words of any script can be found, and in scripts without spaces every part of a sentence', () => {
  expect(textTokens('Ошибка входа für Zoë')).toEqual(['für', 'zoë', 'входа', 'ошибка']);
  const text = textTokens('支払いが失敗する');
  expect(textTokens('失敗').every((token) => text.includes(token))).toBe(true);
  expect(textTokens('敗失').every((token) => text.includes(token))).toBe(false);
});

test('the truncation marker is not a word of a text', () => {
  expect(textTokens(truncate(`start ${'x'.repeat(100)}`, 40))).not.toContain('truncated');
  expect(textTokens('[TRUNCATED] is what it says')).toContain('truncated');
});

test('normalizing a normalized text changes nothing', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const tokens = textTokens(text);
      expect(textTokens(tokens.join(' '))).toEqual(tokens);
    }),
  );
});

test.each(['設計文書', 'せっけい', 'セッケイ', 'การออก'])('%s is found by any two neighbouring characters', (text) => {
  const [first = '', second = '', third = ''] = text;
  expect(textTokens(text)).toEqual(expect.arrayContaining([first + second, second + third]));
});
