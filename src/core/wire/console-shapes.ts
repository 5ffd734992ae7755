import * as z from 'zod';
import { autonomySchema, riskPolicySchema } from '../log/autonomy.ts';
import { jsonObjectSchema, jsonValueSchema } from '../log/document-schema.ts';
import { errorEnvelopeSchema } from '../log/error-envelope.ts';
import { salvageSchema } from '../log/health.ts';
import { NodeId, RunId, SessionId } from '../log/ids.ts';
import { shownOriginSchema } from '../log/origin.ts';
import { reportSessionSchema } from '../report/report.ts';
import { BOARD_GROUPS, BOARD_SORTS, SESSION_STATES } from '../sessions/session-state.ts';
import { APPROVAL_INPUTS, APPROVAL_REPLIES, receiptShape, signingShape } from './approval-shapes.ts';
import { COMMAND_INPUTS, COMMAND_REPLIES } from './command-shapes.ts';
import type { ConsolePath } from './console-paths.ts';
import { EDITOR_INPUTS, EDITOR_REPLIES } from './editor-shapes.ts';
import { count, listedSessionShape, moment } from './list-shapes.ts';
import { driftShape, lineNotesShape, rawShape, runPageShape, stepPageShape } from './run-shapes.ts';
import { runShape, sessionHead } from './session-shapes.ts';
import type { TeamPath } from './team-paths.ts';
import { TEAM_INPUTS, TEAM_REPLIES, teamAboutShape } from './team-shapes.ts';

/** The most sessions in one reply. */
export const PAGE_OF_SESSIONS = 200;

/** The most places with notes in one reply. */
export const NOTES_IN_A_WINDOW = 50;

const sessionsQuery = z.strictObject({
  /** Words that must occur, and filters such as `state:blocked wf:coding repo:api branch:main after:2d`. */
  q: z.string().max(512).exactOptional(),
  state: z.enum(SESSION_STATES).exactOptional(),
  sort: z.enum(BOARD_SORTS).exactOptional(),
  group: z.enum(BOARD_GROUPS).exactOptional(),
  offset: z.coerce.number().int().min(0).exactOptional(),
  limit: z.coerce.number().int().min(1).max(PAGE_OF_SESSIONS).exactOptional(),
});

/** A row of the list, as the index knows it: no log is read. */
const sessionRowShape = listedSessionShape.omit({ isHere: true }).extend({
  /** The step that is due in its first open run, with its number along the line. */
  step: z.strictObject({ title: z.string(), index: count.exactOptional(), of: count.exactOptional() }).exactOptional(),
  /** The first line of the newest note. */
  note: z.string().exactOptional(),
  /** Who started its first open run, where people sign in. */
  owner: z.string().exactOptional(),
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
  /** Who started the run, where people sign in. */
  owner: z.string().exactOptional(),
  /** Exactly what is approved. */
  draft: z.strictObject({
    notes: z.string().exactOptional(),
    artifacts: z.array(z.strictObject({ kind: z.string().exactOptional(), value: jsonObjectSchema })),
    context: jsonObjectSchema,
  }),
  /** Checks with their grades, and open gaps, in words. */
  standing: z.array(z.string()),
  /** Which files the answer depends on, in words. */
  files: z.array(z.string()),
  /** What was answered about this draft before, in words; a new answer takes its place. */
  answered: z.string().exactOptional(),
  /** Why an earlier approval does not count for this draft, or what was rejected before it, in words. */
  voided: z.string().exactOptional(),
  /** Only an answer with the signature of an approver opens the gate. */
  signing: signingShape.exactOptional(),
  /** Whether the settings let an answer in the console count. */
  isAccepted: z.boolean(),
  /** Where the session comes from, in words; absent for one that was started here. */
  origin: z.string().exactOptional(),
  lastAt: moment.exactOptional(),
  /** To be sent with the answer, where the server remembers nothing. */
  receipt: receiptShape.exactOptional(),
});

/** Which branch or step of which session; without `at`, the branch where work goes on. */
const comparedSide = z.strictObject({
  sessionId: SessionId.schema,
  shortId: z.string(),
  title: z.string(),
  workflow: z.string(),
  /** The branch or the step, in words. */
  label: z.string(),
});

const handedIn = z.strictObject({
  nodeId: z.string(),
  notes: z.string(),
  artifacts: z.array(
    z.strictObject({ sha256: z.string(), kind: z.string().exactOptional(), content: jsonValueSchema.exactOptional() }),
  ),
  from: z.string().exactOptional(),
  to: z.string().exactOptional(),
});

