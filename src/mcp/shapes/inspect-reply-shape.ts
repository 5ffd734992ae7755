import * as z from 'zod';
import { WORKFLOW_SOURCE_KINDS } from '../../core/log/events/run-started.ts';
import { jsonObjectSchema } from '../../core/log/field-schemas.ts';
import { workflowHashSchema } from '../../core/log/ids.ts';
import { compiledWorkflowSchema } from '../../core/workflow/compiled/compiled-workflow.ts';
import { listReplyShape } from './list-reply-shape.ts';

const { workflows } = listReplyShape.shape;
const { references, preconditions, clarificationPrompts, metaGuidance, capabilities, recommended } =
  compiledWorkflowSchema.shape;
const texts = z.array(z.string());

const step = z.strictObject({
  kind: z.literal('step'),
  stepId: z.string().min(1),
  title: z.string().min(1),
  /** The condition in words. */
  when: z.string().optional(),
  asksFor: texts,
  purpose: z.string().optional(),
  provenance: jsonObjectSchema,
  /** In full only: all that a run would be pinned to. */
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

/** What `inspect_workflow` answers, as data. */
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
    metaGuidance,
    capabilities,
    recommended,
    conditions: texts,
    warnings: z.array(jsonObjectSchema),
    definition: jsonObjectSchema.optional(),
  }),
  /** Absent when only metadata was asked for. */
  steps: z
    .array(z.union([step, loop]))
    .min(1)
    .optional(),
  nextCall: z.strictObject({ tool: z.literal('start_workflow'), arguments: jsonObjectSchema }),
});
