/** What is put around a copied token or between its characters: white space, quotes of any script, invisible marks. */
const WRAPPING = '[\\s\\p{Cf}`´\'"‘’‚‛“”„‟«»‹›「」『』＂＇]';
const ANYWHERE = new RegExp(WRAPPING, 'gu');
const AT_THE_ENDS = new RegExp(`^${WRAPPING}+|${WRAPPING}+$`, 'gu');

/**
 * Undoes what happens to a compact token when it is copied, wrapped, read aloud or typed. Nothing else is guessed:
 * whatever is left must be exactly a token. Only what follows the prefix is base32, so only there are letters read as
 * digits; a wrong prefix is told as it was sent.
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

/** The text without what is put around it. */
export function unwrapped(text: string): string {
  return text.replace(AT_THE_ENDS, '');
}
