import * as z from 'zod';
import {
  builtinsData,
  workflowDiffData,
  workflowListData,
  workflowShowData,
  workflowUsesData,
} from './workflow-shapes.ts';

/** A word of a command line. It must not look like an option. */
const word = z
  .string()
  .min(1)
  .max(4_096)
  .regex(/^[^-\0][^\0]*$/);

const nothing = z.strictObject({});

/** What the requests that are commands may carry. */
export const COMMAND_INPUTS = {
  workflows: nothing,
  workflow: z.strictObject({ id: word }),
  uses: z.strictObject({ id: word }),
  /** Ids of workflows, or hashes of versions that runs use. */
  versions: z.strictObject({ a: word, b: word }),
  builtins: nothing,
} as const;

export type CommandPath = keyof typeof COMMAND_INPUTS;

/** What they are answered: the `data` that the command prints with `--json`. */
export const COMMAND_REPLIES = {
  workflows: workflowListData,
  workflow: workflowShowData,
  uses: workflowUsesData,
  versions: workflowDiffData,
  builtins: builtinsData,
} as const satisfies { readonly [path in CommandPath]: z.ZodType };

export type CommandInput<Path extends CommandPath> = z.input<(typeof COMMAND_INPUTS)[Path]>;
