import { hash } from 'node:crypto';
import { defined } from '../../../core/json/json-value.ts';
import { SessionId } from '../../../core/log/ids.ts';
import type { SessionMarks } from '../../../core/sessions/session-state.ts';
import type { RunSummary, SessionSummary, SummedPlace } from '../../../core/sessions/session-summary.ts';

/** Raised whenever the shape or meaning of a line changes: lines of other versions are rebuilt. */
export const INDEX_VERSION = '8';

/** What the index holds about a session, and how much of the log it was made from. */
export type IndexEntry = {
  readonly sessionId: SessionId;
  readonly manifestBytes: number;
  readonly manifestIndex: number;
  /** `null` once the session was removed. */
  readonly summary: SessionSummary | null;
};

/** The marks of a session, and the version that they were read at. */
export type MarksEntry = { readonly sessionId: SessionId; readonly version: string; readonly marks: SessionMarks };

/**
 * One line of the index: version, checksum, kind, session, length of the manifest, and the rest as JSON. The checksum
 * covers everything after it, because a flipped byte must not become an answer. The fields before the JSON decide
 * whether the rest is worth reading. The leading newline separates it from a line that a crash cut off.
 */
function lineOf(kind: LineKind, sessionId: SessionId, { manifestBytes = 0, json }: Tail): string {
  const rest = `${kind} ${sessionId} ${manifestBytes} ${JSON.stringify(json)}`;
  return `\n${INDEX_VERSION} ${sumOf(Buffer.from(rest))} ${rest}\n`;
}

/** A summary, the end of a session, or marks. */
type LineKind = 's' | 'x' | 'm';
type Tail = { readonly manifestBytes?: number; readonly json: readonly unknown[] };

export function entryLine({ sessionId, manifestBytes, manifestIndex, summary }: IndexEntry): string {
  if (summary === null) return lineOf('x', sessionId, { manifestBytes, json: [manifestIndex] });
  return lineOf('s', sessionId, { manifestBytes, json: [manifestIndex, summaryFields(summary)] });
}

export function marksLine({ sessionId, version, marks }: MarksEntry): string {
  const { isKept, closed, origin = null } = marks;
  return lineOf('m', sessionId, { json: [version, isKept ? 1 : 0, [...closed], origin] });
}

/** A line that was found, unread but for its label. */
export type FoundLine = {
  readonly kind: LineKind;
  readonly sessionId: SessionId;
  readonly manifestBytes: number;
  /** The same sum means the same line. */
  readonly sum: string;
  readonly start: number;
  readonly end: number;
};

const NEWLINE = 0x0a;
const SUM_LENGTH = 8;
const SUM_START = INDEX_VERSION.length + 1;
const KIND_AT = SUM_START + SUM_LENGTH + 1;
const ID_START = KIND_AT + 2;
const ID_LENGTH = 'sess_'.length + 16;
const BYTES_START = ID_START + ID_LENGTH + 1;
const BYTES_LENGTH_MAX = 16;
const SPACE = 0x20;
const ZERO = 0x30;
const VERSION_BYTES = Buffer.from(INDEX_VERSION);
const KINDS: { readonly [byte: number]: LineKind | undefined } = { 115: 's', 120: 'x', 109: 'm' };

/** Every line of this version, in order. A last line without a newline was cut off. */
export function* linesIn(file: Buffer): Generator<FoundLine> {
  for (let start = 0, end = file.indexOf(NEWLINE); end >= 0; start = end + 1, end = file.indexOf(NEWLINE, start)) {
    const line = end - start < BYTES_START ? undefined : labelAt(file, start, end);
    if (line !== undefined) yield line;
  }
}

/** Reads bytes rather than a text of the label: there are many lines, and every text is one more thing to collect. */
function labelAt(file: Buffer, start: number, end: number): FoundLine | undefined {
  if (!VERSION_BYTES.every((byte, i) => file[start + i] === byte)) return undefined;
  const kind = KINDS[file[start + KIND_AT] ?? 0];
  const manifestBytes = numberAt(file, start + BYTES_START);
  if (kind === undefined || manifestBytes === undefined) return undefined;
  const sessionId = file.toString('latin1', start + ID_START, start + ID_START + ID_LENGTH);
  if (!SessionId.is(sessionId)) return undefined;
  const sum = file.toString('latin1', start + SUM_START, start + SUM_START + SUM_LENGTH);
  return { kind, sessionId, manifestBytes, sum, start, end };
}

