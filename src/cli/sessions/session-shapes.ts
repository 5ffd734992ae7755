import * as z from 'zod';
import { preferencesSchema } from '../../core/log/autonomy.ts';
import { blockerSchema } from '../../core/log/blockers.ts';
import { GAP_SEVERITIES } from '../../core/log/events/gap-events.ts';
import { jsonObjectSchema } from '../../core/log/field-schemas.ts';
import { DAMAGE_REASONS } from '../../core/log/health.ts';
import { artifactDigestSchema, NodeId, RunId, SessionId } from '../../core/log/ids.ts';
import { SESSION_STATES } from '../../core/sessions/session-state.ts';
import { RUN_STATUSES } from '../../core/views/run-status.ts';
import { commandShape } from '../command-shape.ts';

export const count = z.int().min(0);
/** Milliseconds since 1970; told where the events tell it. */
export const moment = z.int().min(0);
const stateShape = z.enum(SESSION_STATES);

const stepShape = z.strictObject({
  kind: z.literal('step'),
  stepId: z.string(),
  title: z.string(),
  /** Among all steps of the workflow, counted from 1. */
  position: count.exactOptional(),
  /** Rounds of the loops around it, counted from 1, outermost first; not there outside of loops. */
  rounds: z.array(z.strictObject({ loopId: z.string(), round: count })).exactOptional(),
});

/** What is due at a place of a run. */
export const placeShape = z.discriminatedUnion('kind', [
  stepShape,
  /** The run waits for what its first step needs. */
  z.strictObject({ kind: z.literal('start') }),
  z.strictObject({ kind: z.literal('complete') }),
  /** What would tell is missing or damaged. */
  z.strictObject({ kind: z.literal('untold') }),
]);
export type PlaceData = z.infer<typeof placeShape>;

const damage = z.strictObject({ reason: z.enum(DAMAGE_REASONS), place: z.string(), offset: count });

/** How much of a session can be trusted; what is shown of one that is not healthy is its valid beginning. */
const healthShape = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('healthy') }),
  z.strictObject({ kind: z.literal('corrupt_tail'), damage }),
  z.strictObject({ kind: z.literal('corrupt_head'), damage }),
  z.strictObject({ kind: z.literal('unknown_version'), place: z.string(), offset: count, version: z.string() }),
]);

export const gapShape = z.strictObject({
  severity: z.enum(GAP_SEVERITIES),
  category: z.string(),
  detail: z.string(),
  summary: z.string(),
  /** The step that it was left at; not there where that is not known. */
  place: stepShape.exactOptional(),
});
export type GapData = z.infer<typeof gapShape>;

/** Which run, and what it is about. */
export const runHead = {
  runId: RunId.schema,
  /** Four characters by which replies and tokens name it. */
  tag: z.string(),
  workflowId: z.string(),
  workflowName: z.string().exactOptional(),
  goal: z.string().exactOptional(),
  /** Not told where what would tell is missing or damaged. */
  status: z.enum(RUN_STATUSES).exactOptional(),
  isClosed: z.boolean(),
  /** How many gaps are open; not told in lists, which read no log. */
  openGaps: count.exactOptional(),
};

/** How a run stands, at the end of the line where its work goes on. */
export const runShape = z.strictObject({
  ...runHead,
  startedAt: moment.exactOptional(),
  lastAt: moment.exactOptional(),
  place: placeShape,
  stepsTotal: count.exactOptional(),
  /** Lines of work beside the one that goes on. */
  branches: count,
  /** How often something was saved on the way, on any line. */
  checkpoints: count,
  /** How often the step that is due was turned down. */
  attempts: count,
  /** What holds it up. */
  blockers: z.array(blockerSchema),
  /** What was skipped or assumed and is still open. */
  gaps: z.array(gapShape),
  preferences: preferencesSchema,
});
export type RunData = z.infer<typeof runShape>;

/** Which session, and how it stands as a whole. */
export const sessionHead = {
  sessionId: SessionId.schema,
  /** The end of the id, as far as no other session has it; any command takes it. */
  shortId: z.string(),
  state: stateShape,
  health: healthShape,
};

/** What was handed in at one place. */
export const entryShape = z.strictObject({
  /** Where the step was due. */
  nodeId: NodeId.schema,
  place: placeShape,
  /** With the step itself, or saved on the way to it. */
  kind: z.enum(['step', 'checkpoint']),
  outputs: z.array(
    z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('note'), text: z.string() }),
      z.strictObject({
        kind: z.literal('artifact'),
        sha256: artifactDigestSchema,
        bytes: count,
        /** Not there when it is missing or damaged. */
        value: jsonObjectSchema.exactOptional(),
      }),
    ]),
  ),
});
export type EntryData = z.infer<typeof entryShape>;

const { workflowName: _, ...listedRun } = runHead;

export const listedSessionShape = z.strictObject({
  sessionId: SessionId.schema,
  /** The end of the id, as far as no other session has it; any command takes it. */
  shortId: z.string(),
  state: stateShape,
  /** The goal of its first run, else that run's workflow; not there when nothing of it can be read. */
  title: z.string().exactOptional(),
  runs: z.array(z.strictObject(listedRun)),
  lastAt: moment.exactOptional(),
  workspace: z.string().exactOptional(),
  branch: z.string().exactOptional(),
  isHere: z.boolean(),
  isKept: z.boolean(),
});
export type ListedSessionData = z.infer<typeof listedSessionShape>;

const sessionListData = z.strictObject({
  dataDir: z.string(),
  /** Newest first. */
  sessions: z.array(listedSessionShape),
  /** How many fit what was asked for; not all may be shown. */
  total: count,
});
export type SessionListData = z.infer<typeof sessionListData>;

/** What `workrail session list --json` prints. */
export const sessionListShape = commandShape('session list', sessionListData);
