import { createScanner, type Edit, type Node, type SyntaxKind } from 'jsonc-parser';
import type { JsonValue } from '../../../../core/json/json-value.ts';

// The library's names for these exist at compile time only, and only for programs compiled together with it.
const COMMA: SyntaxKind = 5;
const LINE_BREAK: SyntaxKind = 14;
const END: SyntaxKind = 17;

export type Property = { readonly key: string; readonly value: JsonValue };

/**
 * The edits that add a property at the end of an object. The library's own way would move a comment that stands behind
 * the last property to the new one, and lay out its neighbours anew.
 */
export function insertProperty(text: string, object: Node, { key, value }: Property): readonly Edit[] {
  const style = styleOf(text, object);
  const last = object.children?.at(-1);
  if (style === undefined) {
    const written = `${JSON.stringify(key)}:${JSON.stringify(value)}`;
    return last === undefined
      ? [insertion(object.offset + 1, written)]
      : [insertion(endOf(last), hasComma(text, last) ? '' : ','), insertion(afterComma(text, last), written)];
  }
  const { eol, unit, outer, inner } = style;
  const lines = `${JSON.stringify(key)}: ${JSON.stringify(value, null, unit)}`.split('\n');
  const written = `${eol}${inner}${lines.join(`${eol}${inner}`)}`;
  const closing = endOf(object) - 1;
  const gap = text.slice(0, closing).length - text.slice(0, closing).trimEnd().length;
  if (last === undefined) return [{ offset: closing - gap, length: gap, content: `${written}${eol}${outer}` }];

  const end = endOfLine(text, afterComma(text, last));
  const comma = hasComma(text, last) ? [] : [insertion(endOf(last), ',')];
  // The closing brace may stand on the line of the last property.
  const isClosedHere = closing < end;
  return isClosedHere
    ? [...comma, { offset: closing - gap, length: gap, content: `${written}${eol}${outer}` }]
    : [...comma, insertion(end, written)];
}

type Style = { readonly eol: string; readonly unit: string; readonly outer: string; readonly inner: string };

/** How the file is laid out; `undefined` when it is all on one line. */
function styleOf(text: string, object: Node): Style | undefined {
  const isOneLine = !text.trim().includes('\n');
  if (isOneLine && text.trim() !== '{}') return undefined;
  const unit = /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
  const outer = indentAt(text, object.offset);
  const first = object.children?.[0];
  const isOnOwnLine = first !== undefined && /(?:^|\n)[ \t]*$/.test(text.slice(0, first.offset));
  return {
    eol: text.includes('\r\n') ? '\r\n' : '\n',
    unit,
    outer,
    inner: isOnOwnLine ? indentAt(text, first.offset) : `${outer}${unit}`,
  };
}

function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start))?.[0] ?? '';
}

function endOf({ offset, length }: Node): number {
  return offset + length;
}

function hasComma(text: string, last: Node): boolean {
  return afterComma(text, last) > endOf(last);
}

/** Behind the comma that follows a property, or behind the property where none does. */
function afterComma(text: string, last: Node): number {
  const scanner = createScanner(text, true);
  scanner.setPosition(endOf(last));
  return scanner.scan() === COMMA ? scanner.getPosition() : endOf(last);
}

/** The end of the line, with a comment that belongs to it, or of a comment that goes on beyond it. */
function endOfLine(text: string, offset: number): number {
  const scanner = createScanner(text, false);
  scanner.setPosition(offset);
  for (;;) {
    const token = scanner.scan();
    if (token === END || token === LINE_BREAK) return scanner.getTokenOffset();
  }
}

function insertion(offset: number, content: string): Edit {
  return { offset, length: 0, content };
}
