import {
  isList,
  isObject,
  type JsonObject,
  type JsonValue,
  ownValue,
  quote,
  readableJson,
} from '../json/json-value.ts';
import { isAtLeast } from '../log/autonomy.ts';
import { clip, truncate } from '../text/utf8.ts';
import { plural } from '../text/words.ts';
import type { ReportEntry, ReportGap, ReportRun } from './report.ts';
import { entryLabel } from './report-words.ts';

/** One check of a run: what it is called, how it ended, and what shows that. */
export type OutcomeCheck = {
  readonly name: string;
  readonly result: string;
  readonly evidence: string;
  /** A check that nobody ran is open: it shows nothing, good or bad. */
  readonly state: 'good' | 'open' | 'bad';
};

/** What came of a run, from the line on which work goes on. */
export type Outcome = {
  /** The result in the agent's words, if an artifact states one. */
  readonly result: string | undefined;
  readonly checks: readonly OutcomeCheck[];
  readonly files: readonly string[];
  /** Who answered what, on which channel. */
  readonly approvals: readonly string[];
  /** What is known about people if nobody answered. */
  readonly unanswered: string;
  readonly openGaps: readonly ReportGap[];
  /** The context values at the end of the line. */
  readonly context: readonly (readonly [key: string, value: string])[];
  readonly skipped: number;
};

export function outcomeOf(run: ReportRun): Outcome {
  const line = new Set(run.branches.find(({ isCurrent }) => isCurrent)?.line);
  const entries = run.entries.filter(({ nodeId }) => line.has(nodeId));
  const newestFirst = entries.toReversed().flatMap(({ artifacts }) => artifacts.filter((one) => !one.isSuperseded));
  const contents = newestFirst.flatMap(({ content }) => (content !== undefined && isObject(content) ? [content] : []));
  return {
    result: contents.map(resultText).find((text) => text !== undefined),
    checks: checksOf(entries, contents),
    files: contents.map(filesIn).find((files) => files.length > 0) ?? [],
    approvals: entries.flatMap((entry) => (entry.answers ?? []).map((words) => `${entryLabel(entry)}: ${words}`)),
    unanswered: unansweredWords(run),
    openGaps: run.gaps.filter(({ isOpen }) => isOpen),
    context: contextAtEnd(entries),
    skipped: entries.reduce((sum, entry) => sum + stepsSkippedAt(entry), 0),
  };
}

/** Whether a person was asked, as far as the record shows it: an agent may also have asked in the chat. */
function unansweredWords({ entries, branches }: ReportRun): string {
  const hasWaited = entries.some(
    (entry) => entry.kind === 'blocked_attempt' && entry.blockers.some(({ code }) => code === 'USER_ONLY_DEPENDENCY'),
  );
  const where = branches.length > 1 ? ' on this branch' : '';
  return `${hasWaited ? 'A step waited for a person. ' : ''}No answer from a person is recorded${where}.`;
}

/** Fields in which contracts state a result, the clearest first. */
const RESULT_FIELDS = [
  'answer',
  'summary',
  'cause',
  'selectedDirection',
  'reasons',
  'selectedShape',
  'purpose',
  'goal',
];
/** Fields in which a contract decides; the decision leads the result. */
const DECISION_FIELDS = ['decision', 'verdict', 'outcome', 'releaseAdvice'];
const RESULT_BYTES_MAX = 600;

function resultText(content: JsonObject): string | undefined {
  if (content['kind'] === 'wr.loop_control' || content['kind'] === 'wr.assessment') return undefined;
  const texts = RESULT_FIELDS.map((name) => ownValue(content, name));
  const text = texts.find((value): value is string => typeof value === 'string' && value.trim() !== '');
  const decision = DECISION_FIELDS.map((name) => ownValue(content, name)).find((value) => typeof value === 'string');
  const lead = typeof decision === 'string' ? `${fieldWords(decision)}: ` : '';
  return text === undefined ? undefined : truncate(`${lead}${text}`, RESULT_BYTES_MAX);
}

