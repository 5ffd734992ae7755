import * as z from 'zod';
import { gradeSchema, preferencesSchema } from '../log/autonomy.ts';
import { blockerSchema } from '../log/blockers.ts';
import { BLOCKERS_MAX, BRANCH_CHILDREN_MAX, BRANCH_SUMMARY_BYTES_MAX } from '../log/budgets.ts';
import { jsonObjectSchema, textSchema } from '../log/document-schema.ts';
import { callSchema, errorEnvelopeSchema, NEXT_INTENTS } from '../log/error-envelope.ts';
import { GAP_SEVERITIES } from '../log/events/gap-events.ts';
import { NODE_KINDS } from '../log/events/graph-events.ts';
import { GapId, RunId, SessionId, stepIdSchema, workflowIdSchema } from '../log/ids.ts';
import { GAP_DETAILS } from '../log/reasons.ts';
import { PREFERENCE_SETTERS } from '../views/node-facts.ts';
import { RECORDED_LABEL } from './reply-parts.ts';
import { REPLY_WARNING_CODES } from './warning-facts.ts';

const token = z.string().min(1);

/** A part of replies under a name of its own in the published schema. */
function named<Shape extends z.ZodRawShape>(name: string, shape: Shape) {
  return z.strictObject(shape).meta({ id: `reply_${name}` });
}

const call = callSchema.meta({ id: 'reply_call' });

const pending = named('pending', {
  stepId: stepIdSchema,
  title: z.string().min(1),
  prompt: z.string().min(1),
  requireConfirmation: z.boolean(),
  position: z.strictObject({ index: z.int().min(1), of: z.int().min(1).optional() }),
});

export const warningSchema = named('warning', {
  code: z.enum(REPLY_WARNING_CODES),
  message: z.string().min(1),
  details: jsonObjectSchema.optional(),
  suggestedCall: call.optional(),
});

const gap = named('gap', {
  gapId: GapId.schema,
  severity: z.enum(GAP_SEVERITIES),
  category: z.enum(Object.keys(GAP_DETAILS)),
  detail: z.enum(Object.values(GAP_DETAILS).flat()),
  summary: z.string().min(1),
  details: jsonObjectSchema.optional(),
});

const assessment = named('assessment', {
  assessmentId: z.string().min(1),
  dimensions: z.array(
    z.strictObject({ dimensionId: z.string().min(1), level: z.string().min(1), rationale: z.string().optional() }),
  ),
  normalizationNotes: z.array(z.string().min(1)),
});

const check = named('check', {
  stepId: stepIdSchema,
  checkId: z.string().min(1),
  minimum: gradeSchema,
  grade: gradeSchema.optional(),
});

const shownArtifacts = z
  .array(
    z.strictObject({
      title: z.string().min(1),
      kind: z.string().min(1),
      text: z.string(),
      /** Saved with checkpoint_workflow while the step was worked on; the step did not hand it in. */
      saved: z.literal(true).optional(),
    }),
  )
  .min(1);

const shownComments = z
  .array(z.strictObject({ title: z.string().min(1), statement: z.enum(['approved', 'answered']), text: z.string() }))
  .min(1);

const recap = named('recap', {
  entries: z.array(
    z.strictObject({
      stepId: stepIdSchema.optional(),
      title: z.string().min(1),
      text: z.string(),
      /** Saved with checkpoint_workflow while the step was worked on; the step did not hand it in. */
      saved: z.literal(true).optional(),
    }),
  ),
  omitted: z.int().min(0),
  policy: z.literal('kept_newest').optional(),
  artifacts: shownArtifacts.optional(),
  comments: shownComments.optional(),
}).refine(({ omitted, policy }) => omitted === 0 || policy !== undefined, {
  error: 'a shortened recap names the rule by which it was shortened',
});

