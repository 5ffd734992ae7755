import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { re2Patterns } from '../../adapters/patterns.ts';
import type { Facts } from '../run/condition/evaluate-condition.ts';
import { evaluateCriteria } from '../run/condition/evaluate-criteria.ts';
import type { Criteria, CriteriaRule } from '../workflow/compiled/criteria.ts';
import { sampleNotes, samplePattern } from './sample-notes.ts';

const facts: Facts = {
  context: {},
  loopVariables: {},
  conditions: new Map(),
  compilePattern: re2Patterns(),
};
const OPENING = 'What was done.';
const message = 'Say it.';
const contains = (value: string): CriteriaRule => ({ kind: 'contains', value, message });
const regex = (pattern: string, flags = ''): CriteriaRule => ({ kind: 'regex', pattern, flags, message });
const length = (bounds: { min?: number; max?: number }): CriteriaRule => ({ kind: 'length', ...bounds, message });
const and = (...criteria: Criteria[]): Criteria => ({ kind: 'and', criteria });
const or = (...criteria: Criteria[]): Criteria => ({ kind: 'or', criteria });
const not = (criteria: Criteria): Criteria => ({ kind: 'not', criteria });
const never = { kind: 'never' } as const;

describe('sample notes', () => {
  it.each<[string, Criteria | undefined, string]>([
    ['no criteria', undefined, OPENING],
    ['words', and(contains('risks'), contains('Tests')), 'What was done.\nrisks\nTests'],
    ['patterns', regex('Finding \\d+:'), 'What was done.\nFinding 1:'],
    ['a pattern for the beginning', regex('^Done'), 'Done\nWhat was done.'],
    ['a pattern for the end', and(regex('end$'), contains('risks')), 'What was done.\nrisks\nend'],
    ['a pattern for the whole', regex('^Done$'), 'Done'],
    ['a least length', length({ min: 20 }), 'What was done. What was done.'],
    ['a greatest length', and(length({ max: 11 }), contains('risks')), 'What \nrisks'],
    ['no room for more than a word', and(length({ max: 6 }), contains('risks')), 'risks'],
    ['forbidden words', and(contains('risks'), not(contains('DONE'))), 'And more of it.\nrisks'],
    ['a forbidden length', not(length({ min: 5 })), 'What'],
    ['a length beyond a forbidden one', not(length({ max: 15 })), 'What was done. What was done.'],
    ['no room for a second sentence', length({ min: 20, max: 22 }), 'What was done. What '],
    ['alternatives', or(contains('risks'), contains('tests')), 'What was done.\nrisks'],
    [
      'an alternative that cannot be met',
      or(and(contains('a'), not(contains('a'))), contains('b')),
      'What was done.\nb',
    ],
    ['none of several', not(or(contains('was'), contains('more'))), 'x'],
    ['not all of several', not(and(contains('was'), contains('x'))), OPENING],
    ['rules that do not count', and({ ...contains('risks'), when: never }, { kind: 'schema', message }), OPENING],
    ['only rules that do not count', or({ ...contains('risks'), when: never }), OPENING],
  ])('sample notes for %s meet them', (_, criteria, notes) => {
    expect(sampleNotes(OPENING, criteria, facts)).toBe(notes);
    if (criteria !== undefined) expect(evaluateCriteria(criteria, notes, facts)).toEqual([]);
  });

  it.each<[string, Criteria, string]>([
    [
      'a pattern that nothing can be guessed for',
      regex('[\\x{1F600}]'),
      'Say it (the notes must match /[\\x{1F600}]/)',
    ],
    [
      'a contradiction',
      and(contains('a'), not(contains('a'))),
      'Say it (the notes must contain "a")\nSay it (the notes must not contain "a")',
    ],
    [
      'notes longer than an example may be',
      length({ min: 5000 }),
      'Say it (the notes must have at least 5000 characters)',
    ],
    ['nothing at all', length({ max: 0 }), 'Say it (the notes must have at most 0 characters)'],
  ])('sample notes for %s list the rules', (_, criteria, told) => {
    expect(sampleNotes(OPENING, criteria, facts)).toBe(`${OPENING}\n${told}`);
  });
});

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
  ])('a sample of a pattern /%s/%s is %j', (pattern, flags, expected) => {
    expect(sample(pattern, flags)).toBe(expected);
  });

  it.each(['x{600}', '(?:x{30}){30}', 'a^', '\\Qa.b\\E', '[\\x{1F600}]', '(?=a)', '['])(
    'a sample of a pattern of /%s/ is not found',
    (pattern) => {
      expect(sample(pattern)).toBeUndefined();
    },
  );

  it('a sample of a pattern always matches, whatever the pattern is', () => {
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
