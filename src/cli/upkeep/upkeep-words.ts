import { err, ok, type Result } from 'neverthrow';
import type { BinRefusal, CollectRefusal, RestoreRefusal } from '../../app/ports/upkeep.ts';
import type { CloseRefusal } from '../../app/upkeep/close-runs.ts';
import type { PreferRefusal } from '../../app/upkeep/set-preferences.ts';
import type { ErrorEnvelope, Retry } from '../../core/log/error-envelope.ts';
import { andList, plural, shortList } from '../../core/text/words.ts';
import { type CommandContext, type CommandProblem, EXIT, exitCodeOf } from '../command.ts';
import type { Line } from '../output/line.ts';
import { type CommandRefusal, explainRefusal } from '../words.ts';

export type UpkeepRefusal =
  | CommandRefusal
  | CloseRefusal
  | PreferRefusal
  | BinRefusal
  | RestoreRefusal
  | CollectRefusal;

const NOT_RETRYABLE: Retry = { kind: 'not_retryable' };
const BUSY_RETRY_MS = 1_000;

/** A refusal as the command ends with it. */
export function upkeepProblem(refusal: UpkeepRefusal, dataDir: string): CommandProblem {
  const error = explainUpkeep(refusal, dataDir);
  return { error, exitCode: exitCodeOf(error.code) };
}

/** A command line that cannot be meant so. */
export function wrongUse(message: string, suggestion: string): CommandProblem {
  return { exitCode: EXIT.usage, error: { code: 'VALIDATION_ERROR', message, suggestion, retry: NOT_RETRYABLE } };
}

/** Only a person may decide this. */
function needsPerson(message: string, suggestion: string): CommandProblem {
  return { ...wrongUse(message, suggestion), exitCode: EXIT.needsPerson };
}

/** The person pressed Ctrl-C at a question. */
function brokenOff(message: string, suggestion: string): CommandProblem {
  return { ...wrongUse(message, suggestion), exitCode: EXIT.interrupted };
}

function explainUpkeep(refusal: UpkeepRefusal, dataDir: string): ErrorEnvelope {
  switch (refusal.code) {
    case 'run_unmatched':
      return {
        code: 'SESSION_NOT_FOUND',
        message: `Session ${refusal.sessionId} has no run "${refusal.asked}".`,
        suggestion: `Its runs are ${shortList(refusal.runs.map(({ tag, workflowId }) => `${tag} (${workflowId})`))}.`,
        retry: NOT_RETRYABLE,
        details: { asked: refusal.asked, tags: refusal.runs.map(({ tag }) => tag) },
      };
    case 'nothing_unfinished':
      return {
        code: 'VALIDATION_ERROR',
        message: `Nothing in session ${refusal.sessionId} goes on any more, so there is nothing to change. Nothing was written.`,
        suggestion: 'Say how it shall go when you start the next run: start_workflow takes "mode".',
        retry: NOT_RETRYABLE,
      };
    case 'other_workflow_stored':
      return {
        code: 'STORE_CORRUPT',
        message: `In ${refusal.place} lies another workflow than the run was started with.`,
        suggestion: `Put that file back into ${dataDir} from a backup. Nothing was changed.`,
        retry: NOT_RETRYABLE,
      };
    case 'not_in_bin':
      return {
        code: 'SESSION_NOT_FOUND',
        message: `Session ${refusal.sessionId} is not in the bin any more.`,
        suggestion: 'Type "workrail session delete --undo" to see what is.',
        retry: NOT_RETRYABLE,
      };
    case 'session_exists':
      return {
        code: 'VALIDATION_ERROR',
        message: `There is another session ${refusal.sessionId} by now, so the deleted one was not brought back.`,
        suggestion: `Delete that one first: workrail session delete ${refusal.sessionId}`,
        retry: NOT_RETRYABLE,
      };
    case 'safe_mode':
      return safeMode(refusal);
    case 'no_shared_locks':
      return {
        code: 'STORE_IO',
        message:
          "The system's file locks are not available here (fs-native-extensions does not load), so gc cannot tell what is being written. Nothing was removed.",
        suggestion: 'Install workrail with its optional dependencies: npm install --global workrail --include=optional',
        retry: NOT_RETRYABLE,
      };
    case 'store_busy':
      return {
        code: 'SESSION_LOCKED',
        message: `Sessions are being written all the time, by ${refusal.holder ?? 'other processes'}. ${removedSoFar(refusal)}`,
        suggestion: 'Wait a moment and type the command again.',
        retry: { kind: 'retryable_after_ms', afterMs: BUSY_RETRY_MS },
      };
    default: {
      const { message, ...rest } = explainRefusal(refusal, dataDir);
      return { ...rest, message: 'done' in refusal ? `${message} ${removedSoFar(refusal)}` : message };
    }
  }
}

function safeMode(refusal: Extract<CollectRefusal, { code: 'safe_mode' }>): ErrorEnvelope {
  const { sessions, binned } = refusal;
  const places = [
    ...(sessions.length === 0 ? [] : [`${plural(sessions.length, 'session')} (${shortList(sessions)})`]),
    ...(binned.length === 0 ? [] : [`${plural(binned.length, 'deleted session')} (${shortList(binned)})`]),
  ];
  return {
    code: 'STORE_CORRUPT',
    message: `${andList(places)} cannot be read whole, so nobody can say what is still needed. ${removedSoFar(refusal)}`,
    suggestion:
      sessions.length === 0
        ? 'Type "workrail gc --empty-bin" to take everything out of the bin for good.'
        : 'Type "workrail session verify" to see what is damaged, put it back from a backup, or delete the session.',
    retry: NOT_RETRYABLE,
    details: { sessionIds: [...sessions], binned: [...binned] },
  };
}

function removedSoFar({ done }: Pick<CollectRefusal, 'done'>): string {
  if (done === undefined) return 'Nothing was removed.';
  return `Before that, ${plural(done.sessions.length + done.binned.length, 'session')} and what only they needed had gone.`;
}

export type Loss = {
  /** What it is about. */
  readonly lines: readonly Line[];
  readonly question: string;
  /** The command that asks nothing. */
  readonly command: string;
};

/** Asks before something is deleted. Whoever cannot be asked must say so beforehand. */
export async function confirmLoss(
  { program, switches, progress, say }: CommandContext,
  { lines, question, command }: Loss,
): Promise<Result<void, CommandProblem>> {
  if (switches.isJson || !program.terminal.isInput() || !program.terminal.isError()) {
    return err(
      needsPerson('Deleting needs a yes, and nobody can be asked here. Nothing was deleted.', `Type: ${command}`),
    );
  }
  progress.stop();
  for (const line of lines) say(line);
  const answer = await (await program.ask()).confirm(question);
  if (answer === true) return ok(undefined);
  const advice = `To delete without being asked, type: ${command}`;
  return err(
    answer === undefined
      ? brokenOff('Broken off. Nothing was deleted.', advice)
      : needsPerson('You did not say yes. Nothing was deleted.', advice),
  );
}
