import { createHash } from 'node:crypto';

/** Shorter ones are alike by chance. */
const WORDS_MIN = 7;
const DIGITS = 10;

/** What a text says, sentence by sentence, in plain lower-case words: punctuation and mark-up do not make it one's own. */
export function sentencesOf(text: string): readonly string[] {
  return text
    .split(/[.!?:;|\n]+(?=\s|$)/)
    .map((sentence) => (sentence.toLowerCase().match(/[a-z0-9_'-]*[a-z][a-z0-9_'-]*/g) ?? []).join(' '))
    .filter((sentence) => sentence.split(' ').length >= WORDS_MIN);
}

export function fingerprint(sentence: string): string {
  return createHash('sha256').update(sentence).digest('hex').slice(0, DIGITS);
}
