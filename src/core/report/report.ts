import * as z from 'zod';
import { readableJson } from '../json/quote.ts';
import { preferencesSchema } from '../log/autonomy.ts';
import { blockerSchema, capabilitySchema, capabilityStatusSchema } from '../log/blockers.ts';
import { capabilityProvenanceSchema, DIVERGENCE_REASONS, GAP_SEVERITIES } from '../log/events/gap-events.ts';
import { OBSERVATION_KEYS, WORKFLOW_SOURCE_KINDS } from '../log/events/run-events.ts';
import { TRACE_KINDS } from '../log/events/trace-events.ts';
import { jsonValueSchema } from '../log/field-schemas.ts';
import { salvageSchema } from '../log/health.ts';
import { artifactDigestSchema, GapId, NodeId, RunId, SessionId, stepIdSchema, workflowHashSchema } from '../log/ids.ts';
import { escapedCharacter, HARMFUL_CHARACTERS } from '../text/visible-text.ts';
import { RUN_STATUSES } from '../views/run-status.ts';
import { SECRET_KINDS } from './redact/secret-kinds.ts';

export const REPORT_VERSION = 1;

const count = z.int().min(0);
/** ISO 8601 in UTC. Events of old logs may have no time. */
const time = z.string().exactOptional();

const stepSchema = z.strictObject({
  stepId: stepIdSchema,
  title: z.string(),
  /** Among all steps of the workflow, counted from 1; not there where the workflow is not known. */
  position: z.int().min(1).exactOptional(),
  /** Which round of which loop, outermost first; rounds count from 1. */
  rounds: z.array(z.strictObject({ loopId: z.string(), round: z.int().min(1) })),
});

const noteSchema = z.strictObject({
  markdown: z.string(),
  /** A later note took its place. */
  isSuperseded: z.boolean(),
});

const artifactSchema = z.strictObject({
  sha256: artifactDigestSchema,
  contentType: z.string(),
  byteLength: count,
  isSuperseded: z.boolean(),
  /** The kind that the artifact says it is. */
  kind: z.string().exactOptional(),
  /** What it holds, where that is JSON. */
  content: jsonValueSchema.exactOptional(),
});

const facts = {
  nodeId: NodeId.schema,
  parentNodeId: NodeId.schema.nullable(),
  eventIndex: count,
  /** The first line that it belongs to; later ones that went on from it share it. */
  branch: z.string(),
  at: time,
  notes: z.array(noteSchema),
  artifacts: z.array(artifactSchema),
  /** Why the engine chose as it did. */
  decisions: z.array(z.strictObject({ kind: z.enum(TRACE_KINDS), summary: z.string() })),
  divergences: z.array(z.strictObject({ reason: z.enum(DIVERGENCE_REASONS), summary: z.string() })),
  skipped: z.array(stepSchema),
  preferences: z.array(
    z.strictObject({ source: z.string(), ...preferencesSchema.shape, warnings: z.array(z.string()) }),
  ),
  capabilities: z.array(
    z.strictObject({
      capability: capabilitySchema,
      status: capabilityStatusSchema,
      how: z.enum(capabilityProvenanceSchema.options.map((option) => option.shape.kind.value)),
    }),
  ),
  /** Names only: values of the context may be anything. */
  contextKeys: z.array(z.string()),
};

const entrySchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('start'), ...facts }),
  /** A step that was done; `isFork` when it had been done before from the same place. */
  z.strictObject({ kind: z.literal('step'), ...facts, step: stepSchema.nullable(), isFork: z.boolean() }),
  z.strictObject({
    kind: z.literal('blocked_attempt'),
    ...facts,
    step: stepSchema.nullable(),
    blockers: z.array(blockerSchema.pick({ code: true, message: true, suggestedFix: true }).strict()),
  }),
  z.strictObject({ kind: z.literal('checkpoint'), ...facts, step: stepSchema.nullable() }),
]);

