import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { re2Patterns } from '../../../../adapters/patterns.ts';
import { samplePattern } from './sample-pattern.ts';

const compilePattern = re2Patterns();
const sample = (pattern: string, flags = '') => samplePattern({ pattern, flags, compilePattern });

describe('a sample of a pattern', () => {
  it.each([
    ['Done', '', 'Done'],
    ['Finding \\d+:', '', 'Finding 1:'],
    ['Finding \\d+:.*severity:(high|medium|low)', '', 'Finding 1:severity:high'],
    ['^## Plan$', 'm', '## Plan'],
    ['[A-Z]{3}-[0-9]{2,}', '', 'AAA-11'],
    ['[^a-z\\s]x?', '', '1'],
    ['[]z]', '', ']'],
    ['[[:upper:]]+', '', 'A'],
    ['a\\.b\\/c\\\\', '', 'a.b/c\\'],
    ['\\bfiles?\\b', 'i', 'file'],
    ['(?:yes|no)(?P<rest>!)?', '', 'yes'],
    ['(?i)ok', '', 'ok'],
    ['\\x41\\u0042\\u{43}', '', 'ABC'],
    ['\\p{Lu}', '', 'A'],
    ['.+', '', 'a'],
    ['a{0}b*c??d', '', 'd'],
    ['\\n', '', '\n'],
    ['😀+', '', '😀'],
    ['', '', ''],
  ])('/%s/%s is %j', (pattern, flags, expected) => {
    expect(sample(pattern, flags)).toBe(expected);
  });

  it.each(['x{600}', '(?:x{30}){30}', 'a^', '\\Qa.b\\E', '[\\x{1F600}]', '(?=a)', '['])(
    'of /%s/ is not found',
    (pattern) => {
      expect(sample(pattern)).toBeUndefined();
    },
  );

  it('always matches, whatever the pattern is', () => {
    const piece = fc.constantFrom(
      'a',
      '\\d',
      '[b-d]',
      '(',
      ')',
      '|',
      '*',
      '+',
      '?',
      '{2}',
      '^',
      '$',
      '.',
      '\\b',
      '(?:',
      '\\',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const pattern = pieces.join('');
        const text = sample(pattern);
        if (text === undefined) return;
        expect(compilePattern(pattern, '')._unsafeUnwrap().test(text)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
