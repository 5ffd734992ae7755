/** A text in which invisible characters and those that change its direction are shown as codes. Line breaks stay. */
export function visibleText(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n').replaceAll(HARMFUL_CHARACTERS, shown);
}

function shown(character: string): string {
  if (character === '\n' || character === '\t') return character;
  return `[U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`;
}

/** The same on one line. */
export function visibleLine(text: string): string {
  return visibleText(text).replaceAll(/\s+/g, ' ').trim();
}

/**
 * Control characters, characters that change the direction of text, Unicode line breaks, lone surrogates and invisible
 * characters. Joiners and variation selectors are not harmful: scripts and emoji need them.
 */
export const HARMFUL_CHARACTERS =
  /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}]|\p{Default_Ignorable_Code_Point}(?<!\p{Join_Control}|\p{Variation_Selector})/gu;

/** A character as a JSON escape. */
export function escapedCharacter(character: string): string {
  return character
    .split('')
    .map((half) => `\\u${half.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}
