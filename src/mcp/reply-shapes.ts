import * as z from 'zod';
import { RESUME_CANDIDATES_MAX, RESUME_SNIPPET_BYTES_MAX } from '../core/log/budgets.ts';
import { jsonObjectSchema, textSchema } from '../core/log/document-schema.ts';
import { WORKFLOW_SOURCE_KINDS } from '../core/log/events/run-events.ts';
import { RunId, SessionId, workflowHashSchema, workflowIdSchema } from '../core/log/ids.ts';
import { shownOriginSchema } from '../core/log/origin.ts';
import {
  blockedReplySchema,
  completeReplySchema,
  pendingReplySchema,
  warningSchema,
} from '../core/prompt/reply-schema.ts';
import { MATCH_REASONS } from '../core/resume/rank-runs.ts';
import { RUN_STATUSES } from '../core/views/run-status.ts';
import { compiledWorkflowSchema } from '../core/workflow/compiled/compiled-workflow.ts';

const texts = z.array(z.string());

/** The structured content of replies: published and tested, and not loaded by a server. */
export const listReplyShape = z.strictObject({
  kind: z.literal('ok'),
  /** Those that match. */
  workflows: z.array(
    z.strictObject({
      id: z.string().min(1),
      kind: z.enum(['workflow', 'routine']),
      name: z.string().min(1),
      description: z.string().min(1),
      tags: texts,
      idStatus: z.enum(['namespaced', 'legacy']),
      sourceKind: z.enum(WORKFLOW_SOURCE_KINDS),
      /** Warnings for the author. */
      warnings: texts.min(1).optional(),
      aliases: texts.min(1).optional(),
      suggestedId: z.string().min(1).optional(),
      /** Files that this one overrides. */
      shadows: texts.min(1).optional(),
    }),
  ),
  invalid: z.array(z.strictObject({ file: z.string().min(1), id: z.string().optional(), problems: texts.min(1) })),
  /** How many invalid files there are, if not all are listed. */
  invalidTotal: z.int().min(1).optional(),
  /** How many workflows there are, shown or not. */
  total: z.int().min(0),
  warnings: z.array(z.strictObject({ code: z.literal('workspace_not_used'), message: z.string().min(1) })).optional(),
});

const { workflows } = listReplyShape.shape;
const { references, preconditions, clarificationPrompts, metaGuidance, capabilities, recommended } =
  compiledWorkflowSchema.shape;
const { arguments: declaredArguments } = compiledWorkflowSchema.shape;

const step = z.strictObject({
  kind: z.literal('step'),
  stepId: z.string().min(1),
  title: z.string().min(1),
  /** The condition in words. */
  when: z.string().optional(),
  asksFor: texts,
  purpose: z.string().optional(),
  provenance: jsonObjectSchema,
  /** Only in mode full: the compiled step. */
  definition: jsonObjectSchema.optional(),
});

type Entry = z.infer<typeof step> | { readonly kind: 'loop'; readonly body: readonly Entry[] };

const loop: z.ZodType<Entry> = z.strictObject({
  kind: z.literal('loop'),
  loopId: z.string().min(1),
  stepId: z.string().min(1),
  title: z.string().min(1),
  when: z.string().optional(),
  repeats: z.string().min(1),
  maxIterations: z.int().min(1),
  body: z.array(z.union([step, z.lazy(() => loop)])).min(1),
});

