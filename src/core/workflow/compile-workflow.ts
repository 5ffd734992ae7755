import { err, ok, type Result } from 'neverthrow';
import * as z from 'zod';
import { stepIdSchema, workflowIdSchema } from '../log/ids.ts';
import { textSchema } from '../log/text.ts';
import { COMPILED_WORKFLOW_VERSION, type CompiledWorkflow } from './compiled-workflow.ts';

const NAME_BYTES_MAX = 128;
const DESCRIPTION_BYTES_MAX = 512;
const PROMPT_BYTES_MAX = 8192;

const workflowFileSchema = z.strictObject({
  id: workflowIdSchema,
  name: textSchema(NAME_BYTES_MAX),
  description: textSchema(DESCRIPTION_BYTES_MAX),
  version: z.string().optional(),
  steps: z
    .array(
      z.strictObject({
        id: stepIdSchema,
        title: textSchema(NAME_BYTES_MAX),
        prompt: textSchema(PROMPT_BYTES_MAX),
        requireConfirmation: z.boolean().optional(),
      }),
    )
    .min(1),
});

/** One thing wrong with a workflow file; `pointer` is the JSON pointer of the place. */
export type Diagnostic = { readonly pointer: string; readonly message: string };

/** Turns an author's file into what is pinned and run. All that is wrong with it is told at once. */
export function compileWorkflow(file: unknown): Result<CompiledWorkflow, readonly Diagnostic[]> {
  const parsed = workflowFileSchema.safeParse(file);
  if (!parsed.success) {
    return err(parsed.error.issues.map(({ path, message }) => ({ pointer: `/${path.join('/')}`, message })));
  }
  const { id, name, description, steps } = parsed.data;
  const repeated = steps.flatMap((step, i) =>
    steps.findIndex((other) => other.id === step.id) === i
      ? []
      : [{ pointer: `/steps/${i}/id`, message: `step id "${step.id}" is used twice` }],
  );
  if (repeated.length > 0) return err(repeated);
  return ok({
    schemaVersion: COMPILED_WORKFLOW_VERSION,
    workflowId: id,
    name,
    description,
    steps: steps.map((step) => ({
      stepId: step.id,
      title: step.title,
      prompt: step.prompt,
      requireConfirmation: step.requireConfirmation ?? false,
      provenance: { source: 'authored' },
    })),
  });
}
