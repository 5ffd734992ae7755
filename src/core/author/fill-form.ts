import { isObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import { evaluateCriteria } from '../run/condition/evaluate-criteria.ts';
import { isBlankField } from '../run/form/blank.ts';
import { optionalKeys } from '../run/form/context-form.ts';
import type { OfferedForm } from '../run/form/unfilled.ts';
import { checkStep } from '../run/requirements/step-requirements.ts';
import { conditionFacts, type StepPlace } from '../run/step-place.ts';
import { sampleNotes } from './sample-notes.ts';

/** What a rehearsal writes where an agent would report its work. */
const WORK = 'Rehearsal: the work of this step was done as asked.';
const TEXT = 'Filled in by the rehearsal.';
const PLACE = 'src/example.ts:1';
const TIME = '12:00 UTC';

/** Fills in an offered call as an agent that does what it reads would, so that workflows can be tried without one. */
export function fillForm<Form extends OfferedForm>(form: Form, place?: StepPlace): Form {
  const { notesMarkdown, artifacts, context } = form;
  const avoided = new Set((place?.step.consequences ?? []).map(({ anyEqualsLevel }) => anyEqualsLevel.toLowerCase()));
  const fill = (value: JsonObject) => filledValue(value, avoided) as JsonObject;
  const filledContext = context && fill(place === undefined ? context : requiredOf(context, place));
  return {
    ...form,
    ...(notesMarkdown === undefined ? {} : { notesMarkdown: filledNotes(notesMarkdown, place, filledContext) }),
    ...(artifacts === undefined ? {} : { artifacts: artifacts.map(fill) }),
    ...(filledContext === undefined ? {} : { context: filledContext }),
  };
}

/** Only what the step requires: an optional value would lead a rehearsal away from the usual path. */
function requiredOf(context: JsonObject, place: StepPlace): JsonObject {
  const optional = optionalKeys(place.index, place.step);
  const { unmet } = checkStep({ ...place, ...NOTHING_SENT });
  const required = new Set(unmet.flatMap(({ form }) => Object.keys(form?.context ?? {})));
  return Object.fromEntries(Object.entries(context).filter(([key]) => required.has(key) || !optional.has(key)));
}

const NOTHING_SENT = {
  handedIn: { notesMarkdown: undefined, artifacts: [] },
  isRetry: false,
  hasNewNotes: false,
  openLoops: [],
};

/** The lines of the form with their blanks filled in; where the rules want more than the form shows, a sample. */
function filledNotes(notes: string, place: StepPlace | undefined, context: JsonObject | undefined): string {
  const filled = filledLines(notes);
  const criteria = place?.step.output === undefined ? place?.step.criteria : undefined;
  if (place === undefined || criteria === undefined) return filled;
  const facts = conditionFacts(place);
  const known = { ...facts, context: { ...facts.context, ...context } };
  return evaluateCriteria(criteria, filled, known).length === 0 ? filled : sampleNotes(WORK, criteria, known);
}

/** Every blank of notes filled in by its own words alone. */
export function filledLines(notes: string): string {
  return notes.replaceAll(BLANK, (_, words: string) => String(filledWords(words, WORK, new Set())));
}

const BLANK = /<fill: ([^<>\n]*)>/g;

function filledValue(value: JsonValue, avoided: ReadonlySet<string>): JsonValue {
  if (typeof value === 'string') {
    const [, words] = isBlankField(value) ? (/^<fill: ([^<>\n]*)>$/.exec(value) ?? []) : [];
    return words === undefined ? value : filledWords(words, TEXT, avoided);
  }
  if (Array.isArray(value)) return value.map((item: JsonValue) => filledValue(item, avoided));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([key, one]) => [key, filledValue(one ?? null, avoided)]),
  );
}

/** Answers that lead on: a rehearsal shows the usual way through a workflow. */
const LEADING_ON = ['approved', 'approve', 'available', 'stop', 'pass', 'clean', 'yes'];

function filledWords(words: string, text: string, avoided: ReadonlySet<string>): JsonValue {
  const known = /^(.+), or another value$/.exec(words)?.[1] ?? /^value of .+, or (none)$/.exec(words)?.[1];
  if (known !== undefined) return parsed(known);
  const choices = words.split(' | ');
  if (choices.length > 1) {
    const allowed = choices.filter((choice) => !avoided.has(choice.toLowerCase()));
    return parsed(LEADING_ON.find((word) => choices.includes(word)) ?? allowed[0] ?? choices[0] ?? text);
  }
  const [id] = /^[A-Z]{1,4}\d+: /.exec(words) ?? [];
  if (id !== undefined) return `${id}${text}`;
  if (words.startsWith('path:line')) return PLACE;
  if (/^time\b/.test(words)) return TIME;
  if (/^(?:whole )?number\b/.test(words)) return Number(/from (\d+)/.exec(words)?.[1] ?? 1);
  return /^list\b/.test(words) ? ['entry'] : text;
}

/** Numbers and truth values are shown without quotation marks. */
function parsed(word: string): JsonValue {
  return /^(?:true|false|-?\d+(?:\.\d+)?)$/.test(word) ? (JSON.parse(word) as JsonValue) : word;
}
