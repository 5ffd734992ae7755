import { expect, it } from 'vitest';
import { truncate } from '../text/utf8.ts';
import { gapText } from './gap-words.ts';

it('a gap is shown without the regular expression of its requirement, also if the summary was cut', () => {
  const number = 'Number the findings (the notes must match /Finding (\\d+)/i)';
  expect(gapText(`Not met: ${number}. ${number}.`)).toBe('Not met: Number the findings. Number the findings.');
  expect(gapText(truncate(`Not met: ${number}; ${number}`, 80))).toBe('Not met: Number the findings…');
  expect(gapText(`${number.slice(0, 50)}…; Say it`)).toBe('Number the findings; Say it');
  expect(gapText('Say which (or the notes must match /a|b/)')).toBe('Say which');
  const kept = 'No drafts (the notes must not match /TODO/)';
  expect(gapText(kept)).toBe(kept);
});
