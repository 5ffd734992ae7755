import { err, ok } from 'neverthrow';
import { type ListedSession, withMarks, workspacesAt } from '../app/sessions/list-sessions.ts';
import { type FoundSession, type SearchHit, searchSessions } from '../app/sessions/search-sessions.ts';
import { runTag } from '../core/log/ids.ts';
import { brokenState } from '../core/sessions/session-state.ts';
import { searchWords } from '../core/text/search-words.ts';
import type { CommandProblem, RunCommand } from './command.ts';
import { searchLines } from './commands/search/search-lines.ts';
import { refusalProblem, widthOf } from './commands/session/look/look-output.ts';
import { EXIT } from './exit-codes.ts';
import { shortIds } from './ids/short-ids.ts';
import { placeData } from './sessions/run-words.ts';
import { listedSessionData } from './sessions/session-list.ts';
import type { SearchData } from './shapes/search/search-shape.ts';

/** Enough for months of work, and read in about a second. */
const READ_MAX = 200;
const SHOWN_MAX = 10;

export const search: RunCommand = async ({ program, progress }, { operands, options }) => {
  const words = searchWords(operands.join(' '));
  if (words.length === 0) return err(NO_WORDS);
  const isAll = options['all'] === true;
  progress.show({ label: 'reading the index' });
  const [overview, dataDir] = [await program.overview(), await program.dataDir()];
  const readMax = isAll ? Number.POSITIVE_INFINITY : READ_MAX;
  const result = await searchSessions(overview, { words, readMax }, ({ done, total }) =>
    progress.show({ label: 'searching sessions', done, total }),
  );
  if (result.isErr()) return err(refusalProblem(result.error, dataDir));
  const { found, searched, total, unreadable } = result.value;
  const stored = (await overview.sessions.list()).unwrapOr(found.map((one) => one.stored.sessionId));
  const known = { shortId: shortIds(stored), workspaces: await workspacesAt(overview.workspace, overview.folder) };
  const shown = isAll ? found : found.slice(0, SHOWN_MAX);
  const listed = await withMarks(
    overview,
    shown.map((one) => one.stored),
  );
  const data: SearchData = {
    words: [...words],
    found: listed.map((one, i) => ({
      session: sessionData(one, shown[i], known),
      hits: (shown[i]?.hits ?? []).map(hitData),
    })),
    total: found.length,
    searched,
    notSearched: total - searched - unreadable.sessions,
    unreadable,
  };
  return ok({
    kind: 'done',
    data,
    lines: searchLines(data, { nowMs: overview.clock.nowMs(), width: widthOf(overview) }),
    next: nextOf(data),
  });
};

/** The index may know nothing of a damaged session, or not that it is damaged; reading it told both. */
function sessionData(
  listed: ListedSession,
  found: FoundSession | undefined,
  known: Parameters<typeof listedSessionData>[1],
) {
  const state = found === undefined ? undefined : brokenState(found.health);
  const data = listedSessionData(state === undefined ? listed : { ...listed, state }, known);
  return data.title === undefined && found?.goal !== undefined ? { ...data, title: found.goal } : data;
}

function hitData({ kind, runId, place, words, snippet }: SearchHit): SearchData['found'][number]['hits'][number] {
  return {
    where: kind,
    runId,
    tag: runTag(runId),
    ...(place === undefined ? {} : { place: placeData(place) }),
    words: [...words],
    snippet,
  };
}

function nextOf({ found, words, notSearched }: SearchData): string {
  const [first] = found;
  if (first !== undefined) return `workrail session notes ${first.session.shortId}`;
  if (notSearched === 0) return 'workrail session list --all';
  // What a shell would read in another way is left for the person to type.
  return words.every((word) => /^[\p{L}\p{N}_.-]+$/u.test(word))
    ? `workrail search --all ${words.join(' ')}`
    : 'workrail search --all <words>';
}

const NO_WORDS: CommandProblem = {
  exitCode: EXIT.usage,
  error: {
    code: 'VALIDATION_ERROR',
    message: 'There is nothing to search for.',
    suggestion: 'Type words that the goal, a note or an artifact has, like "workrail search empty cart".',
    retry: { kind: 'not_retryable' },
  },
};
