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
