/** White space, backticks and quotes of any script: what an agent or a terminal wraps around a copied token. */
const WRAPPING = /[\s`´'"‘’‚‛“”„‟«»‹›「」『』＂＇]/gu;

/**
 * Undoes what happens to a compact token when it is copied, read aloud or typed. Nothing else is guessed: whatever is
 * left must be exactly a token. Letters that look like digits occur in the prefix, so there they keep their meaning.
 */
export function normaliseToken(text: string): string {
  // Only ASCII letters change case: the Kelvin sign would otherwise turn into a k.
  const plain = text.replace(WRAPPING, '').replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const prefixLength = plain.indexOf('_') + 1;
  if (prefixLength === 0) return plain;
  const rest = plain.slice(prefixLength).replaceAll('o', '0').replaceAll(/[il]/g, '1');
  return plain.slice(0, prefixLength) + rest;
}
