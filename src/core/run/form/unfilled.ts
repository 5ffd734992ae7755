import { err, ok, type Result } from 'neverthrow';
import { canonicalJson } from '../../json/canonical-json.ts';
import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import type { PinnedContract } from '../../workflow/compiled/compiled-workflow.ts';
import type { HandedArtifact, HandedIn, Unfilled } from '../step-place.ts';
import { blankWords, isBlankField, textsIn, unfilledLines } from './blank.ts';

export const ALL_FILLED: Unfilled = { notes: [], artifacts: [], contextKeys: [] };

export function isAllFilled({ notes, artifacts, contextKeys }: Unfilled): boolean {
  return notes.length + artifacts.length + contextKeys.length === 0;
}

/** What an offered call asked for, to recognise words that were copied without their marker. */
export type OfferedForm = {
  readonly notesMarkdown?: string | undefined;
  readonly artifacts?: readonly JsonObject[] | undefined;
  readonly context?: JsonObject | undefined;
};

type Known = {
  readonly contractOf: (kind: string) => PinnedContract | undefined;
  /** The words of all blanks that the step offers. */
  readonly words: ReadonlySet<string>;
};

/** The words of all blanks of a form. Words that are themselves an answer are left out. */
export function offeredWords({ notesMarkdown = '', artifacts = [], context = {} }: OfferedForm): ReadonlySet<string> {
  const texts = [
    notesMarkdown,
    ...textsIn([...artifacts]).map(({ text }) => text),
    ...textsIn(context).map(({ text }) => text),
  ];
  return new Set(texts.flatMap(blankWords).filter((words) => words.includes(' ')));
}

/** Separates what was filled in from what was not. */
export function separateUnfilled(
  { notesMarkdown, artifacts }: HandedIn,
  known: Known,
): { readonly filled: HandedIn; readonly unfilled: Unfilled } {
  const notes = notesMarkdown === undefined ? [] : unfilledNotes(notesMarkdown, known.words);
  const judged = artifacts.map((artifact) => ({ artifact, fields: unfilledFields(artifact, known) }));
  return {
    filled: {
      notesMarkdown: notes.length === 0 ? notesMarkdown : undefined,
      artifacts: judged.filter(({ fields }) => fields.length === 0).map(({ artifact }) => artifact),
    },
    unfilled: {
      notes,
      artifacts: judged
        .filter(({ fields }) => fields.length > 0)
        .map(({ artifact, fields }) => ({ kind: artifact.kind, fields })),
      contextKeys: [],
    },
  };
}

/** The keys of context whose values are blanks. */
export function unfilledKeys(context: JsonObject): readonly string[] {
  return Object.entries(context)
    .filter(([key, value]) => textsIn(value ?? null).some(({ text }) => isUnfilledText(text) || text === `<${key}>`))
    .map(([key]) => key);
}

/** Something was sent as a blank where it cannot be left out. */
export type FormUnfilled = {
  readonly code: 'form_unfilled';
  /** The fields, as a caller names them. */
  readonly fields: readonly [string, ...string[]];
};

/** Refuses a call that is stored as it was sent if a part of it is a blank. */
export function refuseBlanks({
  goal,
  notesMarkdown,
  artifacts = [],
  context = {},
}: OfferedForm & { readonly goal?: string | undefined }): Result<undefined, FormUnfilled> {
  const fields = [
    ...(goal !== undefined && unfilledNotes(goal, NO_WORDS).length > 0 ? ['goal'] : []),
    ...unfilledKeys(context).map((key) => `context.${key}`),
    ...(areNotesFilled(notesMarkdown ?? '') ? [] : ['output.notesMarkdown']),
    ...textsIn([...artifacts])
      .filter(({ text }) => isUnfilledText(text))
      .map(({ path }) => `output.artifacts${path}`),
  ];
  const [first, ...others] = fields;
  return first === undefined ? ok(undefined) : err({ code: 'form_unfilled', fields: [first, ...others] });
}

const NO_WORDS: ReadonlySet<string> = new Set();

export function withoutKeys(context: JsonObject, keys: readonly string[]): JsonObject {
  return keys.length === 0
    ? context
    : Object.fromEntries(Object.entries(context).filter(([key]) => !keys.includes(key)));
}

/** Whether these are notes, and not a form that was sent back. */
export function areNotesFilled(notes: string | undefined): boolean {
  return notes !== undefined && unfilledNotes(notes, NO_WORDS).length === 0;
}

function unfilledNotes(notes: string, words: ReadonlySet<string>): readonly string[] {
  const lines = unfilledLines(notes);
  if (lines.length > 0) return lines;
  const legacy = notes.split('\n').filter(startsWithLegacySentence);
  if (legacy.length > 0) return legacy;
  return isLegacySentence(notes) || words.has(notes.trim()) ? [notes.trim()] : [];
}

function unfilledFields({ kind, value }: HandedArtifact, { contractOf, words }: Known): readonly string[] {
  const contract = kind === undefined ? undefined : contractOf(kind);
  const copied = contract === undefined ? new Map() : new Map(exampleTexts(contract.example));
  const fields = textsIn(value).filter(
    ({ path, text }) =>
      isUnfilledText(text) ||
      words.has(text.trim()) ||
      // Published examples have texts like `<what you saw>`.
      (copied.get(path) === text && /^<[^<>]+>$/.test(text)),
  );
  if (fields.length > 0) return fields.map(({ path }) => path);
  return contract !== undefined && isPublishedExample(value, contract.example) ? ['kind'] : [];
}

function exampleTexts(example: JsonValue): readonly (readonly [string, string])[] {
  return textsIn(example).map(({ path, text }) => [path, text] as const);
}

/** Only an example with a free text can be told from an answer. */
function isPublishedExample(value: JsonObject, example: JsonObject): boolean {
  const hasText = textsIn(example).some(({ text }) => text.includes(' '));
  return hasText && canonicalJson(value).unwrapOr('') === canonicalJson(example).unwrapOr('-');
}

function isUnfilledText(text: string): boolean {
  return isBlankField(text) || isLegacySentence(text);
}

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
