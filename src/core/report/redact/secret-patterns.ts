import type { SecretKind } from './secret-kinds.ts';

/** Finds one kind of secret. What a group `lead` matches, and a quote behind it, stays. */
export type SecretPattern = { readonly kind: SecretKind; readonly pattern: RegExp };

/** Keys that say by how they begin whose they are. */
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
  // A word may end in "sk-", so the key must begin here and hold a digit.
  '(?<![A-Za-z0-9])sk-(?=[A-Za-z_-]{0,64}[0-9])[A-Za-z0-9_-]{16,}',
  '(?<![0-9])[0-9]{8,10}:[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])',
];

const SECRET_NAMES = 'pass(?:word|wd|phrase)|pwd|secret(?:[_-]?(?:access)?[_-]?key)?|client[_-]?secret|private[_-]?key';
const TOKEN_NAMES =
  'api[_-]?key|access[_-]?key(?:[_-]?id)?|account[_-]?key|(?:auth|access|refresh|bearer|id|session)?[_-]?token|credentials?|(?<=[?&])sig';
/** A value in quotes ends where they end, or with its line. */
const quoted = (lengthMin: number) =>
  `"(?:\\\\[^\\n]|[^"\\\\\\n]){${lengthMin},}|'[^'\\n]{${lengthMin},}|\`[^\`\\n]{${lengthMin},}`;

/** A user name may hold spaces where the path goes on behind it and its parts begin with capitals. */
const WORD = '[^\\s\\\\/"\'`<>|:*?,;)\\]}]';
const USER = `${WORD}{1,64}(?:(?: \\p{Lu}${WORD}{0,64}){1,3}(?=[\\\\/]))?`;

/**
 * What is looked for. None of them looks at a long stretch of text more than a fixed number of times, so that hiding
 * takes time by the length of the text, whatever it holds.
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
    pattern: /(?<lead>\b(?:bearer|basic) {1,4})[A-Za-z0-9._~+/=-]{16,}/gi,
  },
  {
    kind: 'JSON web token',
    pattern: /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){0,3}/g,
  },
  // The password of `scheme://user:password@host`, together with the user.
  { kind: 'password', pattern: /(?<=[A-Za-z]:\/\/)[^\s/@:"'`<>]{0,256}:[^\s/@"'`<>]{1,256}(?=@)/g },
  {
    kind: 'password',
    pattern: new RegExp(`(?<lead>(?:${SECRET_NAMES})["'\`]? {0,4}[:=] {0,4})(?:${quoted(1)}|[^\\s"'\`&,;]+)`, 'gi'),
  },
  {
    kind: 'password',
    pattern: new RegExp(
      `(?<lead>(?:${TOKEN_NAMES})["'\`]? {0,4}[:=] {0,4})(?:${quoted(8)}|(?=[^\\s"'\`&,;]{0,128}[0-9])[^\\s"'\`&,;]{8,})`,
      'gi',
    ),
  },
  {
    kind: 'e-mail address',
    pattern:
      /(?<![\p{L}\p{N}._%+-])(?!git@)[\p{L}\p{N}._%+-]+@(?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}{2,63}(?![\p{L}\p{N}-])/gu,
  },
  {
    kind: 'home folder',
    pattern: new RegExp(
      `(?:(?<![\\w.-])|(?<=\\\\[nrt]))(?:(?:/var|/export|/mnt/[a-z]|/[a-z])?)/(?:home|Users)/${USER}`,
      'gu',
    ),
  },
  {
    kind: 'home folder',
    pattern: new RegExp(`(?<![A-Za-z0-9])[A-Za-z]:[\\\\/]{1,2}[Uu]sers[\\\\/]{1,2}${USER}`, 'gu'),
  },
  { kind: 'home folder', pattern: /(?:(?<![\w./-])|(?<=\\[nrt]))\/root(?![\w.-])/g },
];

const SECRET_NAME = new RegExp(`(?:${SECRET_NAMES})$`, 'i');
const TOKEN_NAME = new RegExp(`(?:${TOKEN_NAMES})$`, 'i');
const TOKEN_LENGTH_MIN = 8;

/** Whether what stands under a name is secret for its name alone. */
export function isNamedSecret(name: string, text: string): boolean {
  if (text === '') return false;
  return SECRET_NAME.test(name) || (text.length >= TOKEN_LENGTH_MIN && TOKEN_NAME.test(name));
}
