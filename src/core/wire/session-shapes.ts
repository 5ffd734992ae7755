import * as z from 'zod';
import { gradeSchema, preferencesSchema } from '../log/autonomy.ts';
import { blockerSchema } from '../log/blockers.ts';
import { jsonObjectSchema } from '../log/document-schema.ts';
import { GAP_SEVERITIES } from '../log/events/gap-events.ts';
import { DAMAGE_REASONS } from '../log/health.ts';
import { artifactDigestSchema, NodeId, SessionId, stepIdSchema } from '../log/ids.ts';
import { PREFERENCE_SETTERS } from '../views/node-facts.ts';
import { count, moment, runHead, stateShape } from './list-shapes.ts';

const stepShape = z.strictObject({
  kind: z.literal('step'),
  stepId: z.string(),
  title: z.string(),
  /** The number of the step along its branch, from 1, as replies show it. */
  position: count.exactOptional(),
  /** The iteration of each loop it is in, from 1, outermost first. */
  rounds: z.array(z.strictObject({ loopId: z.string(), round: count })).exactOptional(),
});

/** The current step at some point of a run. */
export const placeShape = z.discriminatedUnion('kind', [
  stepShape,
  /** The run waits for what its first step needs. */
  z.strictObject({ kind: z.literal('start') }),
  z.strictObject({ kind: z.literal('complete') }),
  /** Unknown, because the data is missing or damaged. */
  z.strictObject({ kind: z.literal('untold') }),
]);
export type PlaceData = z.infer<typeof placeShape>;

const damage = z.strictObject({ reason: z.enum(DAMAGE_REASONS), place: z.string(), offset: count });

/** Whether the session is intact; of a damaged one, the part before the damage is shown. */
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
  /** The step that left the gap, if known. */
  place: stepShape.exactOptional(),
});
export type GapData = z.infer<typeof gapShape>;

/** What people and commands said about the step that is due; the agent has not continued since. */
export const saidSince = {
  /** What a person answered about the draft that is blocked, and how. */
  answer: z
    .strictObject({ statement: z.enum(['approved', 'rejected', 'answered']), words: z.string() })
    .exactOptional(),
  /** The checks that a command has shown well enough. */
  shownChecks: z.array(z.strictObject({ checkId: z.string(), grade: gradeSchema })).exactOptional(),
};

/** The state of a run, at the end of the branch where work goes on. */
export const runShape = z.strictObject({
  ...runHead,
  /** Where the workflow comes from, in words. */
  source: z.string().exactOptional(),
  startedAt: moment.exactOptional(),
  lastAt: moment.exactOptional(),
  place: placeShape,
  stepsTotal: count.exactOptional(),
  /** Branches besides the one where work goes on. */
  branches: count,
  /** The name of the branch where work goes on, if there are several. */
  branch: z.string().exactOptional(),
  /** Checkpoints on all branches. */
  checkpoints: count,
  /** How often the current step was blocked. */
  attempts: count,
  /** What blocks the run. */
  blockers: z.array(blockerSchema),
  ...saidSince,
  /** What was skipped or assumed and is still open. */
  gaps: z.array(gapShape),
  /** The other checks of the step that is due, each with the command line that runs and records it. */
  dueChecks: z
    .array(z.strictObject({ checkId: z.string(), minimum: gradeSchema, command: z.string() }))
    .exactOptional(),
  /** The checks of all steps that were done, each with how well it is known to have passed. */
  checks: z
    .array(
      z.strictObject({
        stepId: stepIdSchema,
        checkId: z.string(),
        minimum: gradeSchema,
        grade: gradeSchema.exactOptional(),
        /** What the newest run of its command showed. */
        run: z.string().exactOptional(),
        /** That command, as it was run. */
        command: z.string().exactOptional(),
      }),
    )
    .exactOptional(),
  /** What people answered about drafts of these steps, oldest first. */
  answers: z.array(z.strictObject({ about: z.string(), words: z.string() })).exactOptional(),
  preferences: preferencesSchema,
  /** Who set the mode. */
  setBy: z.enum(PREFERENCE_SETTERS).exactOptional(),
});
export type RunData = z.infer<typeof runShape>;

/** Which session, and its overall state. */
export const sessionHead = {
  sessionId: SessionId.schema,
  /** The shortest unique end of the id; every command accepts it. */
  shortId: z.string(),
  state: stateShape,
  health: healthShape,
};

/** What the agent sent for one step. */
export const entryShape = z.strictObject({
  /** The node where this was the current step. */
  nodeId: NodeId.schema,
  place: placeShape,
  /** Sent with the step, or saved as a checkpoint before it. */
  kind: z.enum(['step', 'checkpoint']),
  outputs: z.array(
    z.discriminatedUnion('kind', [
      /** `isSuperseded`: a later note replaced it. */
      z.strictObject({ kind: z.literal('note'), text: z.string(), isSuperseded: z.literal(true).exactOptional() }),
      z.strictObject({
        kind: z.literal('artifact'),
        sha256: artifactDigestSchema,
        bytes: count,
        /** Absent if it is missing or damaged. */
        value: jsonObjectSchema.exactOptional(),
      }),
    ]),
  ),
});
export type EntryData = z.infer<typeof entryShape>;
