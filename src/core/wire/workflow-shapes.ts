import * as z from 'zod';
import { jsonObjectSchema, jsonValueSchema } from '../log/document-schema.ts';
import { WORKFLOW_SOURCE_KINDS } from '../log/events/run-events.ts';
import { RunId, SessionId } from '../log/ids.ts';
import { RENDERER_HINTS } from '../workflow/builtins/contract.ts';
import { count, moment, stateShape } from './list-shapes.ts';

/** What the sessions here know of a workflow. */
const useShape = z.strictObject({
  runs: count,
  /** Of these, how many are finished, and how many of the others are still open. */
  done: count,
  open: count,
  /** From start to end of the finished runs that have a session of their own. */
  medianMs: count.exactOptional(),
  /** The step that blocks most attempts of the open runs. */
  mostBlocked: z.strictObject({ title: z.string(), attempts: count }).exactOptional(),
});

const listed = z.strictObject({
  id: z.string(),
  kind: z.enum(['workflow', 'routine']),
  name: z.string(),
  description: z.string(),
  tags: z.array(z.string()).readonly(),
  source: z.enum(WORKFLOW_SOURCE_KINDS),
  /** The source it comes from, by the name in `workrail source list`. */
  added: z
    .strictObject({ name: z.string(), kind: z.enum(['git', 'folder', 'package']), commit: z.string().exactOptional() })
    .exactOptional(),
  path: z.string(),
  /** Files with the same id that this one overrides. */
  shadows: z.array(z.string()).readonly(),
  warnings: count,
  /** The new id proposed for an old-style id. */
  suggestedId: z.string().exactOptional(),
  /** With --use: the version that its file states, its steps, and its runs. */
  version: z.string().exactOptional(),
  steps: count.exactOptional(),
  use: useShape.exactOptional(),
});
export type ListedData = z.infer<typeof listed>;

export const workflowListData = z.strictObject({
  workflows: z.array(listed).readonly(),
  invalid: z
    .array(z.strictObject({ path: z.string(), id: z.string().exactOptional(), errors: count, first: z.string() }))
    .readonly(),
  /** The sources that nobody accepted on this machine, so that their workflows are not listed. */
  waiting: z.array(z.string()).readonly().exactOptional(),
});
export type WorkflowListData = z.infer<typeof workflowListData>;

export const outlineStepShape = z.strictObject({
  kind: z.enum(['step', 'loop']),
  id: z.string(),
  title: z.string(),
  /** How many loops it is in. */
  depth: count,
  when: z.string().exactOptional(),
  repeats: z.string().exactOptional(),
  asksFor: z.array(z.string()).readonly(),
  promptBytes: count.exactOptional(),
  /** The template or feature that added it. */
  origin: z.string().exactOptional(),
});

/** What the names in `when` and `repeats` mean. */
export const conditionsShape = z.array(z.strictObject({ id: z.string(), when: z.string() })).readonly();

const size = z.strictObject({
  steps: count,
  loops: count,
  conditional: count,
  promptBytes: z.strictObject({ median: count, max: count, total: count }),
});

/** A piece of text that agents read, and what put it there. A piece without `from` is the author's. */
const pieceShape = z.strictObject({
  text: z.string(),
  from: z
    .strictObject({ kind: z.enum(['template', 'feature', 'ref', 'project_binding']), id: z.string() })
    .exactOptional(),
});

/** What a run that is started now is pinned to. */
const compiledShape = z.strictObject({
  /** Names the compiled workflow: the digest of all of its bytes. */
  hash: z.string(),
  bytes: count,
  /** The digest of everything it was made from, by which a change of the files is noticed. */
  sourceHash: z.string(),
  inputs: z.array(
    z.strictObject({ kind: z.enum(['workflow', 'routine', 'project_binding']), name: z.string(), digest: z.string() }),
  ),
  /** Rules of the whole workflow. */
  rules: z.array(pieceShape),
  steps: z.array(
    z.strictObject({
      id: z.string(),
      title: z.string(),
      /** The prompt and its guidance, in the order in which they are read. */
      pieces: z.array(pieceShape),
      /** The commands that its checks run, with the grade that each needs at least. */
      checks: z.array(z.strictObject({ id: z.string(), command: z.string(), minimum: z.string() })).exactOptional(),
    }),
  ),
  contracts: z.array(
    z.strictObject({
      contractRef: z.string(),
      artifactKind: z.string(),
      guidance: z.string(),
      schema: jsonObjectSchema,
      example: jsonObjectSchema,
      /** The steps that ask for it. */
      steps: z.array(z.string()),
    }),
  ),
});
export type CompiledData = z.infer<typeof compiledShape>;
export type PieceData = z.infer<typeof pieceShape>;

