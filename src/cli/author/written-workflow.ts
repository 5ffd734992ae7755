import { err, ok, type Result } from 'neverthrow';
import * as z from 'zod';
import type { MigrateRefusal } from '../../app/author/migrate-id.ts';
import type { CopyRefusal, Destination, PlaceRefusal } from '../../app/author/new-workflow.ts';
import { jsonValueSchema } from '../../core/log/field-schemas.ts';
import { shellWord } from '../../core/text/words.ts';
import { type CommandProblem, EXIT } from '../command.ts';
import { commandShape } from '../command-shape.ts';
import { benchProblem, problem, wrongUse } from './workflow-words.ts';

export function writeProblem(refusal: PlaceRefusal | CopyRefusal | MigrateRefusal): CommandProblem {
  switch (refusal.code) {
    case 'id_legacy':
      return wrongUse(
        `"${refusal.id}" has no namespace; no workflow is written under such an id any more.`,
        `Put a namespace before it, like team.${refusal.id.replace(/^[^a-z]+/, '')}`,
      );
    case 'id_reserved':
      return wrongUse(
        `"${refusal.id}" begins with "wr.", which belongs to the bundled workflows.`,
        `Choose a namespace of your own, like team.${refusal.id.slice('wr.'.length)}`,
      );
    case 'id_malformed':
      return wrongUse(
        `"${refusal.id}" cannot be an id.`,
        'Type namespace.name, each of lower-case letters, digits, "_" and "-", and beginning with a letter.',
      );
    case 'id_taken':
      return problem(EXIT.failed, {
        code: 'VALIDATION_ERROR',
        message: `There is a workflow "${refusal.id}" already, in ${refusal.path}.`,
        suggestion: 'Choose another id.',
      });
    case 'not_editable':
      return problem(EXIT.failed, {
        code: 'VALIDATION_ERROR',
        message: `"${refusal.id}" is not yours to change: it lies in ${refusal.path}.`,
        suggestion: `Make a copy under an id of your own: workrail workflow copy ${shellWord(refusal.id)}`,
      });
    default:
      return benchProblem(refusal);
  }
}

/** Where a workflow is to be written. */
export function readDestination(option: unknown): Result<Destination, CommandProblem> {
  if (option === undefined) return ok('project');
  if (option === 'project' || option === 'user') return ok(option);
  return err(wrongUse(`--to is "${String(option)}".`, 'It may be project (this folder) or user (everywhere).'));
}

const workflowNewData = z.strictObject({
  id: z.string(),
  starter: z.string(),
  path: z.string(),
  scenarios: z.string(),
});
export type WorkflowNewData = z.infer<typeof workflowNewData>;

/** What `workrail workflow new --json` prints. */
export const workflowNewShape = commandShape('workflow new', workflowNewData);

const workflowCopyData = z.strictObject({
  id: z.string(),
  from: z.string(),
  path: z.string(),
  /** The file of scenarios that went along. */
  scenarios: z.string().exactOptional(),
  /** Documents that are looked for beside the original only. */
  lostReferences: z.array(z.string()).readonly(),
});
export type WorkflowCopyData = z.infer<typeof workflowCopyData>;

/** What `workrail workflow copy --json` prints. */
export const workflowCopyShape = commandShape('workflow copy', workflowCopyData);

const workflowMigrateIdData = z.strictObject({
  oldId: z.string(),
  newId: z.string(),
  isDryRun: z.boolean(),
  files: z
    .array(
      z.strictObject({
        path: z.string(),
        movedTo: z.string().exactOptional(),
        /** The values that were changed. */
        pointers: z.array(z.string()).readonly(),
      }),
    )
    .readonly(),
});
export type WorkflowMigrateIdData = z.infer<typeof workflowMigrateIdData>;

/** What `workrail workflow migrate-id --json` prints. */
export const workflowMigrateIdShape = commandShape('workflow migrate-id', workflowMigrateIdData);

const side = z.strictObject({ label: z.string(), workflowId: z.string(), hash: z.string() });

const workflowDiffData = z.strictObject({
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
        /** What one side does not have is left out. */
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

/** What `workrail workflow diff --json` prints. */
export const workflowDiffShape = commandShape('workflow diff', workflowDiffData);
