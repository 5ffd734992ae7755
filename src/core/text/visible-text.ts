/** A text in which nothing is hidden or turned round: what would do that is shown as its code. Lines stay lines. */
export function visibleText(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n').replaceAll(HARMFUL_CHARACTERS, shown);
}

function shown(character: string): string {
  if (character === '\n' || character === '\t') return character;
  return `[U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`;
}

/** The same in one line. */
export function visibleLine(text: string): string {
  return visibleText(text).replaceAll(/\s+/g, ' ').trim();
}

/**
 * Controls with C1, what changes the direction of text, line breaks of Unicode, halves of a character, and what is there
 * without being seen. Joiners and variation selectors stay: scripts and pictures need them.
 */
export const HARMFUL_CHARACTERS =
  /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}]|\p{Default_Ignorable_Code_Point}(?<!\p{Join_Control}|\p{Variation_Selector})/gu;

/** A character as JSON escapes it. */
export function escapedCharacter(character: string): string {
  return character
    .split('')
    .map((half) => `\\u${half.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}
