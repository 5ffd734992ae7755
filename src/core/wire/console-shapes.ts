import * as z from 'zod';
import { COMMENT_BYTES_MAX } from '../log/budgets.ts';
import { jsonObjectSchema, textSchema } from '../log/document-schema.ts';
import { NodeId, RunId, SessionId } from '../log/ids.ts';
import { reportSessionSchema } from '../report/report.ts';
import { BOARD_SORTS } from '../sessions/board-rows.ts';
import { SESSION_STATES } from '../sessions/session-state.ts';
import type { ConsolePath } from './console-paths.ts';
import { count, listedSessionShape, moment } from './list-shapes.ts';
import { runShape, sessionHead } from './session-shapes.ts';

/** The most sessions in one reply. */
export const PAGE_OF_SESSIONS = 200;

const sessionsQuery = z.strictObject({
  /** Words that must occur, and filters such as `state:blocked wf:coding repo:api branch:main after:2d`. */
  q: z.string().max(512).exactOptional(),
  state: z.enum(SESSION_STATES).exactOptional(),
  sort: z.enum(BOARD_SORTS).exactOptional(),
  offset: z.coerce.number().int().min(0).exactOptional(),
  limit: z.coerce.number().int().min(1).max(PAGE_OF_SESSIONS).exactOptional(),
});

/** A row of the list, as the index knows it: no log is read. */
const sessionRowShape = listedSessionShape.omit({ isHere: true }).extend({
  /** The step that is due in its first open run, with its number along the line. */
  step: z.strictObject({ title: z.string(), index: count.exactOptional(), of: count.exactOptional() }).exactOptional(),
  /** The first line of the newest note. */
  note: z.string().exactOptional(),
  branches: count,
  /** How often the step that is due was blocked. */
  attempts: count,
  openGaps: count,
  /** Only a person can provide what blocks it, and none has answered. */
  waitsForPerson: z.boolean(),
});

const waitingShape = z.strictObject({
  sessionId: SessionId.schema,
  runId: RunId.schema,
  tag: z.string(),
  /** The blocked attempt that holds the draft. */
  nodeId: NodeId.schema,
  stepTitle: z.string(),
  /** What the person is asked; the title of the step where the author wrote no question. */
  question: z.string(),
  /** The person answers with a value for this key; without one, they approve or reject. */
  contextKey: z.string().exactOptional(),
  digest: z.string(),
  /** Four letters by which a person recognises the draft. */
  code: z.string(),
  goal: z.string().exactOptional(),
  workflow: z.string(),
  folder: z.string().exactOptional(),
  /** Exactly what is approved. */
  draft: z.strictObject({
    notes: z.string().exactOptional(),
    artifacts: z.array(z.strictObject({ kind: z.string().exactOptional(), value: jsonObjectSchema })),
    context: jsonObjectSchema,
  }),
  /** Which files the answer depends on, in words. */
  files: z.array(z.string()),
  /** What was answered about this draft before, in words; a new answer takes its place. */
  answered: z.string().exactOptional(),
  /** Why an earlier approval does not count for this draft, in words. */
  voided: z.string().exactOptional(),
  /** Whether the settings let an answer in the console count. */
  isAccepted: z.boolean(),
  lastAt: moment.exactOptional(),
});

function isExact(value: number): boolean {
  return !Number.isInteger(value) || Number.isSafeInteger(value);
}

/** What each request may carry. A request that is not named takes neither a query nor a body. */
export const CONSOLE_INPUTS = {
  signIn: z.strictObject({ code: z.string().max(128) }),
  sessions: sessionsQuery,
  /** What was recorded, as a document without secrets. */
  report: z.strictObject({ as: z.enum(['md', 'html', 'json']) }),
  /** Marks that people set. Nothing of them is in the log of the session. */
  mark: z.strictObject({ mark: z.enum(['closed', 'open', 'kept', 'not_kept']) }),
  answer: z.strictObject({
    /** Of the draft that the person saw. If it changed meanwhile, nothing is recorded. */
    digest: z.string().max(128),
    decision: z.enum(['approved', 'rejected', 'answered']),
    comment: textSchema(COMMENT_BYTES_MAX).exactOptional(),
    /** For `answered`. A number that JSON cannot hold exactly would be another one. */
    value: z.union([textSchema(COMMENT_BYTES_MAX), z.boolean(), z.number().refine(isExact)]).exactOptional(),
  }),
} as const satisfies { readonly [path in ConsolePath]?: z.ZodType };

/** What each reply holds. */
export const CONSOLE_REPLIES = {
  /** The value that goes with every further request. */
  signIn: z.strictObject({ key: z.string() }),
  about: z.strictObject({ version: z.string(), dataDir: z.string() }),
  sessions: z.strictObject({
    rows: z.array(sessionRowShape),
    /** How many match the query. */
    total: count,
    /** How many match its words in each state. */
    counts: z.partialRecord(z.enum(SESSION_STATES), count),
    /** How many there are in all. */
    stored: count,
    /** How many of all wait for a person. */
    waiting: count,
  }),
  session: z.strictObject({
    ...sessionHead,
    title: z.string().exactOptional(),
    isKept: z.boolean(),
    /** The state of each run, at the end of the branch where work goes on. */
    runs: z.array(runShape),
    /** Everything that was recorded, run by run. */
    record: reportSessionSchema,
  }),
  /** What the agent was sent when this step became the current one. Tokens are left out. */
  prompt: z.strictObject({ text: z.string() }),
  /** A text for a new chat, which lets an agent continue the run with one call. */
  resume: z.strictObject({ prompt: z.string() }),
  mark: z.strictObject({}),
  waiting: z.strictObject({ waiting: z.array(waitingShape) }),
  answer: z.strictObject({ words: z.string() }),
} as const satisfies { readonly [path in Exclude<ConsolePath, 'events' | 'report'>]: z.ZodType };

/** A line of the stream of events: something in the store changed. The page asks again for what it shows. */
export const consoleEventShape = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('hello'), launch: z.string() }),
  z.strictObject({ kind: z.literal('changed') }),
  z.strictObject({ kind: z.literal('ping') }),
]);

export type ConsoleInput<Path extends keyof typeof CONSOLE_INPUTS> = z.input<(typeof CONSOLE_INPUTS)[Path]>;
export type ConsoleReply<Path extends keyof typeof CONSOLE_REPLIES> = z.output<(typeof CONSOLE_REPLIES)[Path]>;
export type ConsoleEvent = z.output<typeof consoleEventShape>;
export type WaitingItem = z.output<typeof waitingShape>;
