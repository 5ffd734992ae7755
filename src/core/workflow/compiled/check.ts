import * as z from 'zod';
import { CHECK_ID_BYTES_MAX } from '../../log/budgets.ts';
import { nonBlankSchema } from '../../log/document-schema.ts';
import { type Grade, gradeSchema } from '../../log/grade.ts';

/** The grades that a step can demand; `verified` needs a team server. */
export const DEMANDED_GRADES = ['asserted', 'reported', 'observed'] as const satisfies readonly Grade[];

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
