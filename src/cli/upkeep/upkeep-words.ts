import { err, ok, type Result } from 'neverthrow';
import type { BinRefusal, CollectRefusal, RestoreRefusal } from '../../app/ports/upkeep.ts';
import type { CloseRefusal } from '../../app/upkeep/close-runs.ts';
import type { PreferRefusal } from '../../app/upkeep/set-preferences.ts';
import type { ErrorEnvelope } from '../../core/log/error-envelope.ts';
import { plural, shortList } from '../../core/text/words.ts';
import type { CommandContext } from '../command.ts';
import type { Line } from '../output/line.ts';
import { type CommandProblem, EXIT, errorProblem, errorWords, problem } from '../problem.ts';
import { type CommandRefusal, explainRefusal } from '../words.ts';

export type UpkeepRefusal =
  | CommandRefusal
  | CloseRefusal
  | PreferRefusal
  | BinRefusal
  | RestoreRefusal
  | CollectRefusal;

const BUSY_RETRY_MS = 1_000;

export function upkeepProblem(refusal: UpkeepRefusal, dataDir: string): CommandProblem {
  return errorProblem(explainUpkeep(refusal, dataDir));
}

function explainUpkeep(refusal: UpkeepRefusal, dataDir: string): ErrorEnvelope {
  switch (refusal.code) {
    case 'run_unmatched':
      return {
        ...errorWords(
          'SESSION_NOT_FOUND',
          `Session ${refusal.sessionId} has no run "${refusal.asked}".`,
          `Its runs are ${shortList(refusal.runs.map(({ tag, workflowId }) => `${tag} (${workflowId})`))}.`,
        ),
        details: { asked: refusal.asked, tags: refusal.runs.map(({ tag }) => tag) },
      };
    case 'nothing_unfinished':
      return errorWords(
        'VALIDATION_ERROR',
        `Session ${refusal.sessionId} has no unfinished run. Nothing was changed.`,
        'Choose the mode when you start the next run: start_workflow takes "mode".',
      );
    case 'other_workflow_stored':
      return errorWords(
        'STORE_CORRUPT',
        `${refusal.place} holds a different workflow from the one the run was started with.`,
        `Restore that file in ${dataDir} from a backup. Nothing was changed.`,
      );
    case 'not_in_bin':
      return errorWords(
        'SESSION_NOT_FOUND',
        `Session ${refusal.sessionId} is no longer in the bin.`,
        'Run "workrail session delete --undo" to see what is in the bin.',
      );
    case 'session_exists':
      return errorWords(
        'VALIDATION_ERROR',
        `Session ${refusal.sessionId} exists again, so the deleted one was not restored.`,
        `Delete the existing one first: workrail session delete ${refusal.sessionId}`,
      );
    case 'safe_mode':
      return safeMode(refusal);
    case 'no_shared_locks':
      return errorWords(
        'STORE_IO',
        'gc needs native file locks, and fs-native-extensions cannot be loaded here. Nothing was removed.',
        'Install workrail with its optional dependencies: npm install --global workrail --include=optional',
      );
    case 'store_busy':
      return {
        ...errorWords(
          'SESSION_LOCKED',
          `Sessions are being written continuously by ${refusal.holder ?? 'other processes'}. ${removedSoFar(refusal)}`,
          'Wait a moment, then run the command again.',
        ),
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
    ...errorWords(
      'STORE_CORRUPT',
      `${places.join(' and ')} cannot be read completely, so gc cannot tell which data is still needed. ${removedSoFar(refusal)}`,
      sessions.length === 0
        ? 'Run "workrail gc --empty-bin" to delete everything in the bin for good.'
        : 'Run "workrail session verify" to see what is damaged. Then restore it from a backup, or delete the session.',
    ),
    details: { sessionIds: [...sessions], binned: [...binned] },
  };
}

function removedSoFar({ done }: Pick<CollectRefusal, 'done'>): string {
  if (done === undefined) return 'Nothing was removed.';
  const sessions = plural(done.sessions.length + done.binned.length, 'session');
  return `Before that, ${sessions} and the data only they used were removed.`;
}

type Loss = {
  /** What would be deleted. */
  readonly lines: readonly Line[];
  readonly question: string;
  /** The same command without a question. */
  readonly command: string;
};

/** Asks before anything is deleted. Without a terminal the user must agree in advance, with `--yes`. */
export async function confirmLoss(
  { program, switches, progress, say }: CommandContext,
  { lines, question, command }: Loss,
): Promise<Result<void, CommandProblem>> {
  if (switches.isJson || !program.terminal.isInput() || !program.terminal.isError()) {
    const message = 'Deleting needs your confirmation, and there is no terminal to ask in. Nothing was deleted.';
    return err(problem(EXIT.needsPerson, message, `Run: ${command}`));
  }
  progress.stop();
  for (const line of lines) say(line);
  const answer = await (await program.ask()).confirm(question);
  if (answer === true) return ok(undefined);
  const advice = `To delete without a question, run: ${command}`;
  return err(
    answer === undefined
      ? problem(EXIT.interrupted, 'Interrupted. Nothing was deleted.', advice)
      : problem(EXIT.needsPerson, 'You did not confirm. Nothing was deleted.', advice),
  );
}
