import * as z from 'zod';
import { ASSURANCES, gradeSchema } from '../../log/autonomy.ts';
import { capabilitySchema, contractRefSchema } from '../../log/blockers.ts';
import { CHECK_ID_BYTES_MAX, CHECKS_MAX } from '../../log/budgets.ts';
import { nonBlankSchema } from '../../log/document-schema.ts';
import { contextKeySchema, loopIdSchema, stepIdSchema } from '../../log/ids.ts';
import { NON_ASSUMABLE_CHOICES, USER_ONLY_REASONS } from '../../log/reasons.ts';
import type { Condition } from './condition.ts';
import { conditionSchema, criteriaSchema } from './condition-schema.ts';

const assuranceSchema = z.enum(ASSURANCES);

/** Whether a person or a coordinator has a say before the run goes on. */
export type Confirmation = { readonly kind: 'none' } | Gate;

/** Asked for while its condition holds. */
export type Gate = {
  readonly kind: 'confirm' | 'human_approval' | 'coordinator_eval';
  readonly when: Condition;
  /** A weaker one, asked for while this one's condition does not hold. */
  readonly otherwise?: Gate | undefined;
};

const gateSchema: z.ZodType<Gate> = z.object({
  kind: z.enum(['confirm', 'human_approval', 'coordinator_eval']),
  when: conditionSchema,
  otherwise: z.lazy(() => gateSchema).optional(),
});

const confirmationSchema: z.ZodType<Confirmation> = z.union([z.object({ kind: z.literal('none') }), gateSchema]);

/** Where a step comes from: written by the author, or put in by a template or feature, with its id. */
const provenanceSchema = z.discriminatedUnion('source', [
  z.object({ source: z.literal('authored') }),
  z.object({ source: z.literal('template_injected'), originId: z.string().min(1) }),
  z.object({ source: z.literal('feature_injected'), originId: z.string().min(1) }),
]);

/** Text that is part of the prompt only while its condition holds. */
const fragmentSchema = z.object({ id: z.string().min(1), when: conditionSchema, text: z.string() });

const userDependencySchema = z.object({
  reason: z.enum(USER_ONLY_REASONS),
  choiceKind: z.enum(NON_ASSUMABLE_CHOICES).optional(),
  contextKey: contextKeySchema.optional(),
  prompt: z.string().min(1),
  assurance: assuranceSchema.optional(),
});

const consequenceSchema = z.object({
  anyEqualsLevel: z.string().min(1),
  forAssessment: z.string().optional(),
  guidance: z.string().min(1),
});

const delegationSchema = z.object({
  workflowId: z.string().min(1),
  goal: z.string().optional(),
  runCondition: conditionSchema.optional(),
  contextMapping: z.record(z.string(), z.string()).optional(),
  args: z.record(z.string(), z.string()).optional(),
  modelTier: z.string().optional(),
  allowedTools: z.array(z.string()).optional(),
});

/** A bundled text that was put into the prompt, so that its origin can be shown. */
const usedRefSchema = z.object({ refId: z.string(), contentHash: z.string(), bytes: z.int().min(0) });

/** What a step is there for, beyond being done: the engine reads these answers itself. */
const purposeSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('work') }),
  z.object({ kind: z.literal('probe'), capability: capabilitySchema, templateId: z.string().min(1) }),
  z.object({ kind: z.literal('loop_decision'), loopId: loopIdSchema }),
  z.object({ kind: z.literal('delegation'), delegations: z.array(delegationSchema).min(1) }),
]);

export const checkSchema = z.object({
  checkId: nonBlankSchema(CHECK_ID_BYTES_MAX),
  /** With `{{values}}` of context still in it. */
  run: z.string().min(1),
  minimum: gradeSchema,
  expect: z.literal('fail').optional(),
  against: z.literal('base').optional(),
  tests: z.array(z.string().min(1)).optional(),
  link: z.array(z.string().min(1)).optional(),
  report: z.string().min(1).optional(),
  atLeast: z.int().min(1).optional(),
  fresh: z.literal('head').optional(),
  /** The command contains text that the workspace put into an extension point. */
  isBound: z.literal(true).optional(),
});
export type Check = z.infer<typeof checkSchema>;

export const compiledStepSchema = z.object({
  stepId: stepIdSchema,
  title: z.string().min(1),
  /** The authored prompt, or the rendered prompt blocks; context values are still `{{name}}`. */
  prompt: z.string(),
  agentRole: z.string().optional(),
  guidance: z.array(z.string()),
  fragments: z.array(fragmentSchema),
  runCondition: conditionSchema.optional(),
  confirmation: confirmationSchema,
  isNoteRequired: z.boolean(),
  output: z.object({ contractRef: contractRefSchema, isRequired: z.boolean(), hints: z.array(z.string()) }).optional(),
  criteria: criteriaSchema.optional(),
  assessmentIds: z.array(z.string()),
  consequences: z.array(consequenceSchema),
  /** Names of functions this step refers to, each visible to it. */
  functionNames: z.array(z.string()),
  /** Those that it asks for with what their parameters stand for. */
  functionCalls: z.array(z.object({ name: z.string(), args: z.record(z.string(), z.string()) })).optional(),
  userDependency: userDependencySchema.optional(),
  /** Of the approval that it asks for; a step that was pinned without it takes the agent's word. */
  assurance: assuranceSchema.optional(),
  /** Whether an approval counts only for the files of the workspace as they were. */
  bindsTree: z.literal(false).optional(),
  /** Context keys that this step is meant to set. */
  sets: z.array(z.string().min(1)).optional(),
  checks: z.array(checkSchema).min(1).max(CHECKS_MAX).optional(),
  /** Lists of context whose ids must occur in a list of the artifact, or in the notes. */
  accountsFor: z
    .array(z.object({ key: z.string().min(1), prefix: z.string().min(1), in: z.string().min(1) }))
    .min(1)
    .optional(),
  /** Lists of the artifact that are kept in context, each item with an id. */
  collects: z
    .array(
      z.object({
        list: z.string().min(1),
        into: z.string().min(1),
        prefix: z.string().min(1),
        isReplaced: z.literal(true).optional(),
      }),
    )
    .min(1)
    .optional(),
  purpose: purposeSchema,
  provenance: provenanceSchema,
  refs: z.array(usedRefSchema),
});
export type CompiledStep = z.infer<typeof compiledStepSchema>;
