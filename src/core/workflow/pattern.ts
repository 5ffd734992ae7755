import type { Result } from 'neverthrow';
import { unreachable } from '../assert.ts';

/** A regular expression that takes time in proportion to the text, whatever the text is. */
export type Pattern = { readonly test: (text: string) => boolean };

/** Constructs that authors know from other engines and that cannot be run in linear time. */
export type UnsupportedConstruct =
  | 'lookahead'
  | 'lookbehind'
  | 'backreference'
  | 'atomic group'
  | 'possessive repetition';

export type PatternRefusal =
  | { readonly code: 'too_long'; readonly length: number; readonly lengthMax: number }
  | { readonly code: 'too_large'; readonly sizeMax: number }
  | {
      readonly code: 'unsupported';
      readonly construct: UnsupportedConstruct;
      readonly at: number;
      readonly found: string;
    }
  | { readonly code: 'malformed'; readonly reason: string; readonly at: number; readonly found: string };

/** Makes a pattern of what an author wrote; handed in from outside, because core owns no engine. Flags: `i`, `m`, `s`. */
export type CompilePattern = (pattern: string, flags: string) => Result<Pattern, PatternRefusal>;

/** `{3}`, `{3,}`, `{3,7}` and, because the engine accepts it, `{,7}`. */
const COUNTED = /\{([0-9]*)(,?)([0-9]*)\}/y;
/** An escape with an argument in braces, another escape, or a class. Each counts as one check. */
const ONE_CHECK = /\\[pPxu]\{[^}]*\}|\\[\s\S]|\[\^?\]?(?:\\[\s\S]|[^\]\\])*\]/y;

/**
 * Roughly how many single checks a pattern has once its counted repetitions are expanded. Invalid patterns are left to
 * the engine.
 */
export function patternSize(pattern: string): number {
  const open: number[] = [];
  let size = 0;
  let last = 0;
  let at = 0;
  while (at < pattern.length) {
    const character = pattern.charAt(at);
    const counted = character === '{' ? stickyMatch(COUNTED, pattern, at) : undefined;
    const check = character === '\\' || character === '[' ? stickyMatch(ONE_CHECK, pattern, at) : undefined;
    at += counted?.[0].length ?? check?.[0].length ?? 1;
    if (counted !== undefined) {
      const times = Math.max(Number(counted[1]), Number(counted[3]), 1);
      size += last * (times - 1);
      last *= times;
    } else if (character === '(') {
      open.push(size);
    } else if (character === ')') {
      last = size - (open.pop() ?? 0);
    } else if (check !== undefined || !'*+?|'.includes(character)) {
      size += 1;
      last = 1;
    }
  }
  return size;
}

function stickyMatch(expression: RegExp, text: string, at: number): RegExpExecArray | undefined {
  expression.lastIndex = at;
  return expression.exec(text) ?? undefined;
}

const INSTEAD: { readonly [construct in UnsupportedConstruct]: string } = {
  lookahead: 'Match the text itself, or write two rules',
  lookbehind: 'Match the text before it as well, or write two rules',
  backreference: 'Write out what it may repeat',
  'atomic group': 'Use a plain group "(?:…)"',
  'possessive repetition': 'Use "*", "+" or "?" alone',
};

/** What is wrong with a pattern, where in it, and what to write instead. */
export function explainPatternRefusal(refusal: PatternRefusal): string {
  switch (refusal.code) {
    case 'too_long':
      return `The pattern has ${refusal.length} characters; ${refusal.lengthMax} are allowed. Shorten it, or split it into two rules.`;
    case 'too_large':
      return `The pattern expands to more than ${refusal.sizeMax} single checks, mostly through counted repetitions. Lower the counts.`;
    case 'unsupported':
      return `The ${refusal.construct} "${refusal.found}" at character ${refusal.at + 1} cannot be checked in linear time. ${INSTEAD[refusal.construct]}.`;
    case 'malformed':
      return `The pattern cannot be read: ${refusal.reason} ("${refusal.found}" at character ${refusal.at + 1}). Fix it there, or put a backslash before a character that stands for itself.`;
    default:
      return unreachable(refusal);
  }
}