const comparedStep = z.strictObject({
  kind: z.enum(['same', 'changed', 'only_a', 'only_b']),
  title: z.string(),
  a: handedIn.exactOptional(),
  b: handedIn.exactOptional(),
});

/** A flag in a query. */
const flag = z.enum(['0', '1']).exactOptional();

/** The last event that the page shows; without one, all of them. */
const until = z.coerce.number().int().min(0).exactOptional();

/** What each request may carry. A request that is not named takes neither a query nor a body. */
export const CONSOLE_INPUTS = {
  ...COMMAND_INPUTS,
  ...EDITOR_INPUTS,
  ...APPROVAL_INPUTS,
  ...TEAM_INPUTS,
  signIn: z.strictObject({ code: z.string().max(128) }),
  sessions: sessionsQuery,
  /** What was recorded, as a document; secrets are hidden unless `redact` is 0. A bundle is the whole session. */
  report: z.strictObject({
    as: z.enum(['md', 'html', 'json', 'bundle', 'passport']),
    redact: flag,
    /** What a passport leaves out, with commas between. */
    withhold: z
      .string()
      .regex(/^(?:(?:artifacts|context|notes|workspace)(?:,|$))*$/)
      .exactOptional(),
    /** Further sessions in the same document, separated by commas. */
    also: z.string().max(16_384).exactOptional(),
  }),
  /** What people do with a session as a whole. Nothing of it is in its log; what is deleted can be restored. */
  mark: z.strictObject({ mark: z.enum(['closed', 'open', 'kept', 'not_kept', 'deleted', 'restored']) }),
  /** The body is the bundle. `accept`: a person has seen what it is, and agents may continue it. */
  import: z.strictObject({ dry: flag, accept: flag, update: flag }),
  compare: z.strictObject({
    a: SessionId.schema,
    b: SessionId.schema,
    aRun: z.string().max(64).exactOptional(),
    bRun: z.string().max(64).exactOptional(),
    /** A branch by its name, the node where a step is due, or `A/node_…`. */
    aAt: z.string().max(128).exactOptional(),
    bAt: z.string().max(128).exactOptional(),
  }),
  search: z.strictObject({ q: z.string().min(1).max(512) }),
  /** The name of a line, and a window of its notes. */
  notes: z.strictObject({
    until,
    line: z.string().max(16),
    from: z.coerce.number().int().min(0).exactOptional(),
    /** Instead of `from`: the window that has the notes of this step. */
    around: NodeId.schema.exactOptional(),
    count: z.coerce.number().int().min(1).max(NOTES_IN_A_WINDOW).exactOptional(),
  }),
  /** The node that was made when the step was done, and the name of the line. */
  step: z.strictObject({ until, by: NodeId.schema.exactOptional(), line: z.string().max(16).exactOptional() }),
  raw: z.strictObject({ until, by: NodeId.schema.exactOptional() }),
  /** A step to go back to; without one, the run continues where it is. */
  resume: z.strictObject({ node: NodeId.schema.exactOptional() }),
  prefer: z.strictObject({
    mode: autonomySchema.exactOptional(),
    riskPolicy: riskPolicySchema.exactOptional(),
    /** The person was shown that the agent may do more then. */
    isLoosening: z.boolean().exactOptional(),
  }),
} as const satisfies { readonly [path in ConsolePath | TeamPath]?: z.ZodType };

