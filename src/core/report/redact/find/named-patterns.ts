import { NAME_ENDS, NOT_ORDINARY, SECRET_NAMES, SHORT_NAMES, TOKEN_NAMES } from '../secret-names.ts';
import type { SecretPattern } from '../secret-patterns.ts';

/** Marks of Markdown in texts that are no Markdown, and the seams between pieces of a note. */
const DRESS = '[*_~`\\ufdd0]{0,16}';
const BLANKS = '[ \\t]{0,8}';
/** From the end of a name to its value, on the same line. */
const SIGN = `${NAME_ENDS}\\\\{0,7}["'\`]?\\]?${DRESS}${BLANKS}(?:\\r?\\n[ \\t]{0,16}(?==))?\\\\?(?:=>|:=|[:=])${DRESS}${BLANKS}(?:!{1,2}\\w{1,16}[ \\t]{1,4})?${DRESS}`;
/** The same to a value on one of the next lines. */
const SIGN_AND_BREAK = `${NAME_ENDS}["'\`]?${DRESS}${BLANKS}[:=]${DRESS}${BLANKS}(?:[|>][+-]?)?${BLANKS}(?:\\r?\\n[ \\t>]{0,16}){1,2}(?:- {1,3})?(?:[\\w-]{1,32}: {1,4})?${DRESS}`;
const LINE_END = '(?=[ \\t\\ufdd0`*_]{0,8}(?:\\r?\\n|$))';

/** A value in quotes ends where they end, or with its line; in text inside of text its quotes are escaped. */
const quoted = (lengthMin: number) =>
  `(?<quote>\\\\{1,7}["'])(?:(?!(?<!\\\\)\\k<quote>)[^\\n]){${lengthMin},}|"(?:\\\\[^\\n]|[^"\\\\\\n]){${lengthMin},}|'[^'\\n]{${lengthMin},}|\`[^\`\\n]{${lengthMin},}`;
/** Commas and the like belong to a value unless something else begins behind them. */
const TAIL = `(?:[^\\s"'\`&,;]|[,;&](?!\\s|$|["'\`{}[\\]]|[\\w.-]{1,40}["']?[ \\t]{0,4}[:=])|["'](?=\\w))`;
const START = '[^\\s"\'`&,;*~_\\ufdd0]';
const PLAIN = `${START}${TAIL}*`;
const plainMin = (lengthMin: number) => `${START}${TAIL}{${lengthMin - 1},}`;
/** Objects and lists with those in them are hidden up to where they end; of deeper ones, up to the first end. */
const NESTED = '[[{](?:[^[\\]{}]|[[{][^[\\]{}]{0,1000}[\\]}]){1,2000}(?:[[{][^\\]}]{0,1000})?';
const HAS_DIGIT = '(?=[^\\s"\'`]{0,128}[0-9])';
const KEY_LIKE = `${HAS_DIGIT}(?=[^\\s"'\`]{0,128}[A-Za-z])${plainMin(6)}`;

const named = (lead: string, value: string): SecretPattern => ({
  kind: 'password',
  pattern: new RegExp(`(?<lead>${lead})${NOT_ORDINARY}(?:${value})`, 'gi'),
});

/** Finds what is secret because of the name it stands behind. */
export const NAMED_PATTERNS: readonly SecretPattern[] = [
  named(`(?:${SECRET_NAMES})${SIGN}`, `${quoted(1)}|${NESTED}|${PLAIN}`),
  // A phrase is a line of words, ordinary ones as well.
  {
    kind: 'password',
    pattern: new RegExp(
      `(?<lead>(?:passphrase|mnemonic|(?:seed|recovery)[ _-]phrase)${SIGN})[^\\s"'\`]+(?:[ \\t]{1,4}[^\\s"'\`]+){2,}`,
      'gi',
    ),
  },
  named(`(?:${TOKEN_NAMES})${SIGN}`, `(?=\\\\{0,7}["'\`][^\\s"'\`]{8})(?:${quoted(8)})|${HAS_DIGIT}${plainMin(8)}`),
  named(`(?:${TOKEN_NAMES})\\\\{0,7}["'] {0,4}:[ \\t]{0,8}`, NESTED),
  named(`(?:${SHORT_NAMES})${SIGN}`, `["']?${KEY_LIKE}`),
  named(`(?:${SECRET_NAMES}|${TOKEN_NAMES})${SIGN_AND_BREAK}`, `${quoted(4)}|${PLAIN}${LINE_END}`),
  named(
    `(?:${SECRET_NAMES})${NAME_ENDS}${DRESS}${BLANKS}(?:\\r?\\n[ \\t]{0,16}){1,2}${DRESS}`,
    `${KEY_LIKE}${LINE_END}`,
  ),
  // `--password x`: the name is looked at first, because dashes are common.
  named(
    `(?:${SECRET_NAMES}|${TOKEN_NAMES}|(?<=-)pass)${NAME_ENDS}(?<=(?:^|[\\s"'\`(\\ufdd0])--?[\\w-]{0,60})[ \\t]{1,4}(?!-)`,
    `${quoted(1)}|${PLAIN}`,
  ),
  named(
    `(?:${SECRET_NAMES})${NAME_ENDS}["'\`]?${DRESS}[ \\t]{1,4}(?:is|was|ist|[|—–-]|->|→)[ \\t:]{1,4}${DRESS}`,
    `${quoted(4)}|${KEY_LIKE}`,
  ),
  named(
    `<[\\w.:-]{0,60}(?:${SECRET_NAMES})${NAME_ENDS}(?=[\\s>])[^<>\\n]{0,200}>(?:<!\\[CDATA\\[)?\\s{0,16}`,
    '[^<\\s][^<]{0,2000}',
  ),
  named(`<[\\w.:-]{0,60}(?:${TOKEN_NAMES})(?=[\\s>])[^<>\\n]{0,200}>\\s{0,16}`, '[^<\\s][^<\\n]{7,2000}'),
  // Two fields, one of which says what the other is.
  named(
    `(?:name|key|id|field|variable)\\\\{0,7}["']?\\s{0,4}[:=]\\s{0,4}\\\\{0,7}["']?[\\w.-]{0,60}(?:${SECRET_NAMES}|${TOKEN_NAMES})${NAME_ENDS}\\\\{0,7}["']?[\\s,;]{1,16}\\\\{0,7}["']?(?:value|val|content|data)\\\\{0,7}["']?\\s{0,4}[:=]\\s{0,4}`,
    `${quoted(1)}|${PLAIN}`,
  ),
];
