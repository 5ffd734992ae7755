/** Characters that copying adds around a token or inside it: white space, quotes of any script, invisible marks. */
const WRAPPING = '[\\s\\p{Cf}`´\'"‘’‚‛“”„‟«»‹›「」『』＂＇]';
const ANYWHERE = new RegExp(WRAPPING, 'gu');
const AT_THE_ENDS = new RegExp(`^${WRAPPING}+|${WRAPPING}+$`, 'gu');

/**
 * Undoes what copying, wrapping, reading aloud or typing does to a compact token, and guesses nothing else: the result
 * must be exactly a token. Only the part after the prefix is base32, so letters are read as digits only there.
 * A file of its own because the server loads it before the first call.
 */
export function normaliseToken(text: string): string {
  // Only ASCII letters change case: the Kelvin sign would otherwise turn into a k.
  const bare = text.replace(ANYWHERE, '').replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  // Markdown escapes the underscore that follows the prefix.
  const plain = bare.replace('\\_', '_');
  const prefixLength = plain.indexOf('_') + 1;
  if (prefixLength === 0) return plain;
  const rest = plain.slice(prefixLength).replaceAll('o', '0').replaceAll(/[il]/g, '1');
  return plain.slice(0, prefixLength) + rest;
}

/** The text without the characters that copying adds around it. */
export function unwrapped(text: string): string {
  return text.replace(AT_THE_ENDS, '');
}
