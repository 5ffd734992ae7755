import { workflowCatalog } from '../../../app/catalog/workflow-catalog.ts';
import { newestSessions, withMarks } from '../../../app/sessions/list-sessions.ts';
import type { SessionId } from '../../../core/log/ids.ts';
import type { CommandContext } from '../../command.ts';
import { shortIds } from '../../ids/short-ids.ts';
import type { LiveCandidates } from './candidates.ts';

/** A list that fills the screen helps nobody. */
const SESSIONS_MAX = 30;
const TITLE_MAX = 60;

/** The sessions and workflows there are. Whoever presses a key must not be told of errors, so there are none then. */
export function liveCandidates(program: CommandContext['program']): LiveCandidates {
  return {
    sessions: async (typed) => {
      const listing = await program.listing();
      const stored = (await newestSessions(listing)).unwrapOr([]);
      const short = shortIds(stored.map(({ sessionId }) => sessionId));
      const nameOf = typed.startsWith('sess') ? (sessionId: SessionId) => sessionId : short;
      const fitting = stored.filter(({ sessionId }) => nameOf(sessionId).startsWith(typed)).slice(0, SESSIONS_MAX);
      const listed = await withMarks(listing, fitting);
      return listed.map(({ sessionId, state, summary }) => ({
        value: nameOf(sessionId),
        about: titleOf(state, summary?.runs[0]?.goal ?? summary?.runs[0]?.workflowId ?? ''),
      }));
    },
    workflows: async () => {
      const { source, tools, workspace } = await program.bench();
      const { workflows } = await workflowCatalog(source, tools).list(workspace);
      return workflows.map(({ id, name }) => ({ value: id, about: name }));
    },
  };
}

function titleOf(state: string, title: string): string {
  const line = title.replaceAll(/\s+/g, ' ').trim();
  return `${state}${line === '' ? '' : `: ${line.length > TITLE_MAX ? `${line.slice(0, TITLE_MAX).toWellFormed()}…` : line}`}`;
}
