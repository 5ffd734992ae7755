import { err, ok, type Result, safeTry } from 'neverthrow';
import type { Flow } from '../../core/flow.ts';
import {
  AUTONOMY,
  type Autonomy,
  PRESETS,
  type Preferences,
  RISK_POLICY,
  type RiskPolicy,
} from '../../core/log/autonomy.ts';
import { placeEvents } from '../../core/log/event.ts';
import type { SessionId } from '../../core/log/ids.ts';
import { type PreferenceWarning, preferenceDrafts, preferenceWarnings } from '../../core/run/decide/drafts.ts';
import {
  autonomySetterAt,
  isNeverStopByPerson,
  type PreferenceSetter,
  preferencesAt,
  setterOf,
} from '../../core/views/node-facts.ts';
import { stepAbove } from '../../core/views/run-graph.ts';
import { preferredTip } from '../../core/views/run-status.ts';
import type { OtherWorkflowStored } from '../ports/content-stores.ts';
import type { AppendPermit, GateRefusal, LoadedSession } from '../ports/session-store.ts';
import { appendPlan } from '../run/give-reply.ts';
import { isRunClosed, settingsFolders } from '../run/run-place.ts';
import { isMaker } from '../run/tried-step.ts';
import type { Services } from '../services.ts';
import { type RunUnmatched, type SelectedRun, selectRuns } from './close-runs.ts';

export type PreferRequest = {
  readonly sessionId: SessionId;
  /** One run by its tag or id. Default: every unfinished run of the session; closed ones only if there is no other. */
  readonly run?: string | undefined;
  /** Also sets the risk policy of its preset. */
  readonly mode?: Autonomy | undefined;
  readonly riskPolicy?: RiskPolicy | undefined;
  /** A person at a terminal allowed the agent more than before. Without that, only tightening is possible. */
  readonly isLooseningAllowed?: boolean;
};

export type PreferRefusal =
  /** The change would allow an agent more than before, and no person confirmed that. */
  | { readonly code: 'loosening_unconfirmed'; readonly runs: readonly LoosenedRun[] }
  /** Never-stop would pass the gate, and with four eyes somebody else must open it: here are the runs of the caller. */
  | { readonly code: 'own_run_never_stop'; readonly tags: readonly string[] }
  | { readonly code: 'session_not_found'; readonly sessionId: SessionId }
  /** Every selected run is complete, so a change would have no effect. */
  | { readonly code: 'nothing_unfinished'; readonly sessionId: SessionId }
  | RunUnmatched
  | OtherWorkflowStored
  | GateRefusal;

export type LoosenedRun = {
  readonly tag: string;
  readonly before: Preferences;
  readonly effective: Preferences;
  /** Who set the mode that the run has now. */
  readonly setBy: PreferenceSetter | undefined;
};

/** The preferences of a run from its next step on. */
export type PreferredRun = SelectedRun & {
  readonly before: Preferences;
  readonly effective: Preferences;
  readonly isChanged: boolean;
  /** Who had set the mode before. */
  readonly setBy: PreferenceSetter | undefined;
  /** It was closed, and this change reopened it. */
  readonly isReopened: boolean;
  readonly warnings: readonly PreferenceWarning[];
};

export type PreferServices = Pick<
  Services,
  'sessions' | 'sessionIndex' | 'snapshots' | 'marks' | 'clock' | 'hasher' | 'by' | 'handedTo'
> & {
  /** What applies to gates. Only somebody who signed in is asked about it. */
  readonly gateSettings?: Services['gateSettings'];
  readonly pinnedWorkflows: Pick<Services['pinnedWorkflows'], 'get'>;
};

/**
 * Changes the preferences of runs from the command line. Each change is recorded as the user's at the current step of
 * the run, so that it applies to the next attempt and everything after. Nothing before it changes.
 */
export async function setPreferences(
  services: PreferServices,
  request: PreferRequest,
): Promise<Result<readonly PreferredRun[], PreferRefusal>> {
  const { sessionId } = request;
  return services.sessions.exclusively<readonly PreferredRun[], PreferRefusal>(
    sessionId,
    async (session, permit) => {
      if (session === undefined) return err({ code: 'session_not_found', sessionId });
      const runs = await unfinishedRuns(services, session, request.run);
      if (runs.isErr()) return err(runs.error);
      if (request.isLooseningAllowed !== true) {
        const loosened = runs.value.flatMap((run) => loosenedRun(session, run, request));
        if (loosened.length > 0) return err({ code: 'loosening_unconfirmed', runs: loosened });
      }
      const own = await ownNeverStops(services, { session, runs: runs.value }, request);
      if (own.length > 0) return err({ code: 'own_run_never_stop', tags: own });
      const preferred: PreferredRun[] = [];
      let current = session;
      for (const run of runs.value) {
        const set = await setForRun(services, { session: current, permit }, { run, request });
        if (set.isErr()) return err(set.error);
        preferred.push(set.value.preferred);
        current = set.value.session;
      }
      return ok(preferred);
    },
    { mustExist: true },
  );
}

