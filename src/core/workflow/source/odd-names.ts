/** Names with a meaning of their own in the language underneath. */
export const RESERVED_NAMES: readonly string[] = ['__proto__', 'constructor', 'prototype'];

/** Control characters, zero-width characters and those that turn the direction of writing. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** The text as a reader sees it. */
export function visible(text: string): string {
  return text.toWellFormed().replaceAll(INVISIBLE, '');
}
