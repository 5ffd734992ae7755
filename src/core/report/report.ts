import * as z from 'zod';
import { readableJson } from '../json/json-value.ts';
import { gradeSchema, preferencesSchema } from '../log/autonomy.ts';
import { blockerSchema, capabilitySchema, capabilityStatusSchema } from '../log/blockers.ts';
import { jsonValueSchema } from '../log/document-schema.ts';
import { capabilityProvenanceSchema, GAP_SEVERITIES } from '../log/events/gap-events.ts';
import { TRACE_KINDS } from '../log/events/graph-events.ts';
import { OBSERVATION_KEYS, WORKFLOW_SOURCE_KINDS } from '../log/events/run-events.ts';
import { salvageSchema } from '../log/health.ts';
import { artifactDigestSchema, GapId, NodeId, RunId, SessionId, stepIdSchema, workflowHashSchema } from '../log/ids.ts';
import { signatureStateSchema } from '../log/log-signatures.ts';
import { shownOriginSchema } from '../log/origin.ts';
import { DIVERGENCE_REASONS } from '../log/reasons.ts';
import { escapedCharacter, harmfulCharacters } from '../text/visible-text.ts';
import { PREFERENCE_SETTERS } from '../views/node-facts.ts';
import { RUN_STATUSES } from '../views/run-status.ts';
import { SECRET_KINDS } from './redact/secret-kinds.ts';

export const REPORT_VERSION = 1;

const count = z.int().min(0);
/** ISO 8601 in UTC. Events of old logs may have no time. */
const time = z.string().exactOptional();

export const reportStepSchema = z.strictObject({
  stepId: stepIdSchema,
  title: z.string(),
  /** Position in the workflow, from 1; absent if the workflow is unknown. */
  position: z.int().min(1).exactOptional(),
  /** The round of each loop around the step, outermost first; rounds count from 1. */
  rounds: z.array(
    z.strictObject({
      loopId: z.string(),
      round: z.int().min(1),
      /** What the round is about, and the list it is from. */
      item: z.strictObject({ name: z.string(), value: jsonValueSchema }).exactOptional(),
    }),
  ),
});

const noteSchema = z.strictObject({
  markdown: z.string(),
  /** A later note replaced it. */
  isSuperseded: z.boolean(),
});

const artifactSchema = z.strictObject({
  sha256: artifactDigestSchema,
  contentType: z.string(),
  byteLength: count,
  isSuperseded: z.boolean(),
  /** The `kind` field of the artifact. */
  kind: z.string().exactOptional(),
  /** The content of an artifact that is JSON. */
  content: jsonValueSchema.exactOptional(),
});

const facts = {
  nodeId: NodeId.schema,
  parentNodeId: NodeId.schema.nullable(),
  eventIndex: count,
  /** The branch that it belongs to; branches that begin later may share it. */
  branch: z.string(),
  at: time,
  notes: z.array(noteSchema),
  artifacts: z.array(artifactSchema),
  /** Why the engine decided as it did. */
  decisions: z.array(z.strictObject({ kind: z.enum(TRACE_KINDS), summary: z.string() })),
  divergences: z.array(z.strictObject({ reason: z.enum(DIVERGENCE_REASONS), summary: z.string() })),
  /** The checks of a step that was done, each with how well it was known to have passed. */
  checks: z
    .array(
      z.strictObject({
        checkId: z.string(),
        minimum: gradeSchema,
        grade: gradeSchema.exactOptional(),
        /** What the newest run of its command showed. */
        run: z.string().exactOptional(),
        /** That command, as it was run. */
        command: z.string().exactOptional(),
      }),
    )
    .exactOptional(),
  /** What people answered about drafts of this step, oldest first. */
  answers: z.array(z.string()).exactOptional(),
  skipped: z.array(
    reportStepSchema.extend({
      /** When it runs, where a condition decides that. */
      why: z.string().exactOptional(),
      /** How many steps were skipped, if it is not one: a loop has several. */
      steps: z.int().exactOptional(),
    }),
  ),
  preferences: z.array(
    z.strictObject({
      source: z.string(),
      /** Who set them, judged by how the call came. */
      setBy: z.enum(PREFERENCE_SETTERS),
      ...preferencesSchema.shape,
      warnings: z.array(z.string()),
    }),
  ),
  capabilities: z.array(
    z.strictObject({
      capability: capabilitySchema,
      status: capabilityStatusSchema,
      how: z.enum(capabilityProvenanceSchema.options.map((option) => option.shape.kind.value)),
    }),
  ),
  contextKeys: z.array(z.string()),
  /** The values of these keys; null where a key was removed. A long value is cut and is then a text. */
  contextValues: z.record(z.string(), jsonValueSchema).exactOptional(),
};