/** The digits up to a space. */
function numberAt(file: Buffer, start: number): number | undefined {
  let number = 0;
  for (let at = start; at <= start + BYTES_LENGTH_MAX; at++) {
    const byte = file[at] ?? 0;
    if (byte === SPACE && at > start) return number;
    const digit = byte - ZERO;
    if (!(digit >= 0 && digit <= 9)) return undefined;
    number = number * 10 + digit;
  }
  return undefined;
}

/** The session, kind and sum of a line that was made here. */
export function lineSum(line: string): Pick<FoundLine, 'sessionId' | 'kind' | 'sum'> {
  const text = line.slice(1, 1 + BYTES_START);
  return {
    kind: text[KIND_AT] as LineKind,
    sessionId: text.slice(ID_START, ID_START + ID_LENGTH) as SessionId,
    sum: text.slice(SUM_START, SUM_START + SUM_LENGTH),
  };
}

export function isIntact(file: Buffer, { start, end, sum }: FoundLine): boolean {
  return sumOf(file.subarray(start + KIND_AT, end)) === sum;
}

/** What a line holds; `undefined` if the checksum does not match. */
export function readLine(file: Buffer, line: FoundLine): IndexEntry | MarksEntry | undefined {
  const { kind, sessionId, manifestBytes, sum, start, end } = line;
  const rest = file.toString('utf8', start + KIND_AT, end);
  if (sumOf(rest) !== sum) return undefined;
  const json = JSON.parse(rest.slice(rest.indexOf(' ', BYTES_START - KIND_AT) + 1)) as unknown;
  if (kind === 'm') return { sessionId, ...marksOf(json as MarksFields) };
  const [manifestIndex, summary] = json as [number, SummaryFields];
  return { sessionId, manifestBytes, manifestIndex, summary: kind === 'x' ? null : summaryOf(sessionId, summary) };
}

function sumOf(rest: Uint8Array | string): string {
  return hash('sha256', rest, 'base64url').slice(0, SUM_LENGTH);
}

type MarksFields = readonly [string, number, [string, number][], SessionMarks['origin'] | null];

function marksOf([version, isKept, closed, origin]: MarksFields): Omit<MarksEntry, 'sessionId'> {
  return {
    version,
    marks: {
      isKept: isKept === 1,
      closed: new Map(closed as [RunSummary['runId'], number][]),
      ...defined({ origin: origin ?? undefined }),
    },
  };
}

/** Fields without names, and `null` for what is absent: there are many of these lines. */
export type SummaryFields = readonly [
  lastEventIndex: number,
  lastAt: number | null,
  branch: string | null,
  commit: string | null,
  root: string | null,
  runs: readonly RunFields[],
  /** Only of sessions from a team server. */
  remote?: string | null,
  author?: string | null,
];
type RunFields = readonly [
  runId: string,
  workflowId: string,
  workflowHash: string,
  workflowName: string | null,
  stepsTotal: number | null,
  status: RunSummary['status'],
  goal: string | null,
  startedAt: number | null,
  tip: string,
  place: PlaceFields,
  counts: readonly [lastActivityIndex: number, branchCount: number, checkpoints: number, attempts: number],
  blocker: readonly [code: NonNullable<RunSummary['blocker']>['code'], message: string] | null,
  waitsForPerson: number,
  openGaps: number,
  note: string | null,
  wordCodes: string,
  /** Only of runs from a team server. */
  owner?: string | null,
];
type PlaceFields =
  | readonly [kind: string]
  | readonly [kind: string, stepId: string, title: string, index: number | null, of: number | null];

export function summaryFields({ lastEventIndex, lastAt, observed, runs, author }: SessionSummary): SummaryFields {
  const { git_branch = null, git_head_sha = null, repo_root = null, repo_remote = null } = observed;
  const fields = [lastEventIndex, lastAt ?? null, git_branch, git_head_sha, repo_root, runs.map(runFields)] as const;
  return author === undefined ? [...fields, repo_remote] : [...fields, repo_remote, author];
}

