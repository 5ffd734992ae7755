import picocolors from 'picocolors';
import { visibleJson } from '../../core/text/visible-text.ts';

type Style = 'good' | 'bad' | 'notable' | 'dim' | 'strong';

/** A piece of a line. Only its style is printed as an escape sequence, never its text. */
export type LineSpan = string | { readonly text: string; readonly style: Style };
export type Line = readonly LineSpan[];

type StyledSpan = Exclude<LineSpan, string>;
export const good = (text: string): StyledSpan => ({ text, style: 'good' });
export const bad = (text: string): StyledSpan => ({ text, style: 'bad' });
export const notable = (text: string): StyledSpan => ({ text, style: 'notable' });
export const dim = (text: string): StyledSpan => ({ text, style: 'dim' });
export const strong = (text: string): StyledSpan => ({ text, style: 'strong' });

/** Turns lines into text for one stream, with or without colors. */
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

/**
 * A text as one line that a terminal shows as it is: what would move the cursor, hide, reorder or colour something
 * becomes a visible escape. Doing it twice changes nothing.
 */
export function printable(text: string): string {
  return visibleJson(text);
}

/** A value as one line of JSON that is safe to print and parses to the same value. */
export function printableJson(value: unknown): string {
  return visibleJson(JSON.stringify(value));
}

/** Replaces `workrail` in commands by what the user must type here. As the name of a package it stays. */
export function asTyped(text: string, { calledAs }: { readonly calledAs: () => string }): string {
  return text.replace(/(?<=^|[\s"`])(?<!npm (?:un)?install (?:-g|--global) )workrail(?= (?:[a-z]|--\w))/g, () =>
    calledAs(),
  );
}