const branchSchema = z.strictObject({
  /** `main` is where work went on last; the others are A, B, … as they were begun. */
  name: z.string(),
  /** Where it left another line; null for the line from the start. */
  forkNodeId: NodeId.schema.nullable(),
  tipNodeId: NodeId.schema,
  isComplete: z.boolean(),
  /** The step that waits at its end. */
  waiting: stepSchema.nullable(),
  /** All that this line saw, in order: with what it shares, and with checkpoints made before it went on from them. */
  line: z.array(NodeId.schema),
});

const gapSchema = z.strictObject({
  gapId: GapId.schema,
  nodeId: NodeId.schema,
  branch: z.string(),
  at: time,
  severity: z.enum(GAP_SEVERITIES),
  category: z.string(),
  detail: z.string(),
  summary: z.string(),
  /** The step that it was left at; none where a run was only begun. */
  step: stepSchema.nullable(),
  isOpen: z.boolean(),
  /** Lines on which a later record resolves it. */
  resolvedOn: z.array(z.string()),
});

const runSchema = z.strictObject({
  runId: RunId.schema,
  tag: z.string(),
  workflow: z.strictObject({
    workflowId: z.string(),
    name: z.string(),
    hash: workflowHashSchema,
    source: z.strictObject({ kind: z.enum(WORKFLOW_SOURCE_KINDS), ref: z.string() }),
    /** How many steps it has; their positions count up to this. */
    steps: count.exactOptional(),
  }),
  goal: z.string().exactOptional(),
  status: z.enum(RUN_STATUSES),
  /** Somebody has closed it, and nothing happened in it since. */
  isClosed: z.boolean(),
  startedAt: time,
  lastAt: time,
  /** In force where work goes on. */
  preferences: preferencesSchema.strict(),
  branches: z.array(branchSchema),
  /** In the order in which they happened. */
  entries: z.array(entrySchema),
  gaps: z.array(gapSchema),
});

const timelineSchema = z.strictObject({
  eventIndex: count,
  at: time,
  runId: RunId.schema.exactOptional(),
  kind: z.string(),
  text: z.string(),
});

const sessionSchema = z.strictObject({
  sessionId: SessionId.schema,
  /** Told when it is only part of a session: what comes behind could not be trusted. */
  salvage: salvageSchema.exactOptional(),
  events: count,
  firstAt: time,
  lastAt: time,
  workspace: z.array(z.strictObject({ key: z.enum(OBSERVATION_KEYS), value: z.string(), at: time })),
  runs: z.array(runSchema),
  timeline: z.array(timelineSchema),
});

/** Sessions told for people who were not there. The same sessions give the same report, whenever it is made. */
export const reportSchema = z.strictObject({
  reportSchemaVersion: z.literal(REPORT_VERSION),
  isRedacted: z.boolean(),
  /** What was hidden, and in how many places; never the values. */
  hidden: z.array(z.strictObject({ kind: z.enum(SECRET_KINDS), count: z.int().min(1) })),
  sessions: z.array(sessionSchema).min(1),
});

export type Report = z.infer<typeof reportSchema>;
export type ReportSession = z.infer<typeof sessionSchema>;
export type ReportRun = z.infer<typeof runSchema>;
export type ReportEntry = z.infer<typeof entrySchema>;
export type ReportBranch = z.infer<typeof branchSchema>;
export type ReportGap = z.infer<typeof gapSchema>;
export type ReportStep = z.infer<typeof stepSchema>;
export type ReportArtifact = z.infer<typeof artifactSchema>;

/** A report as JSON. What is unseen or changes the direction of text is an escape, so that no screen obeys it. */
export function reportJson(report: Report): string {
  // Line breaks are our own layout: those of texts are escapes already.
  const escaped = (character: string) => (character === '\n' ? character : escapedCharacter(character));
  return `${readableJson(report).replaceAll(HARMFUL_CHARACTERS, escaped)}\n`;
}
