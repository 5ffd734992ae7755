/** Controls with C1, what changes the direction of text, line breaks of Unicode, and halves of a character. */
const HARMFUL = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}]/gu;

/**
 * A text as one line that a terminal shows as it is: what would move the cursor, hide, reorder or colour something
 * becomes a visible escape. Doing it twice changes nothing.
 */
export function printable(text: string): string {
  return text.replaceAll(HARMFUL, escaped);
}

/** A value as one line of JSON that is safe to show: the same value for whoever parses it. */
export function printableJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(HARMFUL, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
