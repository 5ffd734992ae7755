import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { handed, tryStep } from '../../../../test/examples/step-attempt.ts';
import { drawnSeed, isLong } from '../../../../test/volume.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { checkStep } from '../requirements/step-requirements.ts';
import { isKeyWords } from './context-form.ts';
import { offeredWords, refuseBlanks, separateUnfilled, unfilledKeys } from './unfilled.ts';

const fieldsOf = (form: Parameters<typeof refuseBlanks>[0]) =>
  refuseBlanks(form).match(
    () => [],
    ({ fields }) => fields,
  );

describe('a call that is stored as it was sent', () => {
  test('a checkpoint or a start with a blank is refused, and every blank field is named', () => {
    expect(
      fieldsOf({
        goal: '<fill: what you want>',
        context: { size: '<fill: small | large>', deep: { list: ['a', '&lt;fill: one per entry&gt;'] }, kept: 'small' },
        notesMarkdown: 'Read a.ts.\n<fill: your progress so far>',
        artifacts: [{ kind: 'note', text: '\\u003cfill: text\\u003e' }],
      }),
    ).toEqual(['goal', 'context.size', 'context.deep', 'output.notesMarkdown', 'output.artifacts[0].text']);
  });

  test('real text with angle brackets is stored', () => {
    expect(
      fieldsOf({
        goal: 'Make `<fill: x>` clear to readers of List<T>',
        context: { file: 'src/<name>.ts', quoted: 'He wrote <fill: x> there.' },
        notesMarkdown: 'The server offered `<fill: your progress so far>`.',
        artifacts: [{ kind: 'note', text: '<div>' }],
      }),
    ).toEqual([]);
  });
});

describe('words that were copied without their marker', () => {
  const verdict = { outputContract: { contractRef: 'wr.contracts.review_verdict' } };
  const artifact = { kind: 'wr.review_verdict', verdict: 'clean', confidence: 'high', findings: [], summary: 'Fine.' };
  const isMet = (value: object) => {
    const attempt = tryStep(verdict);
    return checkStep({ ...attempt, handedIn: { notesMarkdown: undefined, artifacts: [handed({ ...value })] } }).met;
  };

  test('a field that equals the words of its blank is not filled in, unless they are an allowed value', () => {
    expect(isMet(artifact)).toEqual(['output_contract:wr.contracts.review_verdict']);
    expect(isMet({ ...artifact, summary: 'the reasons for the verdict' })).toEqual([]);
    expect(isMet({ ...artifact, summary: '<fill: the reasons for the verdict>' })).toEqual([]);
    expect(isMet({ ...artifact, summary: 'We read <fill: x> in the log.' })).not.toEqual([]);
  });

  test('a context value that equals a blank, in any spelling, counts as not sent', () => {
    const spelled = ['<fill: a | b>', '&lt;fill: a | b&gt;', '\\u003cfill: a | b\\u003e', '<FILL: a | b>', '<size>'];
    for (const size of spelled) expect([size, unfilledKeys({ size })]).toEqual([size, ['size']]);
    for (const size of ['a', 'a | b', '<other>', 3, false, null]) expect(unfilledKeys({ size })).toEqual([]);
  });

  test('notes that equal the words of a blank, or the whole form without its markers, are not filled in', () => {
    const step = {
      validationCriteria: [
        {
          type: 'regex',
          pattern: 'Verdict: \\w+',
          message: 'State the verdict.',
          form: 'Verdict: <fill: approve | no>',
        },
        { type: 'contains', value: 'Owner', message: 'Name the owner.', form: 'Owner: <fill: name>' },
        { type: 'contains', value: 'LGTM', message: 'Say LGTM.', form: '<fill: LGTM>' },
      ],
    };
    const isSent = (notes: string) => checkStep(tryStep(step, { notes })).filled.notesMarkdown !== undefined;
    const work = 'what you did, what you found, what is open';
    for (const notes of [
      work,
      'approve | no',
      'name',
      `${work}\nVerdict: approve | no\nOwner: name\nLGTM`,
      `${work}\n\n  Owner: name  `,
      'notes asked for, or remove this field',
      'your progress so far',
    ]) {
      expect([notes, isSent(notes)]).toEqual([notes, false]);
    }
    // A rule that asks for exactly this word makes it an answer; a line of one's own makes them notes.
    for (const notes of ['LGTM', 'Owner: name', 'approve', `${work}: all of a.ts.`, 'Read a.ts.\nOwner: name']) {
      expect([notes, isSent(notes)]).toEqual([notes, true]);
    }
  });

  test('a single word of a blank counts in its own field only, and not where it is an allowed value', () => {
    const { index } = tryStep(verdict);
    const [contract] = index.contracts.values();
    const form = { kind: 'wr.own', name: '<fill: name>', items: [{ level: '<fill: clean>' }], note: 'fixed' };
    const words = offeredWords({ artifacts: [form] });
    const isTaken = (value: object, schema: JsonObject = {}) => {
      const contractOf = () => contract && { ...contract, schema };
      const handedIn = { notesMarkdown: undefined, artifacts: [handed({ kind: 'wr.own', ...value })] };
      return separateUnfilled(handedIn, { contractOf, words }).filled.artifacts.length === 1;
    };
    expect(isTaken({ name: 'name' })).toBe(false);
    expect(isTaken({ name: ' name ' })).toBe(false);
    expect(isTaken({ name: 'clean', other: 'name', note: 'fixed' })).toBe(true);
    expect(isTaken({ items: [{ level: 'dirty' }, { level: 'clean' }] })).toBe(false);
    const items = { type: 'object', properties: { level: { enum: ['clean', 'dirty'] } } };
    expect(isTaken({ items: [{ level: 'clean' }] }, { properties: { items: { type: 'array', items } } })).toBe(true);
  });

  test('a context value that equals the words of the blank for its key counts as not sent', () => {
    const { index } = tryStep({
      runCondition: {
        or: [
          { var: 'size', in: ['small', 'large'] },
          { var: 'state', equals: 'done' },
        ],
      },
    });
    const isCopied = (key: string, text: string) => isKeyWords(index, key, text);
    const copied = [
      ['size', 'small | large'],
      ['size', 'value of size'],
      ['state', 'done, or another value'],
      ['other', 'value of other'],
      ['other', "the user's answer, in their words"],
      ['list', ['a.ts', 'value of list']],
    ] as const;
    for (const [key, value] of copied)
      expect([value, unfilledKeys({ [key]: value }, isCopied)]).toEqual([value, [key]]);
    const real = ['small', 'done', 'small | huge', 'value of other', 'value', 'size', 'a value of size'];
    for (const size of real) expect([size, unfilledKeys({ size }, isCopied)]).toEqual([size, []]);
  });
});

