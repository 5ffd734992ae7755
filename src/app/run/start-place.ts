import type { ObservationData } from '../../core/log/events/run-events.ts';
import { changedObservations } from '../../core/log/operation/changed-observations.ts';
import { currentObservation } from '../../core/views/node-facts.ts';
import type { LoadedSession } from '../ports/session-store.ts';
import type { Services } from '../services.ts';
import { pathBelow } from './run-place.ts';

/** What is known of the workspace, and whose git settings it has. Git is asked for both at once. */
export async function observeStart({ workspace: observer, defaults }: Services, workspace: string | undefined) {
  const claimed = async () => {
    if (observer.author === undefined) return undefined;
    const settings = await defaults(foldersOf(workspace));
    return settings.isOk() && settings.value.recordsAuthor === true ? observer.author(workspace) : undefined;
  };
  const [observed, author] = await Promise.all([observer.observe(workspace), claimed()]);
  return { observed, author };
}

/** A folder as the list that settings are looked up for. */
export function foldersOf(workspace: string | undefined): readonly string[] {
  return workspace === undefined ? [] : [workspace];
}

/** The workspace in what was observed. */
export function rootIn(observed: readonly ObservationData[]): string | undefined {
  return observed.find(({ key }) => key === 'repo_root')?.value.value;
}

/** The folder of a run, where it is not the workspace of its session. */
export function folderBeside(
  { workspace: observer }: Services,
  workspace: string | undefined,
  root: string | undefined,
): string | undefined {
  const folder = workspace === undefined ? undefined : observer.folder?.(workspace);
  return folder === undefined || root === undefined || pathBelow(root, folder) === '' ? undefined : folder;
}

/**
 * Observations that an existing session does not have yet. A session keeps its workspace: a run that is attached from
 * another folder must not move the checks and gates of the runs before it.
 */
export function changed(
  current: LoadedSession | undefined,
  observed: readonly ObservationData[],
): readonly ObservationData[] {
  const get = (key: ObservationData['key']) =>
    current === undefined ? undefined : currentObservation(current.view.observations, key)?.data.value;
  const [root, seen] = [get('repo_root'), observed.find(({ key }) => key === 'repo_root')];
  const isElsewhere = root !== undefined && seen !== undefined && root.value !== seen.value.value;
  return isElsewhere ? [] : changedObservations({ get }, observed);
}
