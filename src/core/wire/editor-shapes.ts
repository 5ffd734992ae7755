import * as z from 'zod';
import { personSchema } from '../author/scenario.ts';
import { autonomySchema } from '../log/autonomy.ts';
import { jsonObjectSchema } from '../log/document-schema.ts';
import { RunId, SessionId } from '../log/ids.ts';

const count = z.int().min(0);

const edit = z.strictObject({ offset: count, length: count, text: z.string() });

/** What `workflow check` reports about a place in a file. */
export const findingShape = z.strictObject({
  code: z.string(),
  severity: z.enum(['error', 'warning']),
  line: count,
  column: count,
  /** JSON pointer of the value, or of the object that lacks it. */
  pointer: z.string(),
  message: z.string(),
  hint: z.string().exactOptional(),
  /** Where the rule is explained. */
  docs: z.string().exactOptional(),
  /** What --fix would do; edits count UTF-16 code units. */
  fix: z.strictObject({ title: z.string(), edits: z.array(edit).readonly() }).exactOptional(),
});

const share = { reached: count, total: count };

const coverage = z.strictObject({
  steps: z.strictObject({ ...share, missing: z.array(z.string()).readonly() }),
  outcomes: z.strictObject({
    ...share,
    /** Conditions that never had this outcome. */
    missing: z.array(z.strictObject({ condition: z.string(), never: z.string() })).readonly(),
  }),
});

/** What `workflow test` reports about a file of scenarios. */
export const testedFileShape = z.strictObject({
  path: z.string(),
  workflowId: z.string().exactOptional(),
  /** Why its scenarios could not run. */
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

/** The most calls of one rehearsal: every call plays all that went before it. */
const REHEARSED_CALLS_MAX = 200;

/** A workflow file as it stands in the editor, with its scenarios. Nothing of it needs to be saved. */
const edited = { path: z.string().max(4_096), text: z.string(), scenarios: z.string().exactOptional() };

/** What an agent hands in at a turn of a rehearsal, and what a person answers if that waits for one. */
const handedIn = z.strictObject({
  notes: z.string().exactOptional(),
  artifacts: z.array(jsonObjectSchema).readonly(),
  context: jsonObjectSchema.exactOptional(),
  person: personSchema.exactOptional(),
});

const started = { mode: autonomySchema.exactOptional(), context: jsonObjectSchema.exactOptional() };

const STARTER_NAMES = ['blank', 'loop', 'gate'] as const;

/** What each request of the editor carries. */
export const EDITOR_INPUTS = {
  /** By its id, or by the name of its file if it has none. */
  editFile: z.strictObject({ workflow: z.string().max(4_096) }),
  checkText: z.strictObject(edited),
  /** What may be written at a place of the text, which counts UTF-16 code units. */
  suggest: z.strictObject({
    text: z.string(),
    offset: count,
    /** The text of the workflow, if the text is that of its scenarios. */
    workflow: z.string().exactOptional(),
  }),
  previewText: z.strictObject({ ...edited, ...started, step: z.string().max(512).exactOptional() }),
  rehearse: z.strictObject({
    ...edited,
    ...started,
    goal: z.string().min(1).exactOptional(),
    sent: z.array(handedIn).max(REHEARSED_CALLS_MAX).readonly(),
  }),
  testText: z.strictObject(edited),
  saveFile: z.strictObject({
    path: z.string().max(4_096),
    text: z.string(),
    /** The digest of what was opened; none if there was no such file. */
    digest: z.string().max(128).exactOptional(),
  }),
  createWorkflow: z.strictObject({
    from: z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('starter'), starter: z.enum(STARTER_NAMES) }),
      z.strictObject({ kind: z.literal('copy'), workflow: z.string().max(4_096) }),
      z.strictObject({ kind: z.literal('run'), sessionId: SessionId.schema, runId: RunId.schema.exactOptional() }),
    ]),
    id: z.string().max(256),
    name: z.string().max(256).exactOptional(),
    description: z.string().max(1_024).exactOptional(),
    to: z.enum(['project', 'user']),
  }),
};