/** Texts as agents write them, with everything that looks like a blank and is none. */
const REAL_TEXT = (() => {
  const plain = fc.string({ maxLength: 30 }).map((text) => text.replaceAll(/[`~\n\r\u2028\u2029]|fill:/gi, ' '));
  const looksLikeOne = fc.constantFrom(
    '<T>',
    'List<Map<K, V>>',
    '<div class="a">',
    '</p>',
    '<placeholder>',
    '<your name here>',
    'a < b > c',
    '<fill>',
    '<filler: x>',
    '< fill: x >',
    'fill: x',
    '<fill x>',
    '&lt;T&gt;',
    '`<fill: x>`',
    '`` `<fill: x>` ``',
    '`&lt;fill: x&gt;`',
    'He wrote `\\u003cfill: x\\u003e` there.',
  );
  const line = fc.array(fc.oneof(plain, looksLikeOne), { maxLength: 5 }).map((parts) => parts.join(' '));
  const block = fc
    .tuple(fc.constantFrom('```', '~~~', '````'), fc.constantFrom('', 'text'), line)
    .map(([fence, info, inside]) => `${fence}${info}\n<fill: x>\n${inside.replaceAll(/[`~]/g, ' ')}\n${fence}`);
  return fc.array(fc.oneof({ weight: 4, arbitrary: line }, block), { maxLength: 6 }).map((lines) => lines.join('\n'));
})();

test('real text with angle brackets, HTML and markers inside code is never refused, in notes, artifacts and context', () => {
  enforces('unfilled_blanks_never_count');
  const attempt = tryStep({ outputContract: { contractRef: 'wr.contracts.review_verdict' } });
  const verdict = { kind: 'wr.review_verdict', verdict: 'clean', confidence: 'high', findings: [] };
  fc.assert(
    fc.property(REAL_TEXT, (text) => {
      const value = { ...verdict, summary: text };
      const { filled } = checkStep({ ...attempt, handedIn: { notesMarkdown: text, artifacts: [handed(value)] } });
      expect([filled.notesMarkdown, filled.artifacts.length]).toEqual([text, 1]);
      const context = { size: text, list: ['a', text], deep: { inside: text } };
      expect(unfilledKeys(context, (key, one) => isKeyWords(attempt.index, key, one))).toEqual([]);
      expect(fieldsOf({ notesMarkdown: text, context, artifacts: [value] })).toEqual([]);
    }),
    { numRuns: isLong ? 10_000 : 1_000, seed: drawnSeed() | 0 },
  );
});
