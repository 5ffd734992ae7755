import type { JsonValue } from '../../../../../core/json/json-value.ts';
import { quote } from '../../../../../core/json/quote.ts';
import type { Line } from '../../../../output/line.ts';
import { clipText } from '../../../../output/text-width.ts';
import { entryLines } from '../../../../sessions/note-entries.ts';
import { gapWords } from '../../../../sessions/run-words.ts';
import type { DiffSideData, SessionDiffData } from '../../../../shapes/session/look/session-diff-shape.ts';

type Layout = { readonly width: number; readonly isWhole: boolean };

/** What only the first has, what only the second has, and values that both have in their own way. */
export function diffLines(data: SessionDiffData, layout: Layout): readonly Line[] {
  const lines = [
    ...sideLines(data.a, { ...layout, mark: '-' }),
    ...sideLines(data.b, { ...layout, mark: '+' }),
    ...contextLines(data, layout),
  ];
  if (lines.length > 0) return lines.slice(lines[0]?.[0] === '' ? 1 : 0);
  const due = [data.a, data.b].filter(({ isDue }) => isDue).map(({ asked }) => ` ${asked} is not done yet.`);
  return [[`Nothing differs between ${data.a.asked} and ${data.b.asked}.${[...new Set(due)].join('')}`]];
}

type SideLayout = Layout & { readonly mark: '-' | '+' };

function sideLines({ asked, entries, gaps }: DiffSideData, { width, isWhole, mark }: SideLayout): readonly Line[] {
  if (entries.length === 0 && gaps.length === 0) return [];
  const style = mark === '-' ? 'bad' : 'good';
  return [
    [''],
    [{ text: `${mark} only in ${asked}`, style }],
    ...entryLines(entries, isWhole).map(
      (line): Line => (line[0] === '' ? line : [{ text: `${mark} `, style }, ...line]),
    ),
    ...gaps.map(
      (gap): Line => [
        { text: `${mark} `, style },
        { text: 'gap ', style: 'notable' },
        clipText(gapWords(gap), width - 6),
      ],
    ),
  ];
}

function contextLines({ context }: SessionDiffData, { width }: Layout): readonly Line[] {
  if (context.length === 0) return [];
  return [
    [''],
    [{ text: 'context', style: 'strong' }],
    ...context.flatMap(({ key, a, b }): Line[] => [
      [`  ${clipText(key, width - 2)}`],
      [{ text: '  - ', style: 'bad' }, valueWords(a, width)],
      [{ text: '  + ', style: 'good' }, valueWords(b, width)],
    ]),
  ];
}

function valueWords(value: JsonValue | undefined, width: number): string {
  return value === undefined ? '(not set)' : clipText(quote(value), width - 4);
}
