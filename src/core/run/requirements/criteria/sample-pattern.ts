import type { CompilePattern } from '../../../workflow/pattern.ts';

/** Longer samples are no examples. */
const SAMPLE_LENGTH_MAX = 512;
/** Characters that classes are tried with: plain ones first, because people will read the sample. */
const ASCII = Array.from({ length: 95 }, (_, i) => String.fromCodePoint(0x20 + i));
const TRIED = [...'a1A-', ...ASCII, '\n', '\t', 'é', '€'];

/** An author's pattern and the engine that will judge the sample. */
export type SampledPattern = {
  readonly pattern: string;
  readonly flags: string;
  readonly compilePattern: CompilePattern;
};

/** A short text that matches a pattern; `undefined` where none is found by reading it from left to right. */
export function samplePattern(sampled: SampledPattern): string | undefined {
  const compiled = sampled.compilePattern(sampled.pattern, sampled.flags);
  if (compiled.isErr()) return undefined;
  const cursor: Cursor = { ...sampled, at: 0 };
  const sample = alternatives(cursor);
  if (sample === undefined || cursor.at < sampled.pattern.length) return undefined;
  return compiled.value.test(sample) ? sample : undefined;
}

type Cursor = SampledPattern & { at: number };

/** The first branch counts; the others are read only to get past them. */
function alternatives(cursor: Cursor): string | undefined {
  const first = sequence(cursor);
  while (cursor.pattern[cursor.at] === '|') {
    cursor.at += 1;
    sequence(cursor);
  }
  return first;
}

function sequence(cursor: Cursor): string | undefined {
  let text: string | undefined = '';
  while (cursor.at < cursor.pattern.length && !'|)'.includes(cursor.pattern[cursor.at] ?? '')) {
    const one = atom(cursor);
    const times = repetition(cursor);
    if (one === undefined || text === undefined) text = times === 0 ? text : undefined;
    else text = text.length + one.length * times > SAMPLE_LENGTH_MAX ? undefined : text + one.repeat(times);
  }
  return text;
}

function atom(cursor: Cursor): string | undefined {
  const found = ATOM.exec(cursor.pattern.slice(cursor.at))?.[0] ?? '';
  cursor.at += found.length;
  if (found.startsWith('(')) return group(cursor, found);
  if (ZERO_WIDTH.test(found)) return '';
  if (found === '.' || (found.length > 1 && '[\\'.includes(found.charAt(0)))) return member(cursor, found);
  return found;
}

/** A group head, a class, an escape, or one character. */
const ATOM =
  /^(?:\((?:\?(?:P?<[A-Za-z_]\w*>|[a-zA-Z-]*[:)]))?|\[\^?\]?(?:\[:\^?\w+:\]|\\[\s\S]|[^\]\\])*\]|\\(?:[pPxu]\{[^}]*\}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|[\s\S])|[\s\S])/u;
const ZERO_WIDTH = /^(?:\^|\$|\\[bBAzZ])$/;

function group(cursor: Cursor, head: string): string | undefined {
  // Flags without a group of their own, like `(?i)`.
  if (head.endsWith(')')) return '';
  const inside = alternatives(cursor);
  cursor.at += 1;
  return inside;
}

/** The least number of times. */
function repetition(cursor: Cursor): number {
  const found = /^(?:[*+?]|\{(\d+)(?:,\d*)?\})\??/.exec(cursor.pattern.slice(cursor.at));
  if (found === null) return 1;
  cursor.at += found[0].length;
  if (found[1] !== undefined) return Number(found[1]);
  return found[0].startsWith('+') ? 1 : 0;
}

/** A character that the engine takes for this class or escape. */
function member({ compilePattern, flags }: Cursor, source: string): string | undefined {
  const compiled = compilePattern(`^(?:${source})$`, flags);
  if (compiled.isErr()) return undefined;
  // Most escapes stand for the character itself.
  const own = source.startsWith('\\') ? [source.slice(1)] : [];
  return [...own, ...TRIED].find((character) => compiled.value.test(character));
}
