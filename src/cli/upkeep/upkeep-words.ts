import { err, ok, type Result } from 'neverthrow';
import type { ForkRefusal } from '../../app/bundle/fork-session.ts';
import type { BinRefusal, CollectRefusal, RestoreRefusal } from '../../app/ports/upkeep.ts';
import type { AcceptRefusal } from '../../app/upkeep/accept-session.ts';
import type { CloseRefusal } from '../../app/upkeep/close-runs.ts';
import type { PreferRefusal } from '../../app/upkeep/set-preferences.ts';
import { byCode } from '../../core/assert.ts';
import { plural, shortList } from '../../core/text/words.ts';
import type { CommandContext } from '../command.ts';
import type { Line } from '../output/line.ts';
import { type CommandProblem, EXIT, errorProblem, problem, type RefusalTable } from '../problem.ts';
import { type CommandRefusal, refusalProblem } from '../refusal-problem.ts';

export type UpkeepRefusal =
  | CommandRefusal
  | AcceptRefusal
  | CloseRefusal
  | PreferRefusal
  | BinRefusal
  | RestoreRefusal
  | CollectRefusal
  | ForkRefusal;

const BUSY_RETRY_MS = 1_000;

export function upkeepProblem(refusal: UpkeepRefusal, dataDir: string): CommandProblem {
  if (isOfUpkeep(refusal)) return errorProblem(byCode(UPKEEP_REFUSALS, refusal, dataDir));
  const { error, exitCode } = refusalProblem(refusal, dataDir);
  const message = 'done' in refusal ? `${error.message} ${removedSoFar(refusal)}` : error.message;
  return { error: { ...error, message }, exitCode };
}

type OfUpkeep = Exclude<UpkeepRefusal, { readonly code: CommandRefusal['code'] }>;

function isOfUpkeep(refusal: UpkeepRefusal): refusal is OfUpkeep {
  return Object.hasOwn(UPKEEP_REFUSALS, refusal.code);
}

const UPKEEP_REFUSALS: RefusalTable<OfUpkeep> = {
  run_unmatched: ({ sessionId, asked, runs }) => ({
    code: 'SESSION_NOT_FOUND',
    message: `Session ${sessionId} has no run "${asked}".`,
    suggestion: `Its runs are ${shortList(runs.map(({ tag, workflowId }) => `${tag} (${workflowId})`))}.`,
    details: { asked, tags: runs.map(({ tag }) => tag) },
  }),
  not_imported: ({ sessionId }) => ({
    message: `Session ${sessionId} was started here, so there is nothing to accept.`,
    suggestion: `Run "workrail session resume ${sessionId}" to continue it.`,
  }),
  nothing_damaged: ({ sessionId }) => ({
    message: `Session ${sessionId} is not damaged. Nothing was changed.`,
    suggestion: `Run "workrail session resume ${sessionId}" to continue it.`,
  }),
  already_forked: ({ sessionId, fork }) => ({
    message: `Session ${fork} was already made from the intact part of ${sessionId}. Nothing was changed.`,
    suggestion: `Run "workrail session resume ${fork}" to continue it. To make it again, delete it first: workrail session delete ${fork}`,
    details: { sessionId: fork },
  }),
  rest_is_newer: ({ sessionId }) => ({
    code: 'STORE_UNKNOWN_VERSION',
    message: `A newer workrail wrote the last part of session ${sessionId}, so it is not damaged. Nothing was changed.`,
    suggestion: 'Update workrail, then continue the session itself.',
  }),
  nothing_unfinished: ({ sessionId }) => ({
    message: `Session ${sessionId} has no unfinished run. Nothing was changed.`,
    suggestion: 'Choose the mode when you start the next run: start_workflow takes "mode".',
  }),
  other_workflow_stored: ({ place }, dataDir) => ({
    code: 'STORE_CORRUPT',
    message: `${place} holds a different workflow from the one the run was started with.`,
    suggestion: `Restore that file in ${dataDir} from a backup. Nothing was changed.`,
  }),
  not_in_bin: ({ sessionId }) => ({
    code: 'SESSION_NOT_FOUND',
    message: `Session ${sessionId} is no longer in the bin.`,
    suggestion: 'Run "workrail session delete --undo" to see what is in the bin.',
  }),
  session_exists: ({ sessionId }) => ({
    message: `Session ${sessionId} exists again, so the deleted one was not restored.`,
    suggestion: `Delete the existing one first: workrail session delete ${sessionId}`,
  }),
  safe_mode: (refusal) => {
    const { sessions, binned } = refusal;
    const places = [
      ...(sessions.length === 0 ? [] : [`${plural(sessions.length, 'session')} (${shortList(sessions)})`]),
      ...(binned.length === 0 ? [] : [`${plural(binned.length, 'deleted session')} (${shortList(binned)})`]),
    ];
    return {
      code: 'STORE_CORRUPT',
      message: `${places.join(' and ')} cannot be read completely, so gc cannot tell which data is still needed. ${removedSoFar(refusal)}`,
      suggestion:
        sessions.length === 0
          ? 'Run "workrail gc --empty-bin" to delete everything in the bin for good.'
          : 'Run "workrail session verify" to see why. If a newer workrail wrote it, update workrail. If it is damaged, restore it from a backup or delete the session.',
      details: { sessionIds: [...sessions], binned: [...binned] },
    };
  },
  loosening_unconfirmed: ({ runs }) => ({
    message: `${shortList(runs.map(({ tag }) => `Run ${tag}`))} would allow its agent more. Nothing was changed.`,
    suggestion: 'Run the command in a terminal of your own.',
  }),
  own_run_never_stop: ({ tags }) => ({
    message: `${shortList(tags.map((tag) => `Run ${tag}`))} or its pending draft is your own, and with four eyes never-stop would go past the approval of somebody else. Nothing was changed.`,
    suggestion: 'Ask another approver to set this mode.',
  }),
  no_shared_locks: () => ({
    code: 'STORE_IO',
    message: 'gc needs native file locks, and fs-native-extensions cannot be loaded here. Nothing was removed.',
    suggestion: 'Install workrail again, with its optional dependencies (npm option --include=optional).',
  }),
  store_busy: (refusal) => ({
    code: 'SESSION_LOCKED',
    message: `Sessions are being written continuously by ${refusal.holder ?? 'other processes'}. ${removedSoFar(refusal)}`,
    suggestion: 'Wait a moment, then run the command again.',
    retry: { kind: 'retryable_after_ms', afterMs: BUSY_RETRY_MS },
  }),
};

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
