/**
 * Sentences that the first release offered to be sent. They say nothing about the work, so a field that equals one of
 * them, or a line of notes that begins with one, counts as not filled in. This list never grows: later releases offer
 * blanks.
 */
const LEGACY_SENTENCES: readonly string[] = [
  'What was done in this step, what came of it, and what is open.',
  'What you did, the result, and what is still open.',
  'What the user said, in their words.',
  "The user's answer, in their words",
  "the user's answer",
  'What the step wants in notes, or what was done.',
  'The notes the step asks for.',
  'Progress so far.',
  'What you tried, and what came back.',
  'What you tried, and the result.',
  'What is done, and what is left open.',
  'What is done, and what is still open.',
  '<in the words of the coordinator: what was checked, and why it may pass>',
  '<what is done and what is open>',
  'And so on. And so on.',
];
const FOLDED = LEGACY_SENTENCES.map(plain);

/** Whether a text is one of the sentences that the first release offered. */
export function isLegacySentence(text: string): boolean {
  return text.length <= SENTENCE_LENGTH_MAX && FOLDED.includes(plain(text));
}

/** Whether a line of notes begins with such a sentence; the first release repeated it up to the required length. */
export function startsWithLegacySentence(line: string): boolean {
  const start = plain(line.slice(0, 2 * SENTENCE_LENGTH_MAX));
  return FOLDED.some((sentence) => start.startsWith(sentence) && sentence.length >= LINE_LENGTH_MIN);
}

const SENTENCE_LENGTH_MAX = 120;
/** A shorter one may be the beginning of somebody's own sentence. */
const LINE_LENGTH_MIN = 20;

function plain(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ').replace(/\.$/, '').toLowerCase();
}
