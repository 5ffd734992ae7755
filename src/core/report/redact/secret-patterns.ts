import type { SecretKind } from './secret-kinds.ts';
import { NAME_ENDS, NOT_ORDINARY, SECRET_NAMES, SHORT_NAMES, TOKEN_NAMES } from './secret-names.ts';

/** Markdown markup in texts that are not Markdown, and the seams between pieces of a note. */
const DRESS = '[*_~`\\ufdd0]{0,16}';
const BLANKS = '[ \\t]{0,8}';
/** Between the end of a name and its value on the same line. */
const SIGN = `${NAME_ENDS}\\\\{0,7}["'\`]?\\]?${DRESS}${BLANKS}(?:\\r?\\n[ \\t]{0,16}(?==))?\\\\?(?:=>|:=|[:=])${DRESS}${BLANKS}(?:!{1,2}\\w{1,16}[ \\t]{1,4})?${DRESS}`;
/** The same for a value on one of the next lines. */
const SIGN_AND_BREAK = `${NAME_ENDS}["'\`]?${DRESS}${BLANKS}[:=]${DRESS}${BLANKS}(?:[|>][+-]?)?${BLANKS}(?:\\r?\\n[ \\t>]{0,16}){1,2}(?:- {1,3})?(?:[\\w-]{1,32}: {1,4})?${DRESS}`;
const LINE_END = '(?=[ \\t\\ufdd0`*_]{0,8}(?:\\r?\\n|$))';

/** A quoted value ends at its closing quote or at the end of the line; in nested text its quotes are escaped. */
const quoted = (lengthMin: number) =>
  `(?<quote>\\\\{1,7}["'])(?:(?!(?<!\\\\)\\k<quote>)[^\\n]){${lengthMin},}|"(?:\\\\[^\\n]|[^"\\\\\\n]){${lengthMin},}|'[^'\\n]{${lengthMin},}|\`[^\`\\n]{${lengthMin},}`;
/** Commas and the like belong to a value unless another value starts after them. */
const TAIL = `(?:[^\\s"'\`&,;]|[,;&](?!\\s|$|["'\`{}[\\]]|[\\w.-]{1,40}["']?[ \\t]{0,4}[:=])|["'](?=\\w))`;
const START = '[^\\s"\'`&,;*~_\\ufdd0]';
const PLAIN = `${START}${TAIL}*`;
const plainMin = (lengthMin: number) => `${START}${TAIL}{${lengthMin - 1},}`;
/** Objects and lists are hidden up to their end; if they are nested more deeply, up to the first end. */
const NESTED = '[[{](?:[^[\\]{}]|[[{][^[\\]{}]{0,1000}[\\]}]){1,2000}(?:[[{][^\\]}]{0,1000})?';
const HAS_DIGIT = '(?=[^\\s"\'`]{0,128}[0-9])';
const KEY_LIKE = `${HAS_DIGIT}(?=[^\\s"'\`]{0,128}[A-Za-z])${plainMin(6)}`;

const named = (lead: string, value: string): SecretPattern => ({
  kind: 'password',
  pattern: new RegExp(`(?<lead>${lead})${NOT_ORDINARY}(?:${value})`, 'gi'),
});

/** Part of every pattern below. Most texts have no such name, and the patterns are large. */
const NAMED_HINT = new RegExp(`${SECRET_NAMES}|${TOKEN_NAMES}|${SHORT_NAMES}|pass|mnemonic|phrase`, 'i');

/** Find values that are secret because of the name before them. */
const NAMED_PATTERNS: readonly SecretPattern[] = [
  named(`(?:${SECRET_NAMES})${SIGN}`, `${quoted(1)}|${NESTED}|${PLAIN}`),
  // A passphrase is a line of words, which may be ordinary ones.
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
  // `--password x`: the name is matched first, because dashes are common.
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
  // Two fields, one of which names the other.
  named(
    `(?:name|key|id|field|variable)\\\\{0,7}["']?\\s{0,4}[:=]\\s{0,4}\\\\{0,7}["']?[\\w.-]{0,60}(?:${SECRET_NAMES}|${TOKEN_NAMES})${NAME_ENDS}\\\\{0,7}["']?[\\s,;]{1,16}\\\\{0,7}["']?(?:value|val|content|data)\\\\{0,7}["']?\\s{0,4}[:=]\\s{0,4}`,
    `${quoted(1)}|${PLAIN}`,
  ),
];