/**
 * Absent fields are left out one by one, and present ones are taken by their position: spreading objects and iterating
 * over lists takes several times as long.
 */
type Mutable<Value> = { -readonly [key in keyof Value]: Value[key] };

export function summaryOf(sessionId: SessionId, fields: SummaryFields): SessionSummary {
  const { 0: lastEventIndex, 1: lastAt, 2: branch, 3: commit, 4: root, 5: runs, 6: remote, 7: author } = fields;
  const observed: Mutable<SessionSummary['observed']> = {};
  if (branch !== null) observed.git_branch = branch;
  if (commit !== null) observed.git_head_sha = commit;
  if (root !== null) observed.repo_root = root;
  if (typeof remote === 'string') observed.repo_remote = remote;
  const summary: Mutable<SessionSummary> = { sessionId, lastEventIndex, observed, runs: runs.map(runOf) };
  if (lastAt !== null) summary.lastAt = lastAt;
  if (typeof author === 'string') summary.author = author;
  return summary;
}

function runFields(run: RunSummary): RunFields {
  const { workflowName = null, stepsTotal = null, goal = null, startedAt = null, note = null, blocker } = run;
  return [
    run.runId,
    run.workflowId,
    shortHash(run.workflowHash),
    workflowName,
    stepsTotal,
    run.status,
    goal,
    startedAt,
    run.tip,
    placeFields(run.place),
    [run.lastActivityIndex, run.branchCount, run.checkpoints, run.attempts],
    blocker === undefined ? null : [blocker.code, blocker.message],
    run.waitsForPerson ? 1 : 0,
    run.openGaps,
    note,
    run.wordCodes,
    run.owner ?? null,
  ];
}

function runOf(fields: RunFields): RunSummary {
  const { 3: workflowName, 4: stepsTotal, 5: status, 6: goal, 7: startedAt, 9: place, 10: counts } = fields;
  const { 11: blocker, 12: waits, 13: openGaps, 14: note, 15: wordCodes, 16: owner } = fields;
  const { 0: lastActivityIndex, 1: branchCount, 2: checkpoints, 3: attempts } = counts;
  const run: Mutable<RunSummary> = {
    runId: fields[0] as RunSummary['runId'],
    workflowId: fields[1] as RunSummary['workflowId'],
    workflowHash: wholeHash(fields[2]),
    status,
    tip: fields[8] as RunSummary['tip'],
    place: placeOf(place),
    lastActivityIndex,
    branchCount,
    checkpoints,
    attempts,
    waitsForPerson: waits === 1,
    openGaps,
    wordCodes,
  };
  if (workflowName !== null) run.workflowName = workflowName;
  if (stepsTotal !== null) run.stepsTotal = stepsTotal;
  if (goal !== null) run.goal = goal;
  if (startedAt !== null) run.startedAt = startedAt;
  if (note !== null) run.note = note;
  if (typeof owner === 'string') run.owner = owner;
  if (blocker !== null) run.blocker = { code: blocker[0], message: blocker[1] };
  return run;
}

function placeFields(place: SummedPlace): PlaceFields {
  if (place.kind !== 'step') return [place.kind];
  const { kind, stepId, title, position } = place;
  return [kind, stepId, title, position?.index ?? null, position?.of ?? null];
}

function placeOf([kind, stepId, title, index, of]: PlaceFields): SummedPlace {
  if (kind !== 'step') return { kind } as SummedPlace;
  const place = { kind, stepId, title } as Mutable<Extract<SummedPlace, { kind: 'step' }>>;
  if (index != null) place.position = of == null ? { index } : { index, of };
  return place;
}

/** Few workflows have many sessions, so each hash is converted once. */
const hashes = new Map<string, string>();

function shortHash(whole: string): string {
  return Buffer.from(whole.slice('sha256:'.length), 'hex').toString('base64url');
}

function wholeHash(short: string): RunSummary['workflowHash'] {
  const known = hashes.get(short);
  if (known !== undefined) return known as RunSummary['workflowHash'];
  const whole = `sha256:${Buffer.from(short, 'base64url').toString('hex')}`;
  hashes.set(short, whole);
  return whole as RunSummary['workflowHash'];
}
