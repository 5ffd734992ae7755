import { isList, isObject, type JsonValue, quote } from '../json/json-value.ts';
import { clip, utf8Length } from '../text/utf8.ts';
import { visibleLine } from '../text/visible-text.ts';
import { contracts } from '../workflow/builtins/contracts.ts';

/** Enough to know what was handed in; the artifact itself is stored whole. */
export const ARTIFACT_TEXT_BYTES_MAX = 400;
const LINES_MAX = 3;
const VALUE_BYTES_MAX = 120;

/** A short rendering of an artifact in at most three lines, as its contract says it is best read. */
export function artifactText(value: JsonValue): string {
  if (!isObject(value)) return fitted([quote(value)]);
  const { kind, ...fields } = value;
  const entries = Object.entries(fields);
  const lists = entries.flatMap(([name, one]) => (isList(one) ? [listLine(name, one)] : []));
  const single = entries.flatMap(([name, one]) => (isList(one) ? [] : [`${name}: ${valueWords(one)}`])).join('; ');
  const plain = single === '' ? [] : [single];
  const hint = contracts.all.find(({ artifactKind }) => artifactKind === kind)?.rendererHint;
  return fitted(hint === 'list' ? [...lists, ...plain] : [...plain, ...lists]);
}

function listLine(name: string, items: readonly JsonValue[]): string {
  const [first] = items;
  if (first === undefined) return `${name}: none`;
  const count = items.length === 1 ? '1 entry' : `first of ${items.length}`;
  return `${name} (${count}): ${valueWords(first)}`;
}

function valueWords(value: JsonValue): string {
  return visibleLine(clip(typeof value === 'string' ? value : quote(value), VALUE_BYTES_MAX));
}

function fitted(lines: readonly string[]): string {
  const shown: string[] = [];
  let bytesLeft = ARTIFACT_TEXT_BYTES_MAX;
  for (const line of lines.slice(0, LINES_MAX)) {
    const taken = clip(line, Math.max(bytesLeft - ENDING_BYTES, 0));
    if (taken === '' || bytesLeft <= ENDING_BYTES) break;
    shown.push(taken);
    bytesLeft -= utf8Length(taken) + 1;
  }
  return shown.join('\n');
}

/** An ellipsis and a line break. */
const ENDING_BYTES = 4;
