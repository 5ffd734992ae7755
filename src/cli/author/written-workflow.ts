import { err, ok, type Result } from 'neverthrow';
import type { MigrateRefusal } from '../../app/author/migrate-id.ts';
import type { CopyRefusal } from '../../app/bench/write/copy-workflow.ts';
import type { Destination, PlaceRefusal } from '../../app/bench/write/place-for.ts';
import { shellWord } from '../../core/text/shell-word.ts';
import type { CommandProblem } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
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
