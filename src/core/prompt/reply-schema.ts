import * as z from 'zod';
import { preferencesSchema } from '../log/autonomy.ts';
import { blockerSchema } from '../log/blockers.ts';
import { BLOCKERS_MAX, BRANCH_CHILDREN_MAX, BRANCH_SUMMARY_BYTES_MAX } from '../log/budgets.ts';
import { jsonObjectSchema, textSchema } from '../log/document-schema.ts';
import { callSchema, errorEnvelopeSchema, NEXT_INTENTS } from '../log/error-envelope.ts';
import { GAP_SEVERITIES } from '../log/events/gap-events.ts';
import { NODE_KINDS } from '../log/events/graph-events.ts';
import { GapId, RunId, SessionId, stepIdSchema, workflowIdSchema } from '../log/ids.ts';
import { GAP_DETAILS } from '../log/reasons.ts';
import { REPLY_WARNING_CODES } from './reply-warnings.ts';

const token = z.string().min(1);
const call = callSchema.meta({ id: 'reply_call' });

const pending = z
  .strictObject({
    stepId: stepIdSchema,
    title: z.string().min(1),
    prompt: z.string().min(1),
    requireConfirmation: z.boolean(),
    position: z.strictObject({ index: z.int().min(1), of: z.int().min(1) }),
  })
  .meta({ id: 'reply_pending' });

const warning = z
  .strictObject({
    code: z.enum(REPLY_WARNING_CODES),
    message: z.string().min(1),
    details: jsonObjectSchema.optional(),
    suggestedCall: call.optional(),
  })
  .meta({ id: 'reply_warning' });

const gap = z
  .strictObject({
    gapId: GapId.schema,
    severity: z.enum(GAP_SEVERITIES),
    category: z.enum(Object.keys(GAP_DETAILS)),
    detail: z.enum(Object.values(GAP_DETAILS).flat()),
    summary: z.string().min(1),
    details: jsonObjectSchema.optional(),
  })
  .meta({ id: 'reply_gap' });

const assessment = z
  .strictObject({
    assessmentId: z.string().min(1),
    dimensions: z.array(
      z.strictObject({ dimensionId: z.string().min(1), level: z.string().min(1), rationale: z.string().optional() }),
    ),
    normalizationNotes: z.array(z.string().min(1)),
  })
  .meta({ id: 'reply_assessment' });

const recap = z
  .strictObject({
    entries: z.array(z.strictObject({ stepId: stepIdSchema.optional(), title: z.string().min(1), text: z.string() })),
    omitted: z.int().min(0),
    policy: z.literal('kept_newest').optional(),
  })
  .refine(({ omitted, policy }) => omitted === 0 || policy !== undefined, {
    error: 'a shortened recap names the rule by which it was shortened',
  })
  .meta({ id: 'reply_recap' });

const branch = z
  .strictObject({
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
  })
  .meta({ id: 'reply_branch' });

const reference = z
  .strictObject({
    title: z.string().min(1),
    path: z.string().min(1),
    purpose: z.string().optional(),
    authoritative: z.boolean().optional(),
    resolved: z.boolean().optional(),
  })
  .meta({ id: 'reply_reference' });

const texts = z.array(z.string()).min(1);

/** Fields of every reply about a run. */
const always = {
  run: z.strictObject({ tag: z.string().length(4), workflowId: workflowIdSchema, title: z.string().min(1) }),
  session: z.strictObject({ sessionId: SessionId.schema, runId: RunId.schema }),
  stateToken: token,
  checkpointToken: token,
  preferences: z.strictObject(preferencesSchema.shape),
  warnings: z.array(warning),
  gaps: z.array(gap),
  stepContext: z.strictObject({ assessments: z.union([assessment, z.array(assessment).min(1)]) }).optional(),
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
});

/** Something is missing; before the first step nothing is pending. */
export const blockedReplySchema = z.strictObject({
  kind: z.literal('blocked'),
  ...always,
  pending: pending.nullable(),
  ackToken: token,
  isComplete: z.literal(false),
  nextIntent: nextIntent.exclude(['complete', 'rehydrate_only']),
  nextCall: call,
  blockers: z.array(blockerSchema).min(1).max(BLOCKERS_MAX),
});

/** The data of every reply about a run, including errors. */
export const replySchema = z.union([
  pendingReplySchema,
  completeReplySchema,
  blockedReplySchema,
  z.strictObject({ kind: z.literal('error'), error: errorEnvelopeSchema }),
]);