/** Finds one kind of secret. What the group `lead` matches, and a quote after it, is not part of the secret. */
type SecretPattern = {
  readonly kind: SecretKind;
  readonly pattern: RegExp;
  /** What every text has that the pattern can match. */
  readonly hint?: RegExp;
};

/** Keys with the prefix of their provider. */
const ACCESS_KEYS = [
  '(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}',
  'gh[pousr]_[A-Za-z0-9]{16,}',
  'github_pat_[A-Za-z0-9_]{20,}',
  'gl(?:pat|ptt|dt|rt|soat|cbt|agent)-[A-Za-z0-9_-]{16,}',
  'xox[abeoprs]-[A-Za-z0-9-]{10,}',
  'xapp-[A-Za-z0-9-]{10,}',
  'hooks\\.slack\\.com/services/[A-Za-z0-9/]{20,}',
  '(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{10,}',
  'whsec_[A-Za-z0-9+/=]{20,}',
  'AIza[A-Za-z0-9_-]{30,}',
  'ya29\\.[A-Za-z0-9_.-]{20,}',
  'GOCSPX-[A-Za-z0-9_-]{20,}',
  '(?:npm|hf|glsa|shp(?:at|ca|pa|ss)|lin_api|do[opr]_v1|dckr_pat)_[A-Za-z0-9_]{24,}',
  'pypi-[A-Za-z0-9_-]{30,}',
  'SG\\.[A-Za-z0-9_-]{16,}\\.[A-Za-z0-9_-]{16,}',
  'hv[sbr]\\.[A-Za-z0-9_-]{20,}',
  'dapi[0-9a-f]{32}',
  'AGE-SECRET-KEY-1[0-9A-Z]{50,}',
  'PMAK-[A-Za-z0-9-]{40,}',
  'ATATT3[A-Za-z0-9_=-]{20,}',
  // A word may end in "sk-", so the key must start here and contain a digit.
  '(?<![A-Za-z0-9])sk-(?=[A-Za-z_-]{0,64}[0-9])[A-Za-z0-9_-]{16,}',
  '(?<![0-9])[0-9]{8,10}:[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])',
];

/** A user name may contain spaces if the path continues after it, but no words that continue a sentence. */
const WORD = '[^\\s\\\\/"\'`<>|:*?,;)\\]}\\ufdd0]';
const JOINT =
  '(?:and|or|in|at|to|the|is|are|was|has|with|from|but|not|see|on|for|by|of|as|into|und|oder|y|et|e|ou)(?![\\w.-])';
const USER = `${WORD}{1,64}(?:(?: (?!${JOINT})${WORD}{1,64}){1,3}(?=[\\\\/]))?`;
/** The start of a path, not a position inside another path or an address. It may follow an option, as in `-I/home`. */
const PATH_START = '(?:(?<![\\w.-])|(?<=\\\\[nrt])|(?<=(?<![\\w.-])-{1,2}[A-Za-z]?))';
/** In routes of an API, users are numbers, placeholders or one of these words. */
const NO_ROUTE = '(?<!(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) {1,4})';
const NO_ROUTE_USER =
  '(?=\\p{L})(?!(?:me|new|list|search|log-?in|log-?out|profile|id|all|count|userId|user_id)(?![\\w.-]))';

/**
 * No pattern scans a long run of text more than a fixed number of times, so the time to redact a text grows only with
 * its length.
 */