const branch = named('branch', {
  children: z
    .array(
      z.strictObject({
        kind: z.enum(NODE_KINDS),
        summary: textSchema(BRANCH_SUMMARY_BYTES_MAX, { isEmptyAllowed: true }),
      }),
    )
    .max(BRANCH_CHILDREN_MAX),
  childrenOmitted: z.int().min(0),
  preferred: z.strictObject({ stateToken: token, stepTitle: z.string(), isComplete: z.boolean(), recap }),
});

const reference = named('reference', {
  title: z.string().min(1),
  path: z.string().min(1),
  purpose: z.string().optional(),
  authoritative: z.boolean().optional(),
  resolved: z.boolean().optional(),
  outside: z.literal(true).optional(),
});

const texts = z.array(z.string()).min(1);

/** Fields of every reply about a run. */
const always = {
  run: z.strictObject({
    tag: z.string().length(4),
    workflowId: workflowIdSchema,
    title: z.string().min(1),
    /** Where the workflow comes from: bundled, user, project, a git source with its commit, or a package. */
    source: z.string().min(1).optional(),
  }),
  session: z.strictObject({ sessionId: SessionId.schema, runId: RunId.schema }),
  stateToken: token,
  checkpointToken: token,
  preferences: z.strictObject({ ...preferencesSchema.shape, setBy: z.enum(PREFERENCE_SETTERS).optional() }),
  warnings: z.array(warningSchema),
  gaps: z.array(gap),
  stepContext: z
    .strictObject({
      assessments: z.union([assessment, z.array(assessment).min(1)]).optional(),
      checks: z.array(check).min(1).optional(),
    })
    .optional(),
  recorded: z
    .strictObject({
      label: z.literal(RECORDED_LABEL),
      values: z.record(z.string().min(1), z.string()).optional(),
      artifacts: shownArtifacts.optional(),
      comments: shownComments.optional(),
    })
    .optional(),
  goal: z.string().min(1).optional(),
  recap: recap.optional(),
  draft: z.strictObject({ notesMarkdown: z.string().optional(), artifactKinds: z.array(z.string()) }).optional(),
  branch: branch.optional(),
  references: z.array(reference).min(1).optional(),
  guidance: z
    .strictObject({
      metaGuidance: texts.optional(),
      preconditions: texts.optional(),
      clarificationPrompts: texts.optional(),
    })
    .optional(),
};

const nextIntent = z.enum(NEXT_INTENTS);
const none = z.array(z.never());

/** A step is pending, or the first step can be started now. */
export const pendingReplySchema = z.strictObject({
  kind: z.literal('ok'),
  ...always,
  pending: pending.nullable(),
  ackToken: token,
  isComplete: z.literal(false),
  nextIntent: nextIntent.exclude(['complete', 'rehydrate_only']),
  nextCall: call,
  blockers: none,
});

/** The run is complete. A call is offered only when output was not recorded. */
export const completeReplySchema = z.strictObject({
  kind: z.literal('ok'),
  ...always,
  pending: z.null(),
  isComplete: z.literal(true),
  nextIntent: z.literal('complete'),
  nextCall: call.nullable(),
  blockers: none,
  result: z
    .strictObject({
      stepsDone: z.int().min(0),
      skipped: z.array(
        z.strictObject({
          stepId: z.string().min(1),
          title: z.string().min(1),
          reason: z.string().min(1),
          unset: z.array(z.string().min(1)).min(1).optional(),
        }),
      ),
      skippedOmitted: z.int().min(1).optional(),
    })
    .optional(),
});

/** Something is missing; before the first step nothing is pending. */
export const blockedReplySchema = pendingReplySchema.extend({
  kind: z.literal('blocked'),
  blockers: z.array(blockerSchema).min(1).max(BLOCKERS_MAX),
});

/** The data of every reply about a run, including errors. */
export const replySchema = z.union([
  pendingReplySchema,
  completeReplySchema,
  blockedReplySchema,
  z.strictObject({ kind: z.literal('error'), error: errorEnvelopeSchema }),
]);
