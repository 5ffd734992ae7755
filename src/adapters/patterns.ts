import { err, ok, type Result } from 'neverthrow';
import { RE2JS, RE2JSSyntaxException } from 're2js';
import {
  type CompilePattern,
  type Pattern,
  type PatternRefusal,
  patternSize,
  type UnsupportedConstruct,
} from '../core/workflow/pattern.ts';
import { boundedCache } from './bounded-cache.ts';

const LENGTH_MAX = 1024;
/** Time grows with the text length times this. */
const SIZE_MAX = 1000;
const KEPT_MAX = 512;

const FLAGS: { readonly [flag: string]: number } = {
  i: RE2JS.CASE_INSENSITIVE,
  m: RE2JS.MULTILINE,
  s: RE2JS.DOTALL,
};

const ESCAPE = /\\(?:u\{([0-9a-f]+)\}|u([0-9a-f]{4})|[\s\S])/gi;

/** Syntax of backtracking engines that authors may expect. */
const UNSUPPORTED: readonly (readonly [RegExp, UnsupportedConstruct])[] = [
  [/^\(\?[=!]/, 'lookahead'],
  [/^\(\?<[=!]/, 'lookbehind'],
  [/^\(\?>/, 'atomic group'],
  [/^\\(?:[1-9]|k)|^\(\?P=|^\(\?P$/, 'backreference'],
  [/^[*+?}]\+$/, 'possessive repetition'],
];

/** Compiles patterns for an engine that never backtracks. Each pattern is compiled once. */
export function re2Patterns(): CompilePattern {
  const kept = boundedCache<string, Result<Pattern, PatternRefusal>>(KEPT_MAX);
  return (pattern, flags) => {
    const key = `${flags}/${pattern}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const compiled = compile(pattern, flags);
    kept.set(key, compiled);
    return compiled;
  };
}

function compile(pattern: string, flags: string): Result<Pattern, PatternRefusal> {
  if (pattern.length > LENGTH_MAX) {
    return err({ code: 'too_long', length: pattern.length, lengthMax: LENGTH_MAX });
  }
  // Compiling a large pattern takes long, so its size is estimated first.
  if (patternSize(pattern) > SIZE_MAX) return err({ code: 'too_large', sizeMax: SIZE_MAX });
  try {
    const bits = [...flags].reduce((all, flag) => all | (FLAGS[flag] ?? 0), 0);
    const program = RE2JS.compile(inEngineSpelling(pattern), bits);
    return ok({ test: (text) => program.test(text) });
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) return err(refusalOf(error, pattern));
    throw error;
  }
}

/** The engine writes code points as `\x{…}`. Nothing else is rewritten: an unknown escape is refused. */
function inEngineSpelling(pattern: string): string {
  return pattern.replaceAll(ESCAPE, (whole, braced?: string, plain?: string) => {
    const point = braced ?? plain;
    return point === undefined ? whole : `\\x{${point}}`;
  });
}

function refusalOf(error: RE2JSSyntaxException, pattern: string): PatternRefusal {
  const found = error.getPattern() ?? '';
  // The engine reports the fragment but not its place, and some fragments extend to the end of the pattern.
  const at = Math.max(0, pattern.indexOf(found));
  const construct = UNSUPPORTED.find(([shape]) => shape.test(found))?.[1];
  const shown = found.slice(0, 12);
  if (construct !== undefined) return { code: 'unsupported', construct, at, found: shown };
  if (error.getDescription() === 'invalid repeat count') return { code: 'too_large', sizeMax: SIZE_MAX };
  return { code: 'malformed', reason: error.getDescription(), at, found: shown };
}