export const SECRET_PATTERNS: readonly SecretPattern[] = [
  {
    kind: 'private key',
    pattern:
      /-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----|$)/g,
  },
  { kind: 'WorkRail token', pattern: /(?<![A-Za-z0-9])(?:st|ack|chk)\\?_[0-9a-z]{40,}/gi },
  { kind: 'WorkRail token', pattern: /(?<![A-Za-z0-9])(?:st|ack|chk)\.v1\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)?/g },
  { kind: 'access key', pattern: new RegExp(ACCESS_KEYS.join('|'), 'g') },
  {
    kind: 'access key',
    pattern:
      /(?<lead>\b(?:[Bb]earer|BEARER) {1,4})(?=[A-Za-z._~+/-]{0,64}(?:[0-9=]|[a-z][A-Z]))[A-Za-z0-9._~+/=-]{12,}/g,
  },
  // Letters in groups of four are base64 if they do not look like a word.
  {
    kind: 'access key',
    pattern:
      /(?<lead>\b(?:[Bb]asic|BASIC) {1,4})(?=[A-Za-z+/]{0,64}(?:[0-9=]|[a-z][A-Z]))(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?(?![\w+/=-])/g,
  },
  {
    kind: 'access key',
    pattern:
      /(?<lead>authorization\\{0,7}["'`]?[*_`\ufdd0]{0,4} {0,4}[:=][*_`\ufdd0]{0,4} {0,4}\\{0,7}["'`]?(?:(?:basic|bearer|digest|token|apikey|negotiate)[ \t]{1,4})?)(?!(?:is|was|the|not|required|missing|basic|bearer|token)\b)[^\s"'`\\,;]{6,}/gi,
  },
  // A cookie extends to the end of its line if it starts with a name and a value.
  {
    kind: 'access key',
    pattern:
      /(?<lead>cookies?\\{0,7}["'`]?[*_`\ufdd0]{0,4}(?:[ \t]{0,4}[:=]|[ \t]{1,4})[*_`\ufdd0]{0,4}[ \t]{0,4}\\{0,7}["'`]?)(?=[\w.-]{1,64}=[^\s=])[^\n"'`\\]+/gi,
  },
  // The user and password of a request; two numbers are ids of a user and a group.
  {
    kind: 'password',
    pattern:
      /(?<lead>(?<=^|[\s"'`(\ufdd0])(?:-u|--user|--proxy-user)[ =]{0,4}["'`]?)(?!\d{1,9}:\d{1,9}(?!\S))[^\s:"'`]{1,128}:[^\s"'`]+/g,
  },
  {
    kind: 'JSON web token',
    pattern:
      /(?:(?<![A-Za-z0-9_-])|(?<=(?<![A-Za-z0-9_-])-{1,4}))eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){0,3}/g,
  },
  // The user and password of `scheme://user:password@host`.
  { kind: 'password', pattern: /(?<=[A-Za-z]:\/\/)[^\s/@:"'`<>]{0,256}:[^\s/@"'`<>]{1,256}(?=@)/g },
  { kind: 'access key', pattern: /(?<=[A-Za-z]:\/\/)(?=[^\s/@:"'`<>]{0,128}[0-9])[^\s/@:"'`<>]{8,256}(?=@)/g },
  ...NAMED_PATTERNS.map((one) => ({ ...one, hint: NAMED_HINT })),
  {
    kind: 'e-mail address',
    pattern:
      /(?<![\p{L}\p{N}._%+-])(?!git@)[\p{L}\p{N}._%+-]+[@＠](?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}{2,63}(?![\p{L}\p{N}-])/gu,
  },
  {
    kind: 'home folder',
    pattern: new RegExp(`${PATH_START}(?:(?:/var|/export|/mnt/[a-z]|/[a-z])?)/(?:home|Users)/${USER}`, 'gu'),
  },
  {
    kind: 'home folder',
    pattern: new RegExp(
      `${PATH_START}${NO_ROUTE}(?:/mnt/[a-z]|/[a-z])?/(?:users|USERS|HOME|Home)/${NO_ROUTE_USER}${USER}`,
      'gu',
    ),
  },
  {
    kind: 'home folder',
    pattern: new RegExp(
      `(?:(?<![A-Za-z0-9])[A-Za-z]:[\\\\/]{1,4}|\\\\{2,8}[\\w.$-]{1,64}\\\\{1,4})(?:[Uu]sers|USERS)[\\\\/]{1,4}${USER}`,
      'gu',
    ),
  },
  { kind: 'home folder', pattern: /(?:(?<![\w./-])|(?<=\\[nrt])|(?<=(?<![\w./-])-{1,2}[A-Za-z]?))\/root(?![\w.-])/g },
];
