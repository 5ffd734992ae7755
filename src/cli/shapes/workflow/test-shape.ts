import * as z from 'zod';
import { autonomySchema } from '../../../core/log/autonomy.ts';
import { commandShape } from '../../command-shape.ts';
import { ownScope } from './own-scope.ts';

const count = z.int().min(0);
const share = { reached: count, total: count };

const coverage = z.strictObject({
  steps: z.strictObject({ ...share, missing: z.array(z.string()).readonly() }),
  outcomes: z.strictObject({
    ...share,
    /** Conditions that never came out one way. */
    missing: z.array(z.strictObject({ condition: z.string(), never: z.string() })).readonly(),
  }),
});

const file = z.strictObject({
  path: z.string(),
  workflowId: z.string().exactOptional(),
  /** Why it was not played. */
  problems: z
    .array(z.strictObject({ line: count, column: count, pointer: z.string(), message: z.string() }))
    .readonly(),
  scenarios: z
    .array(
      z.strictObject({
        name: z.string(),
        mode: autonomySchema,
        failures: z.array(z.string()).readonly(),
        path: z.array(z.string()).readonly(),
        bytesRead: count,
      }),
    )
    .readonly(),
  coverage: coverage.exactOptional(),
});

const workflowTestData = z.strictObject({
  /** What was looked at. */
  scope: z.union([z.strictObject({ kind: z.enum(['named', 'all']) }), ownScope]),
  files: z.array(file).readonly(),
  untested: z.array(z.string()).readonly(),
  totals: z.strictObject({ scenarios: count, failed: count }),
});
export type WorkflowTestData = z.infer<typeof workflowTestData>;

/** What `workrail workflow test --json` prints. */
export const workflowTestShape = commandShape('workflow test', workflowTestData);
