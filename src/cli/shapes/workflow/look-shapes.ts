import * as z from 'zod';
import { WORKFLOW_SOURCE_KINDS } from '../../../core/log/events/run-started.ts';
import { commandShape } from '../../command-shape.ts';

const count = z.int().min(0);

const listed = z.strictObject({
  id: z.string(),
  kind: z.enum(['workflow', 'routine']),
  name: z.string(),
  description: z.string(),
  tags: z.array(z.string()).readonly(),
  source: z.enum(WORKFLOW_SOURCE_KINDS),
  /** The source that it comes from, as "workrail source list" names it. */
  added: z
    .strictObject({ name: z.string(), kind: z.enum(['git', 'folder', 'package']), commit: z.string().exactOptional() })
    .exactOptional(),
  path: z.string(),
  /** Files of the same id that are not used because of this one. */
  shadows: z.array(z.string()).readonly(),
  warnings: count,
  /** What an id of the old kind should become. */
  suggestedId: z.string().exactOptional(),
});
export type ListedData = z.infer<typeof listed>;

const workflowListData = z.strictObject({
  workflows: z.array(listed).readonly(),
  invalid: z
    .array(z.strictObject({ path: z.string(), id: z.string().exactOptional(), errors: count, first: z.string() }))
    .readonly(),
});
export type WorkflowListData = z.infer<typeof workflowListData>;

/** What `workrail workflow list --json` prints. */
export const workflowListShape = commandShape('workflow list', workflowListData);

const step = z.strictObject({
  kind: z.enum(['step', 'loop']),
  id: z.string(),
  title: z.string(),
  /** How many loops it stands in. */
  depth: count,
  when: z.string().exactOptional(),
  repeats: z.string().exactOptional(),
  asksFor: z.array(z.string()).readonly(),
  promptBytes: count.exactOptional(),
  /** The template or feature that put it in. */
  origin: z.string().exactOptional(),
});
export type StepData = z.infer<typeof step>;

/** What the names in `when` and `repeats` stand for. */
const conditions = z.array(z.strictObject({ id: z.string(), when: z.string() })).readonly();

const size = z.strictObject({
  steps: count,
  loops: count,
  conditional: count,
  promptBytes: z.strictObject({ median: count, max: count, total: count }),
});

const workflowShowData = z.strictObject({
  ...listed.shape,
  hash: z.string(),
  version: z.string().exactOptional(),
  about: z.string().exactOptional(),
  examples: z.array(z.string()).readonly(),
  size,
  steps: z.array(step).readonly(),
  conditions,
});
export type WorkflowShowData = z.infer<typeof workflowShowData>;

/** What `workrail workflow show --json` prints. */
export const workflowShowShape = commandShape('workflow show', workflowShowData);

const workflowPreviewData = z.strictObject({
  id: z.string(),
  hash: z.string(),
  steps: z.array(step).readonly(),
  conditions,
  /** The step that was asked for, as an agent reads it; tokens are stand-ins. */
  step: z
    .strictObject({
      stepId: z.string(),
      text: z.string(),
      bytes: count,
      /** Conditions by which it would be passed over in this context. */
      failing: z.array(z.string()).readonly(),
    })
    .exactOptional(),
});
export type WorkflowPreviewData = z.infer<typeof workflowPreviewData>;

/** What `workrail workflow preview --json` prints. */
export const workflowPreviewShape = commandShape('workflow preview', workflowPreviewData);
