/** Names whose values are always secret. */
export const SECRET_NAMES =
  'pass(?:wor[dt]|wd|phrase|code)|kennwort|contraseña|senha|pwd|(?<=[a-z0-9][_-])pass|secret(?:[_-]?(?:access[_-]?)?key(?:[_-]base)?)?|private[_-]?key';

/** Names that are often harmless: their values must also look like a key. */
export const TOKEN_NAMES =
  '(?:passwords|secrets|pass(?:phrase|code)s)|api[_-]?keys?|access[_-]?key(?:[_-]?id)?|account[_-]?key|(?:auth|access|refresh|bearer|id|session)?[_-]?tokens?|credentials?|(?<=[?&])sig';

/** `pass` is also a word about tests. */
export const SHORT_NAMES = '(?<!by|com|sur|tres)pass|(?<![a-z])pw';

/** Suffixes that do not change the meaning of a name. */
export const NAME_ENDS = '(?:[_-]?(?:\\d{1,3}|prod|dev|staging|live|old|new|value))?';

const ORDINARY_WORDS =
  'string|number|boolean|bool|text|str|int|any|unknown|null|nil|none|undefined|true|false|yes|no|required|optional|missing|invalid|valid|empty|unset|set|changed|unchanged|wrong|correct|incorrect|hidden|redacted|masked|removed|rotated|expired|hashed|encrypted|n/a|tbd|varchar|flag|flags|option|options|argument|switch|parameter|fields?|prompt|reset|and|or|is|are|was|were|has|have|must|should|can|cannot|will|may|to|with|without|for|from|in|on|at|by|the|a|an|as|of|not|it|its|this|that|when|if|we|you|they|see|only|then|which|before|after';
/** References to a value that is defined elsewhere. */
const REFERENCES =
  '(?:\\$\\{[^{}\\s]{1,64}\\}|\\$[A-Z_]{2,64}|(?:process\\.env|os\\.environ|import\\.meta|env)\\.[\\w.]{1,64}|\\{\\{[^{}\\n]{1,64}\\}\\})(?=[\\s"\'`,;)\\]}\\ufdd0]|$)';
const QUOTE = '["\'`]';

/**
 * Rejects values that are not secrets: a type, a word of a sentence, or a reference. In quotes it must be the whole
 * value, because a passphrase may begin with any word.
 */
export const NOT_ORDINARY = `(?!${QUOTE}(?:${ORDINARY_WORDS})${QUOTE}|[*_~\\ufdd0]{0,4}(?:${ORDINARY_WORDS})(?:\\[\\w{1,16}\\]|\\(\\d{0,5}\\))?["'\`*_~.,;:!?)\\]}>|\\ufdd0]{0,4}(?:\\s|$)|${QUOTE}?${REFERENCES})`;

const ENDING = `${NAME_ENDS}[\\s:*_\`]*$`;
const SECRET_NAME = new RegExp(`(?:${SECRET_NAMES}|passwords|secrets)${ENDING}`, 'i');
const TOKEN_NAME = new RegExp(`(?:${TOKEN_NAMES})${ENDING}`, 'i');
const SHORT_NAME = new RegExp(`(?:${SHORT_NAMES})${ENDING}`, 'i');
const COOKIE_NAME = /^(?:set-?)?cookies?$|^authorization$/i;
const ORDINARY = new RegExp(`^(?:${ORDINARY_WORDS}|[*•x.-]{1,16})$`, 'i');
const KEY_LIKE = /^(?=\S*\d)(?=\S*\p{L})\S{6,}$/u;

/** Longer texts are not names. */
const NAME_LENGTH_MAX = 120;
const TOKEN_LENGTH_MIN = 8;
/** A number with fewer digits is a count. */
const PIN_DIGITS_MIN = 4;
const KEY_DIGITS_MIN = 6;

/** Whether a text is the name of a secret. */
export function isSecretName(name: string): boolean {
  return (
    name.length <= NAME_LENGTH_MAX && [SECRET_NAME, TOKEN_NAME, SHORT_NAME, COOKIE_NAME].some((one) => one.test(name))
  );
}

/** Whether a value is secret because of the name that it has, or that a value around it has. */
export function isNamedSecret(name: string, value: string | number): boolean {
  if (name.length > NAME_LENGTH_MAX) return false;
  const text = String(value).trim();
  if (text === '' || ORDINARY.test(text)) return false;
  if (typeof value === 'number' && text.length < (SHORT_NAME.test(name) ? KEY_DIGITS_MIN : PIN_DIGITS_MIN))
    return false;
  if (SECRET_NAME.test(name) || (text.length >= TOKEN_LENGTH_MIN && TOKEN_NAME.test(name))) return true;
  if (typeof value === 'number') return SHORT_NAME.test(name);
  return (SHORT_NAME.test(name) && isKeyLike(text)) || (COOKIE_NAME.test(name) && /[=\s]\S/.test(text));
}

/** The same in a table, where the cell beside a name may also be a sentence about it. */
export function isNamedCell(name: string, text: string): boolean {
  return isNamedSecret(name, text) && (SECRET_NAME.test(name) || isKeyLike(text));
}

/** One word of letters and digits, unlike any word in a sentence. */
export function isKeyLike(text: string): boolean {
  return text.length <= 512 && KEY_LIKE.test(text);
}
