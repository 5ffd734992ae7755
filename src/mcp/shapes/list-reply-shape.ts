import * as z from 'zod';
import { WORKFLOW_SOURCE_KINDS } from '../../core/log/events/run-started.ts';

const texts = z.array(z.string());

/** What `list_workflows` answers, as data. */
export const listReplyShape = z.strictObject({
  kind: z.literal('ok'),
  /** Those that were asked for. */
  workflows: z.array(
    z.strictObject({
      id: z.string().min(1),
      kind: z.enum(['workflow', 'routine']),
      name: z.string().min(1),
      description: z.string().min(1),
      tags: texts,
      idStatus: z.enum(['namespaced', 'legacy']),
      sourceKind: z.enum(WORKFLOW_SOURCE_KINDS),
      /** What an author should look at. */
      warnings: texts.min(1).optional(),
      aliases: texts.min(1).optional(),
      suggestedId: z.string().min(1).optional(),
      /** Files that are not used because of this one. */
      shadows: texts.min(1).optional(),
    }),
  ),
  invalid: z.array(z.strictObject({ file: z.string().min(1), id: z.string().optional(), problems: texts.min(1) })),
  /** How many there are, shown or not. */
  total: z.int().min(0),
  warnings: z.array(z.strictObject({ code: z.literal('workspace_not_used'), message: z.string().min(1) })).optional(),
});
