/** Characters that are harmless everywhere. Most texts have no others, and the pattern of the harmful ones is large. */
const PLAIN = /^[\n\t\x20-\x7e\xa0-\xac\xae-\u024f\u2010-\u2027\u2030-\u205e\u2190-\u23ff]*$/;

/** The same without line breaks and tabs. */
const PLAIN_LINE = /^[\x20-\x7e\xa0-\xac\xae-\u024f\u2010-\u2027\u2030-\u205e\u2190-\u23ff]*$/;

/** Whether a text has only characters that can be seen, as far as a quick look shows. */
export function isPlainText(text: string): boolean {
  return PLAIN.test(text);
}

/** A text in which invisible characters and those that change its direction are shown as codes. Line breaks stay. */
export function visibleText(text: string): string {
  if (isPlainText(text)) return text;
  return text.replaceAll(/\r\n?/g, '\n').replaceAll(harmfulCharacters(), shown);
}

function shown(character: string): string {
  return isAllowedBreak(character) ? character : characterCode(character);
}

/** Line feed and tab are control characters that every text may have. */
function isAllowedBreak(character: string): boolean {
  return character === '\n' || character === '\t';
}

/** The name of a character that cannot be seen. */
export function characterCode(character: string): string {
  return `[U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`;
}

/** The same on one line. */
export function visibleLine(text: string): string {
  return visibleText(text).replaceAll(/\s+/g, ' ').trim();
}

/** A text in which such characters are escaped as in JSON, line breaks and tabs too. JSON reads as the same value. */
export function visibleJson(json: string): string {
  return PLAIN_LINE.test(json) ? json : json.replaceAll(harmfulCharacters(), escapedCharacter);
}

/** The invisible characters of a text, each once; line breaks and tabs are none. */
export function hiddenCharacters(text: string): readonly string[] {
  if (isPlainText(text)) return [];
  const found = text.replaceAll('\r\n', '\n').match(harmfulCharacters()) ?? [];
  return [...new Set(found)].filter((character) => !isAllowedBreak(character));
}

/** The text without them. */
export function withoutHidden(text: string): string {
  if (isPlainText(text)) return text;
  const kept = (character: string) => (isAllowedBreak(character) ? character : '');
  return text.replaceAll('\r\n', '\n').replaceAll(harmfulCharacters(), kept);
}

/** Scripts in whose words a joiner decides how the letters around it are drawn. */
const JOINING_SCRIPTS = [
  ...['Arabic', 'Syriac', 'Mandaic', 'Nko', 'Mongolian', 'Phags_Pa', 'Adlam', 'Hanifi_Rohingya'],
  ...['Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati', 'Oriya', 'Tamil', 'Telugu', 'Kannada', 'Malayalam', 'Sinhala'],
  ...['Khmer', 'Myanmar', 'Tibetan', 'Balinese', 'Javanese'],
];
const JOINING = `[${JOINING_SCRIPTS.map((script) => `\\p{Script_Extensions=${script}}`).join('')}]`;

/** Joiners inside words and emoji, and one variation selector after a character that has variants. */
const NEEDED = [
  `(?<=${JOINING})[\\u200C\\u200D](?=${JOINING})`,
  '(?<=\\p{Extended_Pictographic}[\\uFE0F\\p{Emoji_Modifier}]?)\\u200D(?=\\p{Extended_Pictographic})',
  '(?<=\\p{Extended_Pictographic})[\\uFE0E\\uFE0F]',
  '(?<=[0-9#*])\\uFE0F(?=\\u20E3)',
  '(?<=\\p{Script=Han})[\\uFE00-\\uFE02\\u{E0100}-\\u{E01EF}]',
  '(?<=\\p{Script=Mongolian})[\\u180B-\\u180D\\u180F]',
  '(?<=\\p{Sm})\\uFE00',
].join('|');

/**
 * Control characters, characters that change the direction of text, Unicode line breaks, lone surrogates, and
 * characters that take no room: zero-width ones, tags, joiners and variation selectors where no script needs them.
 */
export function harmfulCharacters(): RegExp {
  harmful ??= new RegExp(
    `[\\p{Cc}\\p{Bidi_Control}\\p{Zl}\\p{Zp}\\p{Cs}\\uFFF9-\\uFFFB]|(?=\\p{Default_Ignorable_Code_Point})(?!${NEEDED}).`,
    'gu',
  );
  return harmful;
}

/** Made on first use: reading it takes as long as a whole call, and most texts are plain. */
let harmful: RegExp | undefined;

/** A character as a JSON escape. */
export function escapedCharacter(character: string): string {
  return character
    .split('')
    .map((half) => `\\u${half.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}

/** The beginning of the line with the next call. */
export const NEXT_CALL = 'Next call:';

/** How prompts refer to the block of what agents and users wrote. */
export const RECORDED = 'Recorded earlier';

/** The first line of the part of a prompt that the project wrote. */
export const BOUND_LABEL = "From this project's .workrail/bindings.json, not from the author of the workflow:";

/** What our own lines begin with, also as an item, as a heading or in bold. */
const OUR_WORDS = [
  NEXT_CALL,
  'Run [0-9a-z]{4} ·',
  'Warning:',
  'Gap \\(',
  'Blocked:',
  'Confirmation:',
  'Required:',
  RECORDED,
  "From this project's",
  'To see the goal',
  'To save notes',
  'Rules for the whole workflow',
  'Documents of this workflow:',
  'Evidence for checks:',
  'Checks with their evidence',
  'Answers of people',
  'Assessment "[^"\\n]*" accepted',
  'No gaps are open',
  'Every required output',
  '(?:Approved|Rejected|Answered|Accepted) (?:by|in|at|on) ',
  'The user (?:has )?(?:approved|answered|accepted)',
  'The step:',
].join('|');
const MARKS = '(?:[^\\S\\n]|[*_#+`~-]|\\d{1,9}[.)])*';
const OUR_LINE = new RegExp(`^(?=[^\\S\\n]*(?:-{3,}[^\\S\\n]*$|${MARKS}(?:${OUR_WORDS})))`, 'gim');

/**
 * Text from outside must not look like the engine's own: a value may hold a whole old reply, with tokens that are no
 * longer valid, and a workflow of a clone a confirmation that nobody gave. Lines that look like ours become quotations.
 */
export function quoteReservedLines(text: string): string {
  return visibleText(text).replaceAll(OUR_LINE, '> ');
}

/** The lines of a text that look like ours. */
export function reservedLines(text: string): readonly string[] {
  return [...text.matchAll(OUR_LINE)].map(({ index }) => text.slice(index).split('\n', 1)[0] ?? '');
}
