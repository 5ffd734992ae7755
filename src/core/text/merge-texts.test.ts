import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergedText, mergeParts } from './merge-texts.ts';

const kinds = (base: string, mine: string, theirs: string) => mergeParts(base, mine, theirs).map(({ kind }) => kind);

describe('merging two versions of a text', () => {
  it('takes changes of different places from both sides', () => {
    const parts = mergeParts('a\nb\nc\nd\ne', 'a\nB\nc\nd\ne', 'a\nb\nc\nD\ne\nf');
    expect(parts.map(({ kind }) => kind)).toEqual(['same', 'mine', 'same', 'theirs', 'same', 'theirs']);
    expect(mergedText(parts, [])).toBe('a\nB\nc\nD\ne\nf');
  });

  it('leaves it to the reader where both changed the same lines, or lines that touch', () => {
    const parts = mergeParts('a\nb\nc', 'a\nmine\nc', 'a\ntheirs\nc');
    expect(parts.map(({ kind }) => kind)).toEqual(['same', 'both', 'same']);
    expect(mergedText(parts, ['mine'])).toBe('a\nmine\nc');
    expect(mergedText(parts, ['theirs'])).toBe('a\ntheirs\nc');
    expect(mergedText(parts, ['mine_then_theirs'])).toBe('a\nmine\ntheirs\nc');
    expect(kinds('a\nb', 'a\nx\nb', 'a\ny\nb')).toContain('both');
  });

  it('needs no choice where both made the same change', () => {
    expect(kinds('a\nb\nc', 'a\nx\nc', 'a\nx\nc')).not.toContain('both');
  });

  it('never loses a line: every side can be had whole, and one side alone is taken as it is', () => {
    const text = fc.array(fc.constantFrom('a', 'b', '', 'c\r'), { maxLength: 12 }).map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(text, text, text, (base, mine, theirs) => {
        const parts = mergeParts(base, mine, theirs);
        expect(parts.flatMap((part) => part.mine).join('\n')).toBe(mine);
        expect(parts.flatMap((part) => part.theirs).join('\n')).toBe(theirs);
        expect(parts.flatMap((part) => part.base).join('\n')).toBe(base);
        expect(mergedText(mergeParts(base, mine, base), [])).toBe(mine);
        expect(mergedText(mergeParts(base, base, theirs), [])).toBe(theirs);
      }),
    );
  });
});