export const inspectReplyShape = z.strictObject({
  kind: z.literal('ok'),
  workflow: workflows.element.omit({ sourceKind: true, shadows: true, warnings: true }).extend({
    hash: workflowHashSchema,
    source: z.strictObject({ kind: z.enum(WORKFLOW_SOURCE_KINDS), ref: z.string().min(1), shadows: texts }),
    stepCount: z.int().min(1),
    loopCount: z.int().min(0),
    contracts: texts,
    references,
    preconditions,
    clarificationPrompts,
    /** What a routine takes, in a call or as context. */
    arguments: declaredArguments,
    metaGuidance,
    capabilities,
    recommended,
    conditions: texts,
    /** What each of them means, in words. */
    conditionTexts: z
      .array(z.strictObject({ conditionId: z.string(), when: z.string() }))
      .min(1)
      .optional(),
    /** Texts that the project's .workrail/bindings.json put in, and where. */
    projectBindings: z
      .array(z.strictObject({ slotId: z.string(), text: z.string(), pointers: texts.min(1) }))
      .min(1)
      .optional(),
    warnings: z.array(jsonObjectSchema),
    definition: jsonObjectSchema.optional(),
  }),
  /** Absent in mode metadata. */
  steps: z
    .array(z.union([step, loop]))
    .min(1)
    .optional(),
  nextCall: z.strictObject({ tool: z.literal('start_workflow'), arguments: jsonObjectSchema }),
});

const showCall = z.strictObject({
  tool: z.literal('continue_workflow'),
  arguments: z.strictObject({ stateToken: z.string().min(1) }),
});

const candidate = z.strictObject({
  sessionId: SessionId.schema,
  runId: RunId.schema,
  run: z.strictObject({ tag: z.string().length(4), workflowId: workflowIdSchema, title: z.string().min(1) }),
  goal: z.string().optional(),
  status: z.enum(RUN_STATUSES),
  stepTitle: z.string().optional(),
  lastActive: z.string().optional(),
  whyMatched: z.array(z.enum(MATCH_REASONS)).min(1),
  /** Absent for a run that was started here. */
  origin: shownOriginSchema.optional(),
  stateToken: z.string().min(1),
  nextCall: showCall,
});

/** A run of another workspace, without notes and tokens. */
const foreign = z.strictObject({
  sessionId: SessionId.schema,
  runId: RunId.schema,
  goal: z.string().optional(),
  workspace: z.string().min(1),
  lastActive: z.string().optional(),
  whyMatched: z.array(z.enum(MATCH_REASONS)).min(1),
  nextCall: z.strictObject({
    tool: z.literal('resume_session'),
    arguments: z.strictObject({ runId: RunId.schema }),
  }),
});

/** An imported run that no person accepted. It has no token and no call, only the command that accepts it. */
const unaccepted = z.strictObject({
  sessionId: SessionId.schema,
  runId: RunId.schema,
  run: z.strictObject({ tag: z.string().length(4), workflowId: workflowIdSchema, source: z.string().min(1) }),
  goal: z.string().optional(),
  status: z.enum(RUN_STATUSES),
  lastActive: z.string().optional(),
  whyMatched: z.array(z.enum(MATCH_REASONS)).min(1),
  origin: shownOriginSchema,
  acceptCommand: z.string().min(1),
});

const resumed = z.strictObject({
  whyMatched: z.array(z.enum(MATCH_REASONS)).min(1),
  origin: shownOriginSchema.optional(),
  others: z.array(z.union([candidate, foreign, unaccepted])).max(RESUME_CANDIDATES_MAX - 1),
});

const snippet = textSchema(RESUME_SNIPPET_BYTES_MAX, { isEmptyAllowed: true });

/** A run as `continue_workflow` shows it, or runs to choose from. */
export const resumeReplyShape = z.union([
  pendingReplySchema.extend({ resumed }),
  blockedReplySchema.extend({ resumed }),
  completeReplySchema.extend({ resumed }),
  z.strictObject({
    kind: z.literal('ok'),
    candidates: z.array(z.union([candidate.extend({ snippet }), foreign, unaccepted])).max(RESUME_CANDIDATES_MAX),
    total: z.int().min(0),
    warnings: z.array(warningSchema).min(1).optional(),
    nextIntent: z.literal('rehydrate_only'),
    nextCall: showCall.nullable(),
  }),
]);

/** The reply for a run that is complete, with a token for the session. */
export const sessionReplyShape = completeReplySchema.extend({ sessionToken: z.string().min(1) });
