import type { Approver } from '../../core/approvals/approver-list.ts';
import type { ObservationData } from '../../core/log/events/run-events.ts';
import { changedObservations } from '../../core/log/operation/changed-observations.ts';
import type { WarningFact } from '../../core/prompt/warning-facts.ts';
import type { ChosenPreferences, GateSettings, RunDefaults } from '../../core/settings/settings-in-effect.ts';
import { currentObservation } from '../../core/views/node-facts.ts';
import type { LoadedSession } from '../ports/session-store.ts';
import type { Services } from '../services.ts';
import { cappedMode } from './advance-reply.ts';
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
  // Each run has the commit that it began with, also an unchanged one: else that would look like one that was not seen.
  const known = { get: (key: ObservationData['key']) => (key === 'git_head_sha' ? undefined : get(key)) };
  return isElsewhere ? [] : changedObservations(known, observed);
}

/** What a person or the agent should know before the work begins. */
export function startWarnings(
  hostRoot: string | undefined,
  at: {
    readonly observed: readonly ObservationData[];
    readonly settings: RunDefaults;
    readonly chosen: ChosenPreferences;
    readonly approvers: readonly Approver[] | undefined;
    readonly gates: GateSettings;
  },
): readonly WarningFact[] {
  return [
    ...placeWarnings(hostRoot, rootIn(at.observed)),
    ...settingWarnings(at.settings, at.chosen),
    ...approverWarnings(at.approvers, at.gates),
  ];
}

/** The checks and approvals of a run that joins a session from another folder are about the folder of the session. */
function placeWarnings(root: string | undefined, own: string | undefined): readonly WarningFact[] {
  if (root === undefined || own === undefined || pathBelow(root, own) !== undefined) return [];
  return [{ code: 'other_workspace', root, own }];
}

/** What the settings would not let the call or the project do. */
function settingWarnings({ ignored = [] }: RunDefaults, { cap }: ChosenPreferences): readonly WarningFact[] {
  return [
    ...cappedMode(cap),
    ...(ignored.length === 0 ? [] : [{ code: 'setting_ignored', settings: ignored } as const]),
  ];
}

/** Nobody can open the gates of this run: better said now than when the work waits. */
function approverWarnings(
  approvers: readonly Approver[] | undefined,
  { isFourEyes }: GateSettings,
): readonly WarningFact[] {
  if (approvers === undefined) return [];
  const known = new Set(approvers.map(({ name }) => name)).size;
  const needed = isFourEyes ? 2 : 1;
  return known < needed ? [{ code: 'approvers_missing', known, needed }] : [];
}
