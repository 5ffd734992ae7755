import type { Line } from './line.ts';
import { hangText, textWidth } from './text-width.ts';

/** A line whose first piece says who speaks: what does not fit goes on below the words. */
export function fitLine(line: Line, columns: number): readonly Line[] {
  const [speaker = '', ...words] = line;
  const text = words.map((span) => (typeof span === 'string' ? span : span.text)).join('');
  const before = typeof speaker === 'string' ? speaker : speaker.text;
  if (words.length === 0 || textWidth(before + text) <= columns) return [line];
  const [first = '', ...rest] = hangText(text, { first: '', rest: before.length, width: columns });
  return [[speaker, first.slice(before.length)], ...rest.map((one): Line => [one])];
}