export const reportEntrySchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('start'), ...facts }),
  /** A step that was done; `isFork` if it had already been done from the same node. */
  z.strictObject({ kind: z.literal('step'), ...facts, step: reportStepSchema.nullable(), isFork: z.boolean() }),
  z.strictObject({
    kind: z.literal('blocked_attempt'),
    ...facts,
    step: reportStepSchema.nullable(),
    blockers: z.array(blockerSchema.pick({ code: true, message: true, suggestedFix: true }).strict()),
  }),
  z.strictObject({ kind: z.literal('checkpoint'), ...facts, step: reportStepSchema.nullable() }),
]);

const branchSchema = z.strictObject({
  /** `main` is the first branch; the others are A, B, … in the order they began. A branch keeps its name. */
  name: z.string(),
  /** Whether work goes on here; only one branch has it. */
  isCurrent: z.literal(true).exactOptional(),
  /** The node where it leaves another branch; null for the one from the start. */
  forkNodeId: NodeId.schema.nullable(),
  tipNodeId: NodeId.schema,
  isComplete: z.boolean(),
  /** The step that is due at its end. */
  waiting: reportStepSchema.nullable(),
  /** All nodes that this branch saw, in order: shared ones too, and checkpoints that were made before it continued. */
  line: z.array(NodeId.schema),
});

export const reportGapSchema = z.strictObject({
  gapId: GapId.schema,
  nodeId: NodeId.schema,
  branch: z.string(),
  at: time,
  severity: z.enum(GAP_SEVERITIES),
  category: z.string(),
  detail: z.string(),
  summary: z.string(),
  /** The step that has the gap; null if the run was only started. */
  step: reportStepSchema.nullable(),
  isOpen: z.boolean(),
  /** Branches on which a later record resolves it. */
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
    /** Present if an imported run only claims to use a bundled workflow. */
    isFalselyBundled: z.literal(true).exactOptional(),
    /** The number of steps. */
    steps: count.exactOptional(),
  }),
  goal: z.string().exactOptional(),
  status: z.enum(RUN_STATUSES),
  /** A user closed the run, and nothing happened in it since. */
  isClosed: z.boolean(),
  startedAt: time,
  lastAt: time,
  /** The preferences at the end of the branch where work goes on. */
  preferences: preferencesSchema.strict(),
  /** Who set the mode; absent where nothing is recorded. */
  setBy: z.enum(PREFERENCE_SETTERS).exactOptional(),
  branches: z.array(branchSchema),
  /** In the order in which they happened. */
  entries: z.array(reportEntrySchema),
  gaps: z.array(reportGapSchema),
});

const timelineSchema = z.strictObject({
  eventIndex: count,
  at: time,
  runId: RunId.schema.exactOptional(),
  kind: z.string(),
  text: z.string(),
});

export const reportSessionSchema = z.strictObject({
  sessionId: SessionId.schema,
  /** Present if this is only the verified part of a damaged session. */
  salvage: salvageSchema.exactOptional(),
  /** Absent for a session that was started where the report was made. */
  origin: shownOriginSchema.exactOptional(),
  /** What the signatures of the log show, and which approvals are signed; absent where they were not checked. */
  signature: z
    .strictObject({
      log: signatureStateSchema,
      /** The chain value after the last record, in 64 hex digits: it fixes everything before it. */
      head: z.string().exactOptional(),
      /** Approvals and other answers of people, oldest first. */
      approvals: z.array(
        z.strictObject({ eventIndex: count, statement: z.string(), signedBy: z.string().exactOptional() }),
      ),
    })
    .exactOptional(),
  events: count,
  /** The name in the git settings, as claimed. */
  author: z.string().exactOptional(),
  firstAt: time,
  lastAt: time,
  workspace: z.array(z.strictObject({ key: z.enum(OBSERVATION_KEYS), value: z.string(), at: time })),
  runs: z.array(runSchema),
  timeline: z.array(timelineSchema),
});

/** A report of sessions. The same sessions always give the same report. */
export const reportSchema = z.strictObject({
  reportSchemaVersion: z.literal(REPORT_VERSION),
  isRedacted: z.boolean(),
  /** What was hidden and how often, never the values. */
  hidden: z.array(z.strictObject({ kind: z.enum(SECRET_KINDS), count: z.int().min(1) })),
  sessions: z.array(reportSessionSchema).min(1),
});

export type Report = z.infer<typeof reportSchema>;
export type ReportSession = z.infer<typeof reportSessionSchema>;
export type ReportRun = z.infer<typeof runSchema>;
export type ReportEntry = z.infer<typeof reportEntrySchema>;
export type ReportBranch = z.infer<typeof branchSchema>;
export type ReportGap = z.infer<typeof reportGapSchema>;
export type ReportStep = z.infer<typeof reportStepSchema>;
export type ReportArtifact = z.infer<typeof artifactSchema>;

/** A report as JSON. Characters that are invisible or change the direction of text are escaped. */
export function reportJson(report: Report): string {
  // Line breaks are part of the layout; those in texts are already escaped.
  const escaped = (character: string) => (character === '\n' ? character : escapedCharacter(character));
  return `${readableJson(report).replaceAll(harmfulCharacters(), escaped)}\n`;
}
