import { escapedCharacter, HARMFUL_CHARACTERS } from '../../core/spelling/harmful-characters.ts';

/**
 * A text as one line that a terminal shows as it is: what would move the cursor, hide, reorder or colour something
 * becomes a visible escape. Doing it twice changes nothing.
 */
export function printable(text: string): string {
  return text.replaceAll(HARMFUL_CHARACTERS, escapedCharacter);
}

/** A value as one line of JSON that is safe to show: the same value for whoever parses it. */
export function printableJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(HARMFUL_CHARACTERS, escapedCharacter);
}
