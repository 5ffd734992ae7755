import * as z from 'zod';
import { commandShape } from '../../command-shape.ts';
import { ownScope } from './own-scope.ts';

const count = z.int().min(0);
const edit = z.strictObject({ offset: count, length: count, text: z.string() });

const finding = z.strictObject({
  code: z.string(),
  severity: z.enum(['error', 'warning']),
  line: count,
  column: count,
  /** JSON pointer of the value, or of the object that lacks one. */
  pointer: z.string(),
  message: z.string(),
  hint: z.string().exactOptional(),
  /** Where the rule is explained. */
  docs: z.string().exactOptional(),
  /** What --fix would do; edits count UTF-16 code units. */
  fix: z.strictObject({ title: z.string(), edits: z.array(edit).readonly() }).exactOptional(),
});

const workflowCheckData = z.strictObject({
  /** What was looked at; a rule when one was to be explained. */
  scope: z.union([z.strictObject({ kind: z.enum(['named', 'all', 'rule']) }), ownScope]),
  /** The rule that --explain asked for. */
  rule: z.strictObject({ code: z.string(), finds: z.string(), why: z.string(), hint: z.string() }).exactOptional(),
  files: z
    .array(
      z.strictObject({
        path: z.string(),
        workflowId: z.string().exactOptional(),
        findings: z.array(finding).readonly(),
      }),
    )
    .readonly(),
  /** What --fix changed. */
  made: z.array(z.strictObject({ path: z.string(), code: z.string(), title: z.string() })).readonly(),
  totals: z.strictObject({ files: count, errors: count, warnings: count, mendable: count }),
});
export type WorkflowCheckData = z.infer<typeof workflowCheckData>;

/** What `workrail workflow check --json` prints. */
export const workflowCheckShape = commandShape('workflow check', workflowCheckData);
