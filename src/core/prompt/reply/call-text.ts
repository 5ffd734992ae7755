import { isList, type JsonValue } from '../../json/json-value.ts';
import { quote } from '../../json/quote.ts';
import type { Call } from '../../log/error-envelope.ts';
import type { StoredReply } from '../../log/events/graph-events.ts';
import { isHole } from '../../log/operation/stored-reply.ts';

/** A piece of a text, or the place of a token in it. */
export type TextPart = StoredReply['text'][number];

/** A call on one line, as it can be sent. */
export function callText({ tool, arguments: given }: Call): readonly TextPart[] {
  return joined([`${tool} `, ...jsonText(given)]);
}

function jsonText(value: JsonValue): readonly TextPart[] {
  if (typeof value !== 'object' || value === null) return [quote(value)];
  if (isHole(value)) return ['"', value, '"'];
  if (isList(value)) return listText(value.map(jsonText), '[', ']');
  const fields = Object.entries(value).map(([key, one]) => [`${quote(key)}:`, ...jsonText(one)]);
  return listText(fields, '{', '}');
}

function listText(items: readonly (readonly TextPart[])[], open: string, close: string): readonly TextPart[] {
  return [open, ...items.flatMap((item, i) => (i === 0 ? item : [',', ...item])), close];
}

/** Joins adjacent texts, so that the stored reply stays readable. */
export function joined(parts: readonly TextPart[]): TextPart[] {
  const text: TextPart[] = [];
  for (const part of parts) {
    const last = text.at(-1);
    if (typeof part === 'string' && typeof last === 'string') text[text.length - 1] = last + part;
    else text.push(part);
  }
  return text;
}
