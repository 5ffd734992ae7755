import * as z from 'zod';
import { preferencesSchema } from '../log/autonomy.ts';
import { jsonObjectSchema, jsonValueSchema } from '../log/document-schema.ts';
import { NodeId, RunId } from '../log/ids.ts';
import { reportEntrySchema, reportGapSchema } from '../report/report.ts';
import { PREFERENCE_SETTERS } from '../views/node-facts.ts';
import { RENDERER_HINTS } from '../workflow/builtins/contract.ts';
import { count, moment } from './list-shapes.ts';

/** What a step is marked with in the list of steps. */
export const STEP_BADGES = [
  /** The agent departed from the instructions. */
  'departed',
  /** The mode changed here. */
  'mode',
  /** A capability that the workflow prefers was missing. */
  'capability',
  /** A person answered. */
  'answered',
  /** Every check was seen to pass. */
  'proven',
  /** A check is known less well than it must be. */
  'unproven',
  /** The step was done before from the same place. */
  'again',
] as const;

/** An attempt that was blocked, or a checkpoint: both belong to the step they were made at. */
const hungShape = z.strictObject({
  nodeId: NodeId.schema,
  kind: z.enum(['blocked_attempt', 'checkpoint']),
  at: moment.exactOptional(),
  /** What blocked the attempt. */
  codes: z.array(z.string()).exactOptional(),
});

const stepShape = z.strictObject({
  /** The node where the step is due. The next step of the line has the node that was made when it was done. */
  nodeId: NodeId.schema,
  /** Absent where no step is due, and where the data is missing or damaged. */
  stepId: z.string().exactOptional(),
  title: z.string(),
  /** Counted along the line, from 1. */
  number: count.exactOptional(),
  /** The round of each loop around the step, outermost first; rounds count from 1. */
  rounds: z.array(z.strictObject({ loopId: z.string(), round: count })).exactOptional(),
  state: z.enum(['done', 'due', 'blocked', 'complete']),
  /** It ends when the next one of the line starts. */
  startedAt: moment.exactOptional(),
  hung: z.array(hungShape).exactOptional(),
  /** Steps that were skipped right before this one, each with the reason in words. */
  skipped: z.array(z.strictObject({ title: z.string(), why: z.string().exactOptional() })).exactOptional(),
  badges: z.array(z.enum(STEP_BADGES)).exactOptional(),
  /** Gaps that it opened and that are still open. */
  openGaps: count.exactOptional(),
});

/** A path through a run, from its start or from the step where it leaves another line. That step is on both. */
const lineShape = z.strictObject({
  /** `main` for the first line, and A, B, … for the later ones. A line keeps its name. */
  name: z.string(),
  /** The line that it leaves. */
  from: z.string().exactOptional(),
  isCurrent: z.boolean(),
  leftAt: moment.exactOptional(),
  steps: z.array(stepShape),
});

/** The steps of a run without what was handed in. */
export const runPageShape = z.strictObject({
  runId: RunId.schema,
  lines: z.array(lineShape),
  /** The titles of loops, by id. */
  loops: z.record(z.string(), z.string()),
  /** The steps that come after the one that is due, as far as the workflow says. */
  plan: z.array(z.string()),
  /** What a preferred capability would have added; each with the step that did without it. */
  lacking: z.array(z.strictObject({ nodeId: NodeId.schema, title: z.string(), summary: z.string() })),
  preferences: z.strictObject({
    ...preferencesSchema.shape,
    setBy: z.enum(PREFERENCE_SETTERS).exactOptional(),
    /** The step from which on they apply. */
    since: z.strictObject({ title: z.string(), number: count.exactOptional() }).exactOptional(),
    /** They were changed at the step that is due, and the agent has made no attempt since. */
    isPending: z.boolean(),
    recommended: preferencesSchema.partial(),
  }),
});

/** A value of context, and who set it where. */
const contextShape = z.strictObject({
  key: z.string(),
  value: jsonValueSchema,
  by: z.enum(['agent', 'person', 'start']),
  /** The step that it was handed in with; absent for the start of the run. */
  at: z.strictObject({ title: z.string(), number: count.exactOptional() }).exactOptional(),
  /** It was set or changed by this step. */
  isHere: z.boolean(),
});

/** Everything about one step of a line. */
export const stepPageShape = z.strictObject({
  /** What the step handed in when it was done. */
  entry: reportEntrySchema.exactOptional(),
  /** Attempts that were blocked and checkpoints, oldest first. */
  hung: z.array(reportEntrySchema),
  /** What the run was started with, at its first step. */
  start: reportEntrySchema.exactOptional(),
  context: z.array(contextShape),
  gaps: z.array(reportGapSchema),
  /** How artifacts of each kind are shown. A kind without a contract is not here. */
  renderers: z.record(
    z.string(),
    /** `order`: the names of its fields, also inside of others, as the contract has them. */
    z.strictObject({ hint: z.enum(RENDERER_HINTS), order: z.array(z.string()) }),
  ),
  /** The commit that was checked out when the step began. */
  commit: z.string().exactOptional(),
});

/** The notes of a whole line, as a window. */
export const lineNotesShape = z.strictObject({
  /** How many places with notes the line has. */
  total: count,
  from: count,
  notes: z.array(
    z.strictObject({
      /** The node where the step was due. */
      nodeId: NodeId.schema,
      kind: z.enum(['step', 'checkpoint']),
      title: z.string(),
      number: count.exactOptional(),
      at: moment.exactOptional(),
      notes: z.array(z.strictObject({ markdown: z.string(), isSuperseded: z.boolean() })),
    }),
  ),
});

/** Whether the file of a run's workflow is still what the run was started with. */
export const driftShape = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.enum(['same', 'unknown', 'gone']) }),
  z.strictObject({
    kind: z.literal('changed'),
    /** What is different now, step by step. */
    changes: z.array(
      z.strictObject({
        part: z.enum(['step', 'loop', 'workflow']),
        id: z.string(),
        kind: z.enum(['added', 'removed', 'changed']),
        fields: z.array(z.string()),
      }),
    ),
    isReordered: z.boolean(),
  }),
]);

export const rawShape = z.strictObject({ events: z.array(jsonObjectSchema) });

export type RunPageData = z.output<typeof runPageShape>;
export type RunLineData = RunPageData['lines'][number];
export type RunStepData = RunLineData['steps'][number];
export type StepBadge = (typeof STEP_BADGES)[number];
export type StepPageData = z.output<typeof stepPageShape>;
export type LineNotesData = z.output<typeof lineNotesShape>;