function checksOf(entries: readonly ReportEntry[], contents: readonly JsonObject[]): readonly OutcomeCheck[] {
  const items = itemsIn(
    contents.find(({ kind }) => kind === 'wr.verification_report'),
    'checks',
  );
  const graded = entries.flatMap((entry) =>
    (entry.checks ?? []).map(({ checkId, minimum, grade, run }): OutcomeCheck => {
      const item = items.find(({ name }) => name === checkId);
      const isOnlySaid = item === undefined && grade === 'asserted';
      const outcome = item === undefined ? '' : `${textOf(item['outcome'])}, `;
      return {
        name: checkId,
        result: isOnlySaid ? 'no result' : `${outcome}${grade ?? 'not shown'}`,
        evidence: run ?? (isOnlySaid ? ONLY_NOTES : textOf(item?.['evidence'])),
        state: grade === undefined ? 'bad' : stateOf(isAtLeast(grade, minimum), item && textOf(item['outcome'])),
      };
    }),
  );
  const reported = items
    .filter(({ name }) => !graded.some((check) => check.name === name))
    .map(
      (item): OutcomeCheck => ({
        name: textOf(item['name']),
        result: `${textOf(item['outcome'])}, reported`,
        evidence: textOf(item['evidence']),
        state: STATES[textOf(item['outcome'])] ?? 'bad',
      }),
    );
  return [...graded, ...reported];
}

/** What a report says against a check weighs more than its grade; a grade below what the step asks for proves nothing. */
function stateOf(isProven: boolean, reported: string | undefined): OutcomeCheck['state'] {
  const said = reported === undefined ? 'good' : (STATES[reported] ?? 'bad');
  return said === 'good' && !isProven ? 'open' : said;
}

const ONLY_NOTES = "asserted: only the agent's notes";
const STATES: { readonly [outcome: string]: OutcomeCheck['state'] } = { pass: 'good', skipped: 'open', fail: 'bad' };

const FILES_MAX = 40;

function filesIn(content: JsonObject): readonly string[] {
  const changed = itemsIn(content, 'changedFiles').map(
    ({ path, summary }) => `${textOf(path)}${summary === undefined ? '' : `: ${textOf(summary)}`}`,
  );
  const named = ownValue(content, 'filesChanged');
  const listed = named !== undefined && isList(named) ? named.map(textOf) : [];
  return (changed.length > 0 ? changed : listed).slice(0, FILES_MAX);
}

function itemsIn(content: JsonObject | undefined, name: string): readonly JsonObject[] {
  const items = content === undefined ? undefined : ownValue(content, name);
  return items !== undefined && isList(items) ? items.filter((item): item is JsonObject => isObject(item)) : [];
}

function contextAtEnd(entries: readonly ReportEntry[]): Outcome['context'] {
  const values = new Map<string, JsonValue>();
  for (const { contextKeys, contextValues = {} } of entries) {
    for (const key of contextKeys) {
      const value = ownValue(contextValues, key);
      if (value === null) values.delete(key);
      else if (value !== undefined) values.set(key, value);
    }
  }
  return [...values].map(([key, value]) => [key, textOf(value)]);
}

/** An artifact as people read it: plain fields, lists of texts, and tables. */
export type ArtifactView = {
  readonly facts: readonly (readonly [name: string, text: string])[];
  readonly lists: readonly { readonly name: string; readonly items: readonly string[] }[];
  readonly tables: readonly {
    readonly name: string;
    readonly columns: readonly string[];
    readonly rows: readonly (readonly string[])[];
  }[];
  /** Whether something had no room. */
  readonly isCut: boolean;
};

const ROWS_MAX = 60;
const COLUMNS_MAX = 8;
const TEXT_BYTES_MAX = 2_000;

/** `undefined` for content that is not an object: that is shown as it is. */
export function artifactView(content: JsonValue): ArtifactView | undefined {
  if (!isObject(content)) return undefined;
  const fields = Object.entries(content as JsonObject).filter(([name]) => name !== 'kind' && name !== 'version');
  const shown = fields.map(([name, value]) => ({ name: fieldWords(name), value: value ?? null }));
  const lists = shown.flatMap(({ name, value }) => (isList(value) && value.length > 0 ? [{ name, items: value }] : []));
  const facts = shown.flatMap(({ name, value }): readonly (readonly [string, string])[] => {
    if (isList(value)) return value.length === 0 ? [[name, 'none']] : [];
    if (!isObject(value)) return [[name, cut(textOf(value))]];
    const label = (inner: string) => (name === 'Dimensions' ? fieldWords(inner) : `${name}: ${inner}`);
    return Object.entries(value as JsonObject).map(([inner, one]) => [label(inner), cut(textOf(one ?? null))]);
  });
  const tables = lists.filter(({ items }) => items.every((item) => isObject(item)));
  return {
    facts,
    lists: lists
      .filter((list) => !tables.includes(list))
      .map(({ name, items }) => ({ name, items: items.slice(0, ROWS_MAX).map((item) => cut(textOf(item))) })),
    tables: tables.map(({ name, items }) => ({ name, ...tableOf(items as readonly JsonObject[]) })),
    isCut: lists.some(({ items }) => items.length > ROWS_MAX) || quote(content).length > ROWS_MAX * TEXT_BYTES_MAX,
  };
}

