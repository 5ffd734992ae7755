import picocolors from 'picocolors';
import { printable } from './printable.ts';

type Style = 'good' | 'bad' | 'notable' | 'dim' | 'strong';

/** A piece of a line; only what is written here by its style reaches a terminal as an escape. */
export type LineSpan = string | { readonly text: string; readonly style: Style };
export type Line = readonly LineSpan[];

/** Turns lines into text for one stream, with colours or without. */
export type RenderLines = (lines: readonly Line[]) => string;

export function lineRenderer(hasColor: boolean): RenderLines {
  const colors = picocolors.createColors(hasColor);
  const styles: { readonly [style in Style]: (text: string) => string } = {
    good: colors.green,
    bad: colors.red,
    notable: colors.yellow,
    dim: colors.dim,
    strong: colors.bold,
  };
  const render = (span: LineSpan) =>
    typeof span === 'string' ? printable(span) : styles[span.style](printable(span.text));
  return (lines) => lines.map((line) => `${line.map(render).join('')}\n`).join('');
}
