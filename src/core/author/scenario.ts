import * as z from 'zod';
import { autonomySchema } from '../log/autonomy.ts';
import { jsonObjectSchema } from '../log/document-schema.ts';
import { BLOCKER_CODES, GAP_DETAILS, type GapCategory } from '../log/reasons.ts';

const GAP_CATEGORIES = Object.keys(GAP_DETAILS) as [GapCategory, ...GapCategory[]];

const text = z.string().min(1);

/** What a person answers at a step that waits for one. */
export const personSchema = z.union([
  z.enum(['approve', 'reject']),
  z.strictObject({ value: z.union([z.string().min(1), z.number(), z.boolean()]).describe('The answer.') }),
]);
export type PersonLine = z.infer<typeof personSchema>;

/** What the agent sends at a step. Whatever is left out is taken from the step's form, filled in. */
const sentStepSchema = z
  .strictObject({
    at: text.describe('The id of the step that must be pending when this is sent.'),
    notes: z.string().optional().describe('The notes. Default: the notes of the filled form.'),
    artifacts: z
      .array(jsonObjectSchema)
      .optional()
      .describe('The artifacts. Missing kinds are taken from the filled form.'),
    context: jsonObjectSchema.optional().describe('Context values that are sent with this step.'),
    person: personSchema
      .optional()
      .describe('What a person answers when this step waits for one. Default: the person approves.'),
    expect: z
      .enum(['ok', 'blocked'])
      .optional()
      .describe(
        'Whether the attempt must succeed. With "blocked", nothing is taken from the form. Default: "ok"; a block that only asks the user is then passed.',
      ),
    blockers: z
      .array(z.enum(BLOCKER_CODES))
      .min(1)
      .optional()
      .describe('The codes of the blockers, each at least once.'),
  })
  .refine(({ expect, blockers }) => blockers === undefined || expect === 'blocked', {
    error: '"blockers" needs "expect": "blocked"',
    path: ['blockers'],
  });
export type SentStep = z.infer<typeof sentStepSchema>;

const expectedGapSchema = z.strictObject({
  category: z.enum(GAP_CATEGORIES),
  detail: z.enum(Object.values(GAP_DETAILS).flat()).optional(),
});

/** What must be true at the end of a run. */
const expectedSchema = z
  .strictObject({
    path: z.array(text).optional().describe('The ids of the steps that were pending, in order; each iteration again.'),
    skipped: z.array(text).optional().describe('Ids of steps that must be among those that were skipped.'),
    blocks: z.int().min(0).optional().describe('How many replies were blocks.'),
    gaps: z.array(expectedGapSchema).optional().describe('The gaps that are open at the end, in any order.'),
    complete: z.boolean().optional().describe('Whether the run is complete.'),
  })
  .refine(({ path, complete }) => path !== undefined || complete !== undefined, {
    error: 'at least "path" or "complete" is to be expected',
  });
export type ExpectedEnd = z.infer<typeof expectedSchema>;

const givenShape = {
  mode: autonomySchema.optional().describe('The mode of the run. Default: guided.'),
  modeSetBy: z
    .enum(['agent', 'person'])
    .optional()
    .describe(
      'Who sets the mode. If a person sets full_auto_never_stop, no step waits for a person: each leaves a critical gap. Default: agent.',
    ),
  goal: text.optional().describe('The goal, as sent to start_workflow.'),
  context: jsonObjectSchema.optional().describe('The context that the run starts with.'),
  steps: z
    .array(sentStepSchema)
    .optional()
    .describe('What the agent sends, in order. A step that is not named here is answered with its form, filled in.'),
};

const scenarioSchema = z
  .strictObject({
    name: text.describe('What happens, in a few words.'),
    modes: z.array(autonomySchema).min(1).optional().describe('Runs the scenario once in each of these modes.'),
    ...givenShape,
    expect: expectedSchema,
  })
  .refine(({ mode, modes }) => mode === undefined || modes === undefined, {
    error: '"mode" and "modes" exclude each other',
    path: ['modes'],
  });
export type Scenario = z.infer<typeof scenarioSchema>;

/** Scenarios of a workflow, in the file `<name>.test.json` beside it. */
export const scenarioFileSchema = z.strictObject({
  $schema: z.string().optional(),
  workflowId: text.describe('The workflow to run.'),
  scenarios: z.array(scenarioSchema).min(1),
});
export type ScenarioFile = z.infer<typeof scenarioFileSchema>;

/** What the agent does in a dry run: a scenario that expects nothing. */
export const scriptSchema = z.strictObject({ $schema: z.string().optional(), ...givenShape });
export type Script = z.infer<typeof scriptSchema>;