const CONTENT_LENGTH_MAX = 8_000;
export const SHORTENED = 'Shortened here. The report as JSON contains all of it.';

/** As much of an artifact as a page shows. */
export function shownContent(content: JsonValue): { readonly text: string; readonly isCut: boolean } {
  const whole = readableJson(content);
  const isCut = whole.length > CONTENT_LENGTH_MAX;
  return { text: isCut ? whole.slice(0, CONTENT_LENGTH_MAX).toWellFormed() : whole, isCut };
}

/** Short columns first: a name and an outcome are read before an explanation. */
function tableOf(items: readonly JsonObject[]) {
  const columns = [...new Set(items.flatMap((item) => Object.keys(item)))];
  const length = (name: string) => Math.max(...items.map((item) => textOf(item[name] ?? '').length));
  const rank = (name: string) => (FIRST_COLUMNS.includes(name) ? 0 : length(name));
  const shown = columns.toSorted((a, b) => rank(a) - rank(b)).slice(0, COLUMNS_MAX);
  const rows = items.slice(0, ROWS_MAX).map((item) => shown.map((name) => cut(textOf(item[name] ?? ''))));
  return { columns: shown.map(fieldWords), rows };
}

const FIRST_COLUMNS = ['id', 'name', 'path', 'criterion', 'failure', 'claim', 'at'];

function cut(text: string): string {
  return truncate(text, TEXT_BYTES_MAX);
}

/** A value as a text; a place is written as file and line. */
function textOf(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (isList(value)) return value.map(textOf).join(', ');
  if (isObject(value)) {
    const { file, line, ...rest } = value as JsonObject;
    if (typeof file === 'string' && Object.keys(rest).length === 0)
      return `${file}${line === undefined ? '' : `:${textOf(line)}`}`;
    return Object.entries(value as JsonObject)
      .map(([name, one]) => `${name}: ${textOf(one ?? null)}`)
      .join('; ');
  }
  return String(value);
}

/** `keyDecisions` as "Key decisions". */
function fieldWords(name: string): string {
  const words = name
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase()
    .replaceAll(/\b(?:ci|cwe|cvss|owasp)\b/g, (word) => word.toUpperCase());
  return clip(`${words.charAt(0).toUpperCase()}${words.slice(1)}`, 60);
}

/** The name of an artifact for people: `wr.verification_report` as "Verification report". */
export function artifactName(kind: string | undefined): string {
  return kind === undefined ? 'Artifact' : fieldWords(kind.replace(/^wr\./, ''));
}

/** How many steps the end of a step skipped. */
export function stepsSkippedAt({ skipped }: Pick<ReportEntry, 'skipped'>): number {
  return skipped.reduce((sum, { steps = 1 }) => sum + steps, 0);
}

/** Steps that a step's end skipped, with one part of a sentence for each reason. */
export function skippedLines({ skipped }: Pick<ReportEntry, 'skipped'>): readonly string[] {
  const groups: { readonly why: string; readonly titles: string[]; steps: number }[] = [];
  for (const { title, why = 'because their condition is false.', steps = 1 } of skipped) {
    const last = groups.at(-1);
    const group = last?.why === why ? last : { why, titles: [], steps: 0 };
    if (group !== last) groups.push(group);
    group.titles.push(title);
    group.steps += steps;
  }
  return groups.map(({ why, titles, steps }) => {
    const names =
      titles.length < 4
        ? titles.map((title) => `"${title}"`).join(', ')
        : `${plural(steps, 'step')} ("${titles[0]}" … "${titles.at(-1)}")`;
    return `${names}${why.startsWith('because ') ? ',' : ':'} ${why.replace(/\.$/, '')}`;
  });
}
