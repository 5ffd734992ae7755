/** Controls with C1, what changes the direction of text, line breaks of Unicode, and halves of a character. */
const HARMFUL = /[^\P{Cc}\n\t]|[\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** A text in which nothing is hidden or turned round: what would do that is shown as its code. Lines stay lines. */
export function visibleText(text: string): string {
  return text
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(HARMFUL, (character) => `[U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}]`);
}

/** The same in one line. */
export function visibleLine(text: string): string {
  return visibleText(text).replaceAll(/\s+/g, ' ').trim();
}