/** What each reply holds. */
export const CONSOLE_REPLIES = {
  ...COMMAND_REPLIES,
  ...EDITOR_REPLIES,
  ...APPROVAL_REPLIES,
  ...TEAM_REPLIES,
  /** The value that goes with every further request. */
  signIn: z.strictObject({ key: z.string() }),
  about: z.strictObject({
    version: z.string(),
    dataDir: z.string(),
    /** What to type for `workrail` here. */
    command: z.string(),
    /** Without a terminal, the console takes no decisions: a program may have started it. */
    isAtTerminal: z.boolean(),
    /** Present in the console of a team server, which has no folders, clients or settings of a machine. */
    team: teamAboutShape.exactOptional(),
  }),
  sessions: z.strictObject({
    rows: z.array(sessionRowShape),
    /** How many match the query. */
    total: count,
    /** How many match its words in each state. */
    counts: z.partialRecord(z.enum(SESSION_STATES), count),
    /** The groups in order, with their sizes; none if nothing was to be grouped. */
    groups: z.array(z.strictObject({ name: z.string(), total: count })),
    /** How many there are in all. */
    stored: count,
    /** How many of all wait for a person. */
    waiting: count,
  }),
  session: z.strictObject({
    ...sessionHead,
    title: z.string().exactOptional(),
    isKept: z.boolean(),
    /** Absent for a session that was started here. */
    origin: shownOriginSchema.exactOptional(),
    /** Present if only a part of it can be read. */
    salvage: salvageSchema.exactOptional(),
    /** Where it last worked. */
    folder: z.string().exactOptional(),
    branch: z.string().exactOptional(),
    /** The state of each run, at the end of the branch where work goes on. */
    runs: z.array(runShape),
  }),
  run: runPageShape,
  /** What happened in a session, across its runs, in the order of its log. */
  timeline: z.strictObject({ moments: reportSessionSchema.shape.timeline }),
  notes: lineNotesShape,
  drift: driftShape,
  step: stepPageShape,
  raw: rawShape,
  /** The settings may allow less than what was asked for. */
  prefer: z.strictObject({ cappedTo: autonomySchema.exactOptional() }),
  /** What the agent was sent when this step became the current one; not stored, it was rendered again. No tokens. */
  prompt: z.strictObject({ text: z.string(), isStored: z.boolean() }),
  /** A text for a new chat, which lets an agent continue the run with one call. */
  resume: z.strictObject({ prompt: z.string() }),
  mark: z.strictObject({}),
  compare: z.strictObject({
    a: comparedSide,
    b: comparedSide,
    steps: z.array(comparedStep),
    /** Context keys whose values differ; a side that lacks the key has no value. */
    context: z.array(
      z.strictObject({ key: z.string(), a: jsonValueSchema.exactOptional(), b: jsonValueSchema.exactOptional() }),
    ),
    /** The commits that were seen last on each side. */
    commits: z.strictObject({ a: z.string().exactOptional(), b: z.string().exactOptional() }),
    /** The command that shows the same, where there is one. */
    command: z.string().exactOptional(),
  }),
  /** The agent clients that seem to be installed here. */
  clients: z.strictObject({
    clients: z.array(z.strictObject({ id: z.string(), name: z.string(), isRegistered: z.boolean() })),
  }),
  waiting: z.strictObject({ waiting: z.array(waitingShape) }),
} as const satisfies {
  readonly [path in Exclude<ConsolePath | TeamPath, 'events' | 'report' | 'search' | 'import'>]: z.ZodType;
};

const workLine = z.strictObject({ kind: z.literal('progress'), done: count, total: count });
const refusedLine = z.strictObject({ kind: z.literal('refused'), error: errorEnvelopeSchema });

/** The lines of replies that take a while: how far it is, and what came of it. */
export const CONSOLE_LINES = {
  import: z.discriminatedUnion('kind', [
    workLine,
    refusedLine,
    z.strictObject({
      kind: z.literal('done'),
      /** `unchanged`: it is here already, exactly as in the bundle. */
      what: z.enum(['imported', 'updated', 'unchanged', 'would_import']),
      /** The session in the bundle, and the session here; a new id is not known before it is written. */
      from: SessionId.schema,
      sessionId: SessionId.schema.exactOptional(),
      events: count,
      runs: count,
      artifacts: count,
      /** Only part of a session, which can be read but not continued. */
      isPart: z.boolean(),
      /** A session here that the bundle continues. */
      earlier: z.strictObject({ sessionId: SessionId.schema, newEvents: count }).exactOptional(),
      isAccepted: z.boolean(),
    }),
  ]),
  search: z.discriminatedUnion('kind', [
    workLine,
    refusedLine,
    z.strictObject({
      kind: z.literal('found'),
      /** What is found first counts more: 0 is the best. */
      tier: count,
      session: listedSessionShape.omit({ isHere: true }),
      hits: z.array(
        z.strictObject({
          where: z.enum(['goal', 'note', 'artifact']),
          runId: RunId.schema,
          /** The title of the step that it was sent for. */
          step: z.string().exactOptional(),
          words: z.array(z.string()),
          snippet: z.string(),
        }),
      ),
    }),
    z.strictObject({ kind: z.literal('done'), searched: count, total: count, unreadable: count }),
  ]),
} as const satisfies { readonly [path in ConsolePath]?: z.ZodType };

export type ConsoleLine<Path extends keyof typeof CONSOLE_LINES> = z.output<(typeof CONSOLE_LINES)[Path]>;

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