/** A text of a file, and the digest by which a change on disk is noticed. */
const openedText = { path: z.string(), text: z.string().exactOptional(), digest: z.string().exactOptional() };

const turn = z.strictObject({
  /** None before the first step and after the last. */
  stepId: z.string().exactOptional(),
  title: z.string(),
  index: count.exactOptional(),
  of: count.exactOptional(),
  kind: z.enum(['due', 'blocked', 'complete']),
  /** What the agent reads. */
  text: z.string(),
  blockers: z
    .array(z.strictObject({ code: z.string(), message: z.string(), suggestedFix: z.string().exactOptional() }))
    .readonly(),
});

const form = handedIn.omit({ person: true });

/** What each request of the editor is answered with. */
export const EDITOR_REPLIES = {
  editFile: z.strictObject({
    ...openedText,
    workflowId: z.string().exactOptional(),
    /** With the words why the file is there, but cannot be read as text and so not be changed here. */
    scenarios: z.strictObject({ ...openedText, unread: z.string().exactOptional() }),
    /** Why it cannot be changed here; absent if it can. */
    readOnly: z.enum(['bundled', 'added_source', 'outside', 'unreadable']).exactOptional(),
  }),
  /** What a new workflow can be made from, and where it can be written. */
  newWorkflow: z.strictObject({
    starters: z.array(z.strictObject({ name: z.enum(STARTER_NAMES), summary: z.string() })).readonly(),
    workflows: z.array(z.strictObject({ id: z.string(), name: z.string() })).readonly(),
    folders: z.strictObject({ project: z.string(), user: z.string() }),
  }),
  checkText: z.strictObject({
    findings: z.array(findingShape).readonly(),
    scenarioFindings: z.array(findingShape).readonly(),
  }),
  suggest: z.strictObject({
    /** Where the word begins that a suggestion replaces. */
    from: count,
    to: count,
    options: z
      .array(z.strictObject({ label: z.string(), insert: z.string(), says: z.string(), isNeeded: z.boolean() }))
      .readonly(),
    /** The field at this place. */
    field: z.strictObject({ name: z.string(), says: z.string(), accepts: z.string() }).exactOptional(),
  }),
  previewText: z.strictObject({
    steps: z.array(z.strictObject({ stepId: z.string(), title: z.string() })).readonly(),
    stepId: z.string(),
    /** What the agent reads, with placeholders for tokens. */
    text: z.string(),
    bytes: count,
    /** Conditions that would skip the step with these values. */
    failing: z.array(z.string()).readonly(),
    /** Names of context values that the workflow reads. */
    contextKeys: z.array(z.string()).readonly(),
  }),
  rehearse: z.strictObject({
    turns: z.array(turn).readonly(),
    /** What the last turn asks for: with its blanks, and filled in with samples. */
    form: form.exactOptional(),
    sample: form.exactOptional(),
    /** Whether only a person's answer is missing. */
    waitsForPerson: z.boolean(),
    isComplete: z.boolean(),
    /** Why it cannot continue, in words. */
    stuck: z.string().exactOptional(),
    path: z.array(z.string()).readonly(),
    skipped: z.array(z.string()).readonly(),
    gaps: z.array(z.string()).readonly(),
  }),
  testText: testedFileShape,
  saveFile: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('saved'), digest: z.string() }),
    /** The file is no longer what was opened. Nothing was written. Without a text, it was deleted. */
    z.strictObject({
      kind: z.literal('changed'),
      text: z.string().exactOptional(),
      digest: z.string().exactOptional(),
    }),
  ]),
  createWorkflow: z.strictObject({ id: z.string(), path: z.string() }),
};

export type RehearsedTurn = z.output<typeof turn>;
export type RehearsedCall = z.output<typeof handedIn>;
export type Finding = z.output<typeof findingShape>;

/** A request for a new workflow, as it was read. */
export type NewRequest = z.output<typeof EDITOR_INPUTS.createWorkflow>;
