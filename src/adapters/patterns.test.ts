import { describe, expect, it } from 'vitest';
import { enforces } from '../../test/enforces.ts';
import { explainPatternRefusal, patternSize } from '../core/workflow/pattern.ts';
import { re2Patterns } from './patterns.ts';

const compilePattern = re2Patterns();

function found(pattern: string, text: string, flags = ''): boolean {
  return compilePattern(pattern, flags)._unsafeUnwrap().test(text);
}

function refused(pattern: string): string {
  return explainPatternRefusal(compilePattern(pattern, '')._unsafeUnwrapErr());
}

describe('a pattern of an author', () => {
  it.each([
    ['^fix(es)?: ', 'fixes: the parser', '', true],
    ['^FIX', 'fix', '', false],
    ['^FIX', 'fix', 'i', true],
    ['^b$', 'a\nb', '', false],
    ['^b$', 'a\nb', 'm', true],
    ['a.b', 'a\nb', '', false],
    ['a.b', 'a\nb', 's', true],
    ['^.$', '😀', '', true],
    ['\\u00e9|\\x41', 'café', '', true],
    ['src/\\w+', 'src/core', '', true],
    ['(?<kind>feat|fix)', 'feat', '', true],
    ['\\p{L}+', 'straße', '', true],
  ])('%j in %j with flags %j: %s', (...[pattern, text, flags, expected]) => {
    expect(found(pattern, text, flags)).toBe(expected);
  });

  // A backtracking engine would not come back from any of these in a lifetime.
  it.each(['(a+)+$', '(a|aa)+$', '^([a-z]+)*$', '(a?){300}a{300}x', '(.*)*x', '(?:a*)*b'])(
    '%s ends on a long text that almost matches',
    (pattern) => {
      enforces('regex_linear_time');
      expect(found(pattern, `${'a'.repeat(65_536)}!`)).toBe(false);
    },
  );

  it('a pattern that cannot run in linear time is refused with an alternative', () => {
    enforces('regex_linear_time');
    expect(
      ['ab(?=c)', 'ab(?!c)', 'x(?<=ab)c', 'x(?<!ab)c', '(a)b\\1', '(?<n>a)\\k<n>', '(?>a)', 'ba++'].map(refused),
    ).toEqual([
      'The lookahead "(?=" at character 3 cannot be checked in linear time. Match the text itself, or write two rules.',
      'The lookahead "(?!" at character 3 cannot be checked in linear time. Match the text itself, or write two rules.',
      'The lookbehind "(?<=ab)c" at character 2 cannot be checked in linear time. Match the text before it as well, or write two rules.',
      'The lookbehind "(?<!ab)c" at character 2 cannot be checked in linear time. Match the text before it as well, or write two rules.',
      'The backreference "\\1" at character 5 cannot be checked in linear time. Write out what it may repeat.',
      'The backreference "\\k" at character 8 cannot be checked in linear time. Write out what it may repeat.',
      'The atomic group "(?>" at character 1 cannot be checked in linear time. Use a plain group "(?:…)".',
      'The possessive repetition "++" at character 3 cannot be checked in linear time. Use "*", "+" or "?" alone.',
    ]);
  });

  it('an invalid pattern is refused with the place of the error', () => {
    expect(
      ['a(b', 'a[b', '*a', 'a\\y', 'a{2}{3}'].map((pattern) => compilePattern(pattern, '')._unsafeUnwrapErr()),
    ).toEqual([
      { code: 'malformed', reason: 'missing closing )', at: 0, found: 'a(b' },
      { code: 'malformed', reason: 'missing closing ]', at: 1, found: '[b' },
      { code: 'malformed', reason: 'missing argument to repetition operator', at: 0, found: '*' },
      { code: 'malformed', reason: 'invalid escape sequence', at: 1, found: '\\y' },
      { code: 'malformed', reason: 'invalid nested repetition operator', at: 1, found: '{2}{3}' },
    ]);
    expect(refused('a[b')).toBe(
      'The pattern cannot be read: missing closing ] ("[b" at character 2). Fix it there, or put a backslash before a character that stands for itself.',
    );
  });

  it('a pattern is limited in length and in expanded size', () => {
    expect(refused('a'.repeat(1025))).toBe(
      'The pattern has 1025 characters; 1024 are allowed. Shorten it, or split it into two rules.',
    );
    const large = ['a{1000}'.repeat(146), `(${'a'.repeat(900)}){900}`, '((a{50}){50}){50}', 'a{1001}', '(a{100}){100}'];
    expect(large.map(refused)).toEqual(
      large.map(
        () =>
          'The pattern expands to more than 1000 single checks, mostly through counted repetitions. Lower the counts.',
      ),
    );
  });

  it('a pattern is compiled only once', () => {
    expect(compilePattern('made once', 'i')).toBe(compilePattern('made once', 'i'));
    expect(compilePattern('made once', 'i')).not.toBe(compilePattern('made once', ''));
  });
});

describe('the size of a pattern', () => {
  it.each([
    ['', 0],
    ['abc', 3],
    ['a{3}', 3],
    ['a{2,5}b', 6],
    ['a{3,}', 3],
    ['(ab){3}', 6],
    ['((ab){3}c){2}', 14],
    ['[a-z{9}]{4}', 4],
    ['\\p{L}{4}', 4],
    ['\\{9}', 3],
    ['a{b}', 4],
  ])('%j is about %i', (pattern, size) => {
    expect(patternSize(pattern)).toBe(size);
  });
});
