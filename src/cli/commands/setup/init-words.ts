import { CLIENT_IDS, type Client } from '../../../app/clients/client.ts';
import type { UndoLogTrouble } from '../../../app/machine/setup/undo-log.ts';
import { nearest } from '../../../core/text/spelling.ts';
import type { CommandProblem } from '../../command.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { plural } from '../../output/wording.ts';
import type { ClientResult } from '../../shapes/setup/init-shape.ts';

export function unknownClient(asked: string): CommandProblem {
  const meant = nearest(asked, CLIENT_IDS);
  const known = `The clients are ${CLIENT_IDS.join(', ')}.`;
  return problem(
    EXIT.usage,
    `There is no client "${asked}".`,
    meant === undefined ? known : `Did you mean ${meant}? ${known}`,
  );
}

export function contradictingOptions(): CommandProblem {
  return problem(
    EXIT.usage,
    '--client names the clients, and --all means every one that is found.',
    'Leave one of them out.',
  );
}

export function noProjectFile({ name }: Client): CommandProblem {
  return problem(
    EXIT.usage,
    `${name} has no file for a project.`,
    'Leave --project out to register it for all of your work.',
  );
}

export function nobodyFound(kept: string): CommandProblem {
  return problem(
    EXIT.notFound,
    'No agent client was found on this machine.',
    `Install one, or name one to register it all the same: workrail init --client claude-code${kept}`,
  );
}

export function nobodyToAsk(found: readonly Client[], kept: string): CommandProblem {
  return problem(
    EXIT.needsPerson,
    `Found ${found.map(({ name }) => name).join(', ')}; there is no terminal to ask which of them.`,
    `Type "workrail init --yes${kept}" for all of them, or name some: workrail init --client ${found[0]?.id ?? 'claude-code'}${kept}`,
  );
}

export function brokenOff(): CommandProblem {
  return problem(EXIT.interrupted, 'Nothing was changed.', 'Type "workrail init --dry-run" to see what would be done.');
}

export function undoTrouble(trouble: UndoLogTrouble): CommandProblem {
  const message =
    trouble.code === 'undo_log_broken'
      ? `${trouble.path}, where init notes what it changes, is not as it was written.`
      : `${trouble.path} could not be used (${trouble.cause}).`;
  return problem(EXIT.failed, message, 'The backups lie in the same folder; put them back by hand.');
}

/** Clients that were not registered, or that could not be undone. */
export function unfinished(clients: readonly ClientResult[]): CommandProblem | undefined {
  const failed = clients.filter(({ result }) => result === 'broken' || result === 'unreadable' || result === 'failed');
  const kept = clients.filter(({ result }) => result === 'kept');
  if (failed.length > 0) {
    return problem(
      EXIT.failed,
      `${plural(failed.length, 'file')} could not be changed and ${failed.length === 1 ? 'was' : 'were'} left alone: ${failed.map(({ file }) => file).join(', ')}.`,
      'Put right what is said above, then type the command again; what is done already stays as it is.',
    );
  }
  if (kept.length === 0) return undefined;
  return problem(
    EXIT.needsPerson,
    `${kept.map(({ name }) => name).join(', ')}: an entry "workrail" is there that starts something else, so it was kept.`,
    `To replace it: workrail init --client ${kept.map(({ client }) => client).join(',')} --force`,
  );
}

function problem(exitCode: ExitCode, message: string, suggestion: string): CommandProblem {
  return { exitCode, error: { code: 'VALIDATION_ERROR', message, suggestion, retry: { kind: 'not_retryable' } } };
}
