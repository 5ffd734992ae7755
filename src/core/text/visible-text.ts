import { HARMFUL_CHARACTERS } from '../spelling/harmful-characters.ts';

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
