import { isAt, listSessions, workspacesAt } from '../../../../../app/sessions/list-sessions.ts';
import type { CommandContext } from '../../../../command.ts';
import { shortIds } from '../../../../ids/short-ids.ts';
import { clipText } from '../../../../output/text-width.ts';
import { shortList } from '../../../../output/wording.ts';
import { quoted, summaryTitle } from '../../../../sessions/run-words.ts';
import type { OpenSessionData } from '../../../../shapes/session/look/session-resume-shape.ts';

/** The sessions of this folder in which a run is open, the one last worked on first. */
export async function openHere({ program }: CommandContext): Promise<OpenSessionData[]> {
  const overview = await program.overview();
  const [listed, workspaces] = await Promise.all([
    listSessions(overview),
    workspacesAt(overview.workspace, overview.folder),
  ]);
  // What cannot be listed is told by whoever opens a session.
  const sessions = listed.unwrapOr([]);
  const shortId = shortIds(sessions.map(({ sessionId }) => sessionId));
  return sessions.flatMap(({ sessionId, state, summary }) => {
    if ((state !== 'running' && state !== 'blocked') || !isAt(summary, workspaces)) return [];
    const title = summary === undefined ? undefined : summaryTitle(summary);
    return [{ sessionId, shortId: shortId(sessionId), state, ...(title === undefined ? {} : { title }) }];
  });
}

const TITLE_WIDTH = 30;

/** What else is open, on one line. */
export function toldOpen(sessions: readonly OpenSessionData[], width: number): string {
  const names = sessions.map(
    ({ shortId, title }) => `${shortId}${title === undefined ? '' : ` ${quoted(title, TITLE_WIDTH)}`}`,
  );
  return clipText(`Also open here: ${shortList(names)}`, width);
}
