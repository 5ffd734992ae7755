import { err, ok, type Result } from 'neverthrow';
import { canonicalJson } from '../../json/canonical-json.ts';
import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { describeShape, isAllowedText, type Shape, shapeAt } from '../../workflow/builtins/shape.ts';
import type { PinnedContract } from '../../workflow/compiled/compiled-workflow.ts';
import type { HandedArtifact, HandedIn, Unfilled } from '../step-place.ts';
import { blank, blankWords, isBlankField, NOTES_WORDS, textsIn, unfilledLines, withWordsOnly } from './blank.ts';

export const ALL_FILLED: Unfilled = { notes: [], artifacts: [], contextKeys: [] };

export function isAllFilled({ notes, artifacts, contextKeys }: Unfilled): boolean {
  return notes.length + artifacts.length + contextKeys.length === 0;
}

/** A call with blanks, or what was sent in its place. */
export type OfferedForm = {
  readonly notesMarkdown?: string | undefined;
  readonly artifacts?: readonly JsonObject[] | undefined;
  readonly context?: JsonObject | undefined;
};

type Known = {
  readonly contractOf: (kind: string) => PinnedContract | undefined;
  readonly words: OfferedWords;
};

/** What a step's form says, to recognise words that were copied without their marker. */
export type OfferedWords = {
  /** Lines of notes with the words of their blanks but without the markers, and whether one alone says nothing. */
  readonly notes: ReadonlyMap<string, boolean>;
  /** The words of each field of each kind of artifact. */
  readonly fields: ReadonlyMap<string, ReadonlySet<string>>;
};

/** The words of all blanks of a form. A single word in notes may be what a rule asks for: then it is an answer. */
export function offeredWords(
  { notesMarkdown = '', artifacts = [] }: OfferedForm,
  isAnswer: (word: string) => boolean = () => false,
): OfferedWords {
  const notes = new Map(NOTES_WORDS.map((words) => [words, true]));
  for (const line of notesMarkdown.split('\n')) {
    const all = blankWords(line);
    const copied = all.length > 0 ? [{ words: withWordsOnly(line).trim(), saysNothing: all.some(isPhrase) }] : [];
    const alone = all.map((words) => ({ words, saysNothing: isPhrase(words) || !isAnswer(words) }));
    for (const { words, saysNothing } of [...copied, ...alone]) {
      notes.set(words, saysNothing);
      if (saysNothing && isPhrase(words)) notes.set(plain(words), true);
    }
  }
  const fields = new Map<string, Set<string>>();
  for (const artifact of artifacts) {
    for (const { path, text } of textsIn(artifact)) {
      const name = fieldName(artifact['kind'], path);
      const known = fields.get(name) ?? new Set();
      fields.set(name, known);
      for (const words of blankWords(text)) known.add(words);
    }
  }
  return { notes, fields };
}

function isPhrase(words: string): boolean {
  return words.includes(' ');
}

/** The items of a list have one name: the form shows one of them. */
function fieldName(kind: JsonValue | undefined, path: string): string {
  return `${String(kind)} ${path.replaceAll(/\[\d+\]/g, '[]')}`;
}

/** Separates what was filled in from what was not. */
export function separateUnfilled(
  { notesMarkdown, artifacts }: HandedIn,
  known: Known,
): { readonly filled: HandedIn; readonly unfilled: Unfilled } {
  const notes = notesMarkdown === undefined ? [] : unfilledNotes(notesMarkdown, known.words.notes);
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

/** The keys of context whose values are blanks, or only the words of one. */
export function unfilledKeys(
  context: JsonObject,
  isCopied: (key: string, text: string) => boolean = () => false,
): readonly string[] {
  return Object.entries(context)
    .filter(
      ([key, value]) =>
        (typeof value === 'string' || typeof value === 'object') &&
        textsIn(value ?? null).some(({ text }) => isUnfilledText(text) || text === `<${key}>` || isCopied(key, text)),
    )
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
    ...(goal !== undefined && unfilledNotes(goal, NO_FORM).length > 0 ? ['goal'] : []),
    ...unfilledKeys(context).map((key) => `context.${key}`),
    ...(areNotesFilled(notesMarkdown ?? '') ? [] : ['output.notesMarkdown']),
    ...textsIn([...artifacts])
      .filter(({ text }) => isUnfilledText(text))
      .map(({ path }) => `output.artifacts${path}`),
  ];
  const [first, ...others] = fields;
  return first === undefined ? ok(undefined) : err({ code: 'form_unfilled', fields: [first, ...others] });
}

/** What every form for notes may say. */
const NO_FORM = offeredWords({}).notes;

export function withoutKeys(context: JsonObject, keys: readonly string[]): JsonObject {
  if (keys.length === 0) return context;
  const dropped = new Set(keys);
  return Object.fromEntries(Object.entries(context).filter(([key]) => !dropped.has(key)));
}

/** Whether these are notes, and not a form that was sent back. */
export function areNotesFilled(notes: string | undefined): boolean {
  return notes !== undefined && unfilledNotes(notes, NO_FORM).length === 0;
}

function unfilledNotes(notes: string, offered: OfferedWords['notes']): readonly string[] {
  const lines = unfilledLines(notes);
  if (lines.length > 0) return lines;
  const legacy = notes.split('\n').filter(startsWithLegacySentence);
  if (legacy.length > 0) return legacy;
  return isLegacySentence(notes) ? [notes.trim()] : copiedLines(notes, offered);
}

/** All lines of notes that are nothing but the form without its markers. */
function copiedLines(notes: string, offered: OfferedWords['notes']): readonly string[] {
  const lines = notes
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  // A sentence is the same with a capital or a full stop.
  const known = lines.map((line) => offered.get(line) ?? (isPhrase(line) ? offered.get(plain(line)) : undefined));
  const isCopied = known.every((one) => one !== undefined) && known.includes(true);
  return isCopied ? lines : [];
}

function unfilledFields({ kind, value }: HandedArtifact, { contractOf, words }: Known): readonly string[] {
  const contract = kind === undefined ? undefined : contractOf(kind);
  const copied = contract === undefined ? new Map() : new Map(exampleTexts(contract.example));
  const fields = textsIn(value).filter(
    ({ path, text }) =>
      isUnfilledText(text) ||
      isCopiedField({ kind, path, text: text.trim() }, { words, contract }) ||
      // Published examples have texts like `<what you saw>`.
      (copied.get(path) === text && /^<[^<>]+>$/.test(text)),
  );
  if (fields.length > 0) return fields.map(({ path }) => path);
  return contract !== undefined && isPublishedExample(value, contract.example) ? ['kind'] : [];
}

/** Whether a field equals the words of its blank, and these are not one of the values that it may have. */
function isCopiedField(
  { kind, path, text }: { readonly kind: string | undefined; readonly path: string; readonly text: string },
  { words, contract }: { readonly words: OfferedWords; readonly contract: PinnedContract | undefined },
): boolean {
  if (text.length > WORDS_LENGTH_MAX) return false;
  const isOffered = words.fields.get(fieldName(kind, path))?.has(text) === true;
  if (!isOffered && !isPhrase(text)) return false;
  const shape = contract && shapeAt(contract.schema, path);
  return (isOffered || isDescription(shape, text)) && (shape === undefined || !isAllowedText(shape, text));
}

/** A corrected call may describe a field that the form of the step does not have. */
function isDescription(shape: Shape | undefined, text: string): boolean {
  return shape !== undefined && blankWords(blank(describeShape(shape))).includes(text);
}

/** No blank says more. */
const WORDS_LENGTH_MAX = 160;

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