/** A run that would allow the agent more than before. To confirm an agent's never-stop as a person opens gates. */
function loosenedRun({ view }: LoadedSession, { runId, tag }: SelectedRun, request: PreferRequest) {
  const tip = preferredTip(view.graph, runId);
  if (tip === undefined) return [];
  const before = preferencesAt(view.preferences, tip.nodeId) ?? PRESETS.guided;
  const effective = wantedPreferences(before, request);
  const isLooser =
    AUTONOMY.indexOf(effective.autonomy) > AUTONOMY.indexOf(before.autonomy) ||
    RISK_POLICY.indexOf(effective.riskPolicy) > RISK_POLICY.indexOf(before.riskPolicy) ||
    (request.mode === 'full_auto_never_stop' && !isNeverStopByPerson(view, tip.nodeId));
  return isLooser ? [{ tag, before, effective, setBy: autonomySetterAt(view.preferences, tip.nodeId) }] : [];
}

/** The runs whose gates never-stop would pass for somebody who may not approve their drafts. */
async function ownNeverStops(
  services: PreferServices,
  { session, runs }: { readonly session: LoadedSession; readonly runs: readonly SelectedRun[] },
  { mode }: PreferRequest,
): Promise<readonly string[]> {
  const principal = services.by?.principal;
  if (mode !== 'full_auto_never_stop' || principal === undefined) return [];
  const { view, sessionId } = session;
  const handedTo = await services.handedTo?.(sessionId);
  const own: string[] = [];
  for (const { runId, tag } of runs) {
    const tip = preferredTip(view.graph, runId);
    if (tip === undefined || isNeverStopByPerson(view, tip.nodeId)) continue;
    const gates = await services.gateSettings?.(settingsFolders(session, runId));
    if (gates?.isFourEyes !== false && isMaker(view, { nodeId: tip.nodeId, handedTo }, principal)) own.push(tag);
  }
  return own;
}

type UnfinishedRun = SelectedRun & { readonly isClosed: boolean };

async function unfinishedRuns(
  services: PreferServices,
  session: LoadedSession,
  asked: string | undefined,
): Promise<Result<readonly UnfinishedRun[], PreferRefusal>> {
  return safeTry(async function* (): Flow<readonly UnfinishedRun[], PreferRefusal> {
    const named = yield* selectRuns(session, asked);
    const summary = yield* await services.sessionIndex.summarise(session);
    const open = summary.runs.filter(({ status }) => status === 'in_progress' || status === 'blocked');
    const runs: UnfinishedRun[] = [];
    for (const run of named) {
      if (!open.some(({ runId }) => runId === run.runId)) continue;
      runs.push({ ...run, isClosed: await isRunClosed(services, session, run.runId) });
    }
    if (runs.length === 0) return err({ code: 'nothing_unfinished', sessionId: session.sessionId });
    // A session means its open runs; a change to a closed run would reopen it.
    const going = runs.filter(({ isClosed }) => !isClosed);
    return ok(going.length > 0 ? going : runs);
  });
}

type Held = { readonly session: LoadedSession; readonly permit: AppendPermit };
type Wanted = { readonly run: UnfinishedRun; readonly request: PreferRequest };
type SetForRun = { readonly preferred: PreferredRun; readonly session: LoadedSession };

async function setForRun(
  services: PreferServices,
  { session, permit }: Held,
  { run, request }: Wanted,
): Promise<Result<SetForRun, PreferRefusal>> {
  const { view, sessionId } = session;
  const tip = preferredTip(view.graph, run.runId);
  const pinned = view.graph.runs.get(run.runId)?.pinned;
  if (tip === undefined || pinned === undefined) return err({ code: 'nothing_unfinished', sessionId });
  const workflow = await services.pinnedWorkflows.get(pinned.workflowHash);
  if (workflow.isErr()) return err(workflow.error);
  const before = preferencesAt(view.preferences, tip.nodeId) ?? PRESETS.guided;
  const setBy = autonomySetterAt(view.preferences, tip.nodeId);
  const effective = wantedPreferences(before, request);
  const warnings = preferenceWarnings(workflow.value, effective);
  const { sha256 } = services.hasher;
  // An attempt or a checkpoint belongs to a step: there the change holds for every further attempt.
  const { nodeId } = stepAbove(view.graph, tip);
  const isOwnWord = request.mode !== undefined && isPersonsWord(services) && setBy !== 'person';
  const drafts = preferenceDrafts(
    { before, effective, source: 'user', isAutonomyRepeated: isOwnWord },
    { runId: run.runId, nodeId, warnings, place: view.nextEventIndex },
    sha256,
  );
  const { isClosed, ...named } = run;
  const isChanged = drafts.length > 0;
  const preferred = { ...named, before, effective, isChanged, setBy, isReopened: isChanged && isClosed, warnings };
  if (drafts.length === 0) return ok({ preferred, session });
  const placement = { sessionId, firstEventIndex: view.nextEventIndex, at: services.clock.nowMs(), by: services.by };
  const events = placeEvents(drafts, placement, sha256);
  const appended = await appendPlan(services.sessions, permit, {
    sessionId,
    events,
    snapshots: new Map(),
    artifacts: new Map(),
  });
  return appended.map((current) => ({ preferred, session: current }));
}

/** Whether a change made by this call would count as a person's. */
function isPersonsWord({ by }: Pick<PreferServices, 'by'>): boolean {
  return setterOf({ source: 'user', by }) === 'person';
}

function wantedPreferences(before: Preferences, { mode, riskPolicy }: PreferRequest): Preferences {
  const preset = mode === undefined ? before : PRESETS[mode];
  return riskPolicy === undefined ? preset : { ...preset, riskPolicy };
}
