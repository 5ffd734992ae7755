import { err, ok } from 'neverthrow';
import type { SessionView } from '../../core/views/session-view.ts';
import { currentObservation } from '../../core/views/workspace-observations.ts';
import type { RunCommand } from '../command.ts';
import { showLines } from '../commands/session/look/show/show-lines.ts';
import type { SessionShowData } from '../shapes/session/look/session-show-shape.ts';
import { type OpenedSession, openSession } from './open-session.ts';
import { bannerOf, runData, runState, titleOf } from './run-words.ts';

export const sessionShow: RunCommand = async (context, { operands }) => {
  const opened = await openSession(context, operands[0], 'standing');
  if (opened.isErr()) return err(opened.error);
  const data = dataOf(opened.value);
  const { looked, nowMs, width } = opened.value;
  return ok({
    kind: 'done',
    data,
    lines: [...bannerOf(looked, width), ...showLines(data, { nowMs, width })],
    next: nextOf(data, opened.value.name),
  });
};

function dataOf({ looked, shortId, state, runs }: OpenedSession): SessionShowData {
  const { sessionId, health, view, isKept } = looked;
  const title = titleOf(runs.map(runData));
  return {
    sessionId,
    shortId,
    state,
    health,
    ...(title === undefined ? {} : { title }),
    isKept,
    ...(view.lastAt === undefined ? {} : { lastAt: view.lastAt }),
    events: view.nextEventIndex,
    workspace: workspaceOf(view),
    runs: runs.map(runData),
  };
}

function workspaceOf({ observations }: SessionView): SessionShowData['workspace'] {
  const seen = (key: Parameters<typeof currentObservation>[1]) =>
    currentObservation(observations, key)?.data.value.value;
  const [root, branch, commit] = [seen('repo_root'), seen('git_branch'), seen('git_head_sha')];
  return {
    ...(root === undefined ? {} : { root }),
    ...(branch === undefined ? {} : { branch }),
    ...(commit === undefined ? {} : { commit }),
  };
}

function nextOf({ state, runs }: SessionShowData, name: string): string {
  if (state === 'damaged') return `workrail session verify ${name}`;
  if (state === 'salvaged') return `workrail session notes ${name}`;
  const isOpen = runs.some((run) => ['running', 'blocked'].includes(runState(run)));
  return isOpen ? `workrail session resume ${name}` : `workrail session notes ${name}`;
}
