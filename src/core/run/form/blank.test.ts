import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { utf8Length } from '../../text/utf8.ts';
import { blank, blankWords, choiceBlank, isBlankField, unfilledLines } from './blank.ts';
import { isLegacySentence, startsWithLegacySentence } from './unfilled.ts';

const BLANK = blank('what you did');

describe('a blank', () => {
  test('a blank has at most 160 bytes and no angle brackets or line breaks inside', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (words) => {
        const text = blank(words.toWellFormed());
        expect(utf8Length(text)).toBeLessThanOrEqual(160);
        expect(text).toMatch(/^<fill: [^<>\n]*>$/);
      }),
    );
  });

  test('a blank for a choice lists the values; a single known value is not the only answer', () => {
    expect(choiceBlank(['pass', 'fail'])).toBe('<fill: pass | fail>');
    expect(choiceBlank([true, false])).toBe('<fill: true | false>');
    expect(choiceBlank(['completed'])).toBe('<fill: completed, or another value>');
  });

  test('the words of all blanks of a text are found', () => {
    expect(blankWords(`${BLANK}\nVerdict: ${choiceBlank(['a', 'b'])}`)).toEqual(['what you did', 'a | b']);
  });
});

describe('notes with a blank', () => {
  test.each([
    ['as offered', BLANK],
    ['in one line of several', `I read the file.\nVerdict: ${BLANK}\nDone.`],
    ['inside a sentence', `The result is ${BLANK} today.`],
    ['with HTML entities', '&lt;fill: what you did&gt;'],
    ['with numeric entities', '&#60;fill: what you did&#62;'],
    ['with JSON escapes', '\\u003cfill: what you did\\u003e'],
    ['in other case', '<FILL: what you did>'],
    ['after a fence that never ends', `\`\`\`\n${BLANK}`],
    ['with entities that have leading zeros', '&#0060;fill: what you did&#x003E;'],
    ['with an entity of an entity', '&amp;lt;fill: what you did&amp;gt;'],
    ['with a percent code', '%3Cfill: what you did%3E'],
    ['with wide brackets', '＜fill: what you did＞'],
    ['with invisible characters in the marker', '<f\u200Bi\u00ADll\u2060: what you did>'],
    ['wrapped over two lines', 'Verdict: <fill: what\n  you did>'],
    ['between escaped backticks', `\\\`${BLANK}\\\``],
    ['between backticks of different items of a list', `- a \` b\n- ${BLANK}\n- c \` d`],
    ['between two unrelated backticks of different paragraphs', `a \` b\n\n${BLANK}\n\nc \` d`],
  ])('notes with a blank are found: %s', (_, notes) => {
    expect(unfilledLines(notes)).not.toEqual([]);
  });

  test.each([
    ['in a code span', `The server offered \`${BLANK}\` and I replaced it.`],
    ['in a span of two backticks', `It is \`\` ${BLANK} \`\` here.`],
    ['in a fenced block', `Output:\n\`\`\`text\n${BLANK}\n\`\`\`\nAll well.`],
    ['in a fence of tildes', `~~~\n${BLANK}\n~~~`],
  ])('notes with a blank %s are real text', (_, notes) => {
    expect(unfilledLines(notes)).toEqual([]);
  });

  test('a marker without an end is looked for in linear time', () => {
    expect(unfilledLines('<fill: '.repeat(9_000))).toEqual([]);
    expect(unfilledLines(`<fill: a\n\nb > c`)).toEqual([]);
  });

  test('a blank between any real texts is found', () => {
    const plain = fc.string({ maxLength: 60 }).map((text) => text.replaceAll(/[`~\\&<>]/g, ''));
    fc.assert(
      fc.property(plain, plain, (before, after) => {
        expect(unfilledLines(`${before}${BLANK}${after}`)).not.toEqual([]);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('a field with a blank', () => {
  test('a field is unfilled where the marker is the whole text or a whole line of it', () => {
    for (const text of [
      BLANK,
      ` ${BLANK} `,
      `first\n${BLANK}\nlast`,
      '&lt;fill: a | b&gt;',
      `"${BLANK}"`,
      `- ${BLANK}`,
      `{"a":["${BLANK}"]}`,
    ]) {
      expect([text, isBlankField(text)]).toEqual([text, true]);
    }
    const fenced = `Output:\n\`\`\`text\n${BLANK}\n\`\`\`\nAll well.`;
    for (const text of ['', 'approve', `He wrote ${BLANK} there.`, `\`${BLANK}\``, fenced, '<T>', '<placeholder>']) {
      expect([text, isBlankField(text)]).toEqual([text, false]);
    }
  });
});

describe('sentences of the first release', () => {
  test('a field that equals an offered sentence is not filled in, in any case and spacing', () => {
    expect(isLegacySentence('What you did, the result, and what is still open.')).toBe(true);
    expect(isLegacySentence('  what the user said,  in their words ')).toBe(true);
    expect(isLegacySentence('What you did, the result, and what is still open: nothing.')).toBe(false);
  });

  test('a line of notes that begins with an offered sentence is not filled in', () => {
    const sentence = 'What was done in this step, what came of it, and what is open.';
    expect(startsWithLegacySentence(`${sentence} ${sentence}`)).toBe(true);
    expect(startsWithLegacySentence("The user's answer was no.")).toBe(false);
    expect(startsWithLegacySentence('Progress so far. We have two files left.')).toBe(false);
  });
});