export const workflowShowData = z.strictObject({
  ...listed.omit({ steps: true }).shape,
  hash: z.string(),
  about: z.string().exactOptional(),
  examples: z.array(z.string()).readonly(),
  size,
  steps: z.array(outlineStepShape).readonly(),
  conditions: conditionsShape,
  /** With --compiled: the text of the file, what the compiler says about it, and what runs are pinned to. */
  text: z.string().exactOptional(),
  findings: z
    .array(z.strictObject({ line: count, column: count, code: z.string(), message: z.string() }))
    .exactOptional(),
  compiled: compiledShape.exactOptional(),
});
export type WorkflowShowData = z.infer<typeof workflowShowData>;

/** The runs of a workflow, by the version that they are pinned to. */
export const workflowUsesData = z.strictObject({
  id: z.string(),
  /** What a run that is started now is pinned to; absent if there is no such workflow now. */
  hash: z.string().exactOptional(),
  /** The version that was used last comes first. */
  versions: z.array(
    z.strictObject({
      hash: z.string(),
      /**
       * Whether the files are still what this version was made from. `compiler`: they are, and a newer compiler makes
       * something else of them. `unknown`: its runs did not note it, or cannot be read.
       */
      drift: z.enum(['current', 'compiler', 'changed', 'gone', 'unknown']),
      runs: z.array(
        z.strictObject({
          sessionId: SessionId.schema,
          shortId: z.string(),
          runId: RunId.schema,
          tag: z.string(),
          title: z.string(),
          state: stateShape,
          startedAt: moment.exactOptional(),
        }),
      ),
    }),
  ),
});
export type WorkflowUsesData = z.infer<typeof workflowUsesData>;

const side = z.strictObject({ label: z.string(), workflowId: z.string(), hash: z.string() });

export const workflowDiffData = z.strictObject({
  before: side,
  after: side,
  isSame: z.boolean(),
  isReordered: z.boolean(),
  parts: z
    .array(
      z.strictObject({
        part: z.enum(['step', 'loop', 'workflow']),
        id: z.string(),
        kind: z.enum(['added', 'removed', 'changed']),
        /** A side that lacks the field has no value. */
        changes: z
          .array(
            z.strictObject({
              field: z.string(),
              before: jsonValueSchema.exactOptional(),
              after: jsonValueSchema.exactOptional(),
            }),
          )
          .readonly(),
      }),
    )
    .readonly(),
});
export type WorkflowDiffData = z.infer<typeof workflowDiffData>;

/** What a workflow file can refer to by name. */
export const builtinsData = z.strictObject({
  builtins: z.array(
    z.strictObject({
      kind: z.enum(['contract', 'feature', 'ref', 'template', 'routine', 'capability']),
      id: z.string(),
      purpose: z.string(),
      /** What the agent reads because of it. */
      text: z.string().exactOptional(),
      parameters: z
        .array(
          z.strictObject({
            name: z.string(),
            purpose: z.string(),
            values: z.array(z.string()).readonly().exactOptional(),
          }),
        )
        .exactOptional(),
      schema: jsonObjectSchema.exactOptional(),
      example: jsonObjectSchema.exactOptional(),
      /** How the console shows it. */
      rendererHint: z.enum(RENDERER_HINTS).exactOptional(),
      /** What to write in a workflow file, as JSON. */
      insert: z.string(),
      /** The workflows that use it. */
      usedBy: z.array(z.string()),
    }),
  ),
});
export type BuiltinData = z.infer<typeof builtinsData>['builtins'][number];
