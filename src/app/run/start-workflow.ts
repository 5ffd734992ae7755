import { err, ok, type Result, safeTry } from 'neverthrow';
import type { Approver } from '../../core/approvals/approver-list.ts';
import { unreachable } from '../../core/assert.ts';
import type { Flow } from '../../core/flow.ts';
import { defined, type JsonObject } from '../../core/json/json-value.ts';
import { type Assurance, type Autonomy, PRESETS } from '../../core/log/autonomy.ts';
import { GOAL_BYTES_MAX } from '../../core/log/budgets.ts';
import type { ObservationData } from '../../core/log/events/run-events.ts';
import type { RunId, SessionId, WorkflowHash } from '../../core/log/ids.ts';
import { type ContextRefusal, checkArgument, contextDelta } from '../../core/log/operation/operation-drafts.ts';
import type { GivenReply } from '../../core/log/operation/stored-reply.ts';
import { type ShownReference, sourceWords } from '../../core/prompt/reply-parts.ts';
import type { WarningFact, WorkspaceProblem } from '../../core/prompt/warning-facts.ts';
import { type RunStart, type StartOutcome, startRun } from '../../core/run/decide/start-run.ts';
import { type FormUnfilled, refuseBlanks } from '../../core/run/form/unfilled.ts';
import type { RunFacts } from '../../core/run/step-place.ts';
import {
  type ChosenPreferences,
  chosenMode,
  type RunDefaults,
  startPreferences,
} from '../../core/settings/settings-in-effect.ts';
import { utf8Length } from '../../core/text/utf8.ts';
import type { TokenMint } from '../../core/token/node-token.ts';
import type { TokenRefusal } from '../../core/token/token-refusal.ts';
import { setterOf, withAuthor } from '../../core/views/node-facts.ts';
import { indexWorkflow } from '../../core/workflow/compiled/workflow-index.ts';
import type { DiagnosticCode } from '../../core/workflow/diagnostics/diagnostic.ts';
import type { InvalidFile, ListedWorkflow, UnknownId } from '../catalog/catalog.ts';
import type { AppendPermit, GateRefusal, LoadedSession } from '../ports/session-store.ts';
import type { StoreFailure } from '../ports/store-failure.ts';
import type { ConfigRefusal, Services } from '../services.ts';
import { noteFileRead } from './advance.ts';
import { gateOf } from './attempt-facts.ts';
import { appendStart, decisionPlan, giveReply, newNode } from './give-reply.ts';
import {
  findTokenNode,
  patternsFor,
  rootOf,
  runGates,
  sessionGone,
  sessionSettingsFolders,
  startFolderOf,
} from './run-place.ts';
import { changed, folderBeside, foldersOf, observeStart, rootIn, startWarnings } from './start-place.ts';
import { startReply } from './start-reply.ts';

export type StartRefusal =
  | (UnknownId & {
      readonly code: 'workflow_not_found';
      readonly workflowId: string;
      readonly workspaceProblem?: WorkspaceProblem;
    })
  | { readonly code: 'workflow_invalid'; readonly workflowId: string; readonly invalid: InvalidFile }
  | { readonly code: 'goal_too_large'; readonly bytes: number; readonly bytesMax: number }
  | FormUnfilled
  | ConfigRefusal
  | ContextRefusal
  | TokenRefusal
  | GateRefusal;

export type StartRequest = {
  readonly workflowId: string;
  /** The goal of the work: stored in the context under `goal`, and used as the title of the session. */
  readonly goal?: string | undefined;
  readonly context?: JsonObject | undefined;
  readonly mode?: Autonomy | undefined;
  readonly workspace?: string | undefined;
  /** The caller named no folder. A run that joins a session is then about the session's own folder. */
  readonly isWorkspaceAssumed?: boolean;
  /** Any token of a session that the run should join. */
  readonly attachTo?: string | undefined;
};

/** Starts a run of a workflow, in a new session or an existing one, and returns its first step. */
export async function startWorkflow(
  services: Services,
  request: StartRequest,
): Promise<Result<GivenReply, StartRefusal>> {
  return safeTry(async function* (): Flow<GivenReply, StartRefusal> {
    // Before anything copies or walks it.
    if (request.context !== undefined) yield* checkArgument(request.context);
    yield* refuseBlanks({ goal: request.goal, context: request.context });
    const context = yield* initialContext(request);
    const host = yield* await hostSession(services, request.attachTo);
    const own = request.isWorkspaceAssumed === true ? host?.startFolder : undefined;
    const { listed, noticed, workspace } = yield* await find(services, {
      workflowId: request.workflowId,
      workspace: own ?? request.workspace,
      root: host?.root,
    });
    const { workflow } = listed;
    const folders = [...new Set([...(host?.folders ?? []), ...foldersOf(workspace)])];
    // Git is asked before anything is locked: it may be slow.
    const [{ observed, author }, references, compilePattern, pinned, defaults, gates] = await Promise.all([
      observeStart(services, workspace),
      services.references.find(workflow.references, { workspace, file: listed.file.path }),
      patternsFor(services, workflow),
      pin(services, listed),
      services.defaults(folders),
      services.gateSettings(folders),
    ]);
    if (pinned.isErr()) return err(pinned.error);
    const approvers = await approversAtStart(services, { workflow, minimum: gates.minimum, workspace });
    // Nothing is tighter than guided, so no setting matters to it.
    if (defaults.isErr() && request.mode !== 'guided') return err(defaults.error);
    const settings: RunDefaults = defaults.unwrapOr(PRESETS.guided);
    const chosen =
      request.mode === undefined
        ? startPreferences(settings, { recommended: workflow.recommended, kind: listed.file.kind })
        : chosenMode(request.mode, settings);

    const facts = {
      context,
      preferences: chosen.preferences,
      capabilities: {},
      compilePattern,
      gates: runGates(gates),
      command: services.command,
      setBy: setterOf({ source: chosen.source, by: chosen.by ?? services.by }),
      source: sourceWords(pinOf(listed, pinned.value.workflowHash)),
    };
    const sessionId = host?.sessionId ?? services.ids.session();
    const runId = services.ids.run();
    const start: Starting = {
      request,
      listed,
      noticed: [...noticed, ...startWarnings(host?.root, { observed, settings, chosen, approvers, gates })],
      approvers: approvers?.map(({ key }) => key.fingerprint),
      ...pinned.value,
      chosen,
      facts,
      observed,
      workspace,
      author,
      references,
      sessionId,
      runId,
    };
    return services.sessions.exclusively<GivenReply, StartRefusal>(
      sessionId,
      (current, permit) => open(services, start, { current, permit }),
      { mustExist: host !== undefined },
    );
  });
}

type Starting = {
  readonly request: StartRequest;
  readonly listed: ListedWorkflow;
  readonly noticed: readonly WarningFact[];
  readonly workflowHash: WorkflowHash;
  /** The keys whose signatures count for the run, if it may need any. */
  readonly approvers: readonly string[] | undefined;
  readonly mint: TokenMint;
  readonly chosen: ChosenPreferences;
  readonly facts: RunFacts;
  readonly observed: readonly ObservationData[];
  /** The folder that the run is started in, if it is known. */
  readonly workspace: string | undefined;
  /** The git identity, unless the settings say that it is not recorded. */
  readonly author: string | undefined;
  readonly references: readonly ShownReference[];
  readonly sessionId: SessionId;
  readonly runId: RunId;
};

async function open(
  services: Services,
  start: Starting,
  { current, permit }: { readonly current: LoadedSession | undefined; readonly permit: AppendPermit },
): Promise<Result<GivenReply, StartRefusal>> {
  const { sessionId, runId, listed, workflowHash } = start;
  if (current === undefined && start.request.attachTo !== undefined) return err(sessionGone(sessionId));
  const { sha256 } = services.hasher;
  const started = current?.view.graph.runs.get(runId);
  if (current !== undefined && started !== undefined) return startedBefore(services, start, { current, started });
  const isFirstRun = current === undefined;
  const root = (current && rootOf(current)) ?? rootIn(start.observed);
  const decision = startRun(
    runStart(start, {
      isFirstRun,
      observations: changed(current, start.observed),
      ...defined({ folder: folderBeside(services, start.workspace, root) }),
    }),
    sha256,
  );
  const firstEventIndex = current?.view.nextEventIndex ?? 0;
  const placement = { sessionId, firstEventIndex, at: services.clock.nowMs(), by: services.by };
  const plan = { ...withAuthor(decisionPlan(decision, placement, sha256), start.author), pinned: [workflowHash] };
  const appended = await appendStart(services, permit, { plan, workflow: listed.workflow });
  if (appended.isOk()) noteFileRead(services, runId);
  return appended.map(({ view }) => reply(start, decision.outcome, view));
}

type Repeated = {
  readonly current: LoadedSession;
  readonly started: { readonly pinned: { readonly workflowHash: WorkflowHash } };
};

/** The same call was carried out before, and its answer may have been lost: it gets the same answer. */
async function startedBefore(
  services: Services,
  start: Starting,
  { current, started }: Repeated,
): Promise<Result<GivenReply, StartRefusal>> {
  const { workflowHash } = started.pinned;
  // A server of another release may have started it.
  const pinned =
    workflowHash === start.workflowHash
      ? ok(start.listed.workflow)
      : (await services.pinnedWorkflows.get(workflowHash)).mapErr(
          (refusal): StoreFailure =>
            refusal.code === 'other_workflow_stored'
              ? { code: 'io_failed', operation: 'read workflow', place: refusal.place, cause: refusal.code }
              : refusal,
        );
  return pinned.map((workflow) => {
    const same = { ...start, listed: { ...start.listed, workflow }, workflowHash };
    const { outcome } = startRun(runStart(same, { isFirstRun: false, observations: [] }), services.hasher.sha256);
    return reply(same, outcome, current.view);
  });
}

function runStart(
  { runId, listed, workflowHash, approvers, facts, chosen }: Starting,
  session: Pick<RunStart, 'isFirstRun' | 'observations' | 'folder'>,
): RunStart {
  return {
    runId,
    index: indexWorkflow(listed.workflow),
    pin: { ...pinOf(listed, workflowHash), ...defined({ approvers: approvers && [...approvers] }) },
    facts,
    chosenBy: chosen,
    ...session,
  };
}

function reply(start: Starting, outcome: StartOutcome, view: LoadedSession['view']): GivenReply {
  const { sessionId, mint } = start;
  return giveReply(startReply(start, outcome), newNode(sessionId, outcome.nodeId), { view, mint });
}

/** Whose signatures count for a run that may need one. Other runs do not look for keys. */
async function approversAtStart(
  services: Services,
  at: {
    readonly workflow: ListedWorkflow['workflow'];
    readonly minimum: Assurance;
    readonly workspace: string | undefined;
  },
): Promise<readonly Approver[] | undefined> {
  if (!at.workflow.steps.some((step) => gateOf(step, at.minimum)?.assurance === 'signed')) return undefined;
  return (await services.approvers?.(at.workspace))?.approvers ?? [];
}

function pinOf({ workflow, file, sourceHash }: ListedWorkflow, workflowHash: WorkflowHash) {
  return {
    workflowId: workflow.workflowId,
    workflowHash,
    workflowSourceKind: file.kind,
    workflowSourceRef: file.ref,
    ...defined({ workflowSourceCommit: file.added?.commit }),
    sourceHash: sourceHash(),
  };
}

/** The goal is part of the context, so that conditions and prompts can use it. */
function initialContext({ goal, context }: StartRequest): Result<JsonObject, StartRefusal> {
  const bytes = utf8Length(goal ?? '');
  if (bytes > GOAL_BYTES_MAX) return err({ code: 'goal_too_large', bytes, bytesMax: GOAL_BYTES_MAX });
  const named = goal === undefined || goal.trim() === '' ? {} : { goal: goal.toWellFormed() };
  return contextDelta({}, { ...context, ...named }).map((change) => change.context);
}

/** The session that a run joins, and the folders it works in. */
type HostSession = {
  readonly sessionId: SessionId;
  readonly root: string | undefined;
  /** Where the run was started that the caller has a token of. */
  readonly startFolder: string | undefined;
  /** The folders whose settings count for all of its runs. */
  readonly folders: readonly string[];
};

/** Finds the session to join. */
async function hostSession(
  services: Services,
  attachTo: string | undefined,
): Promise<Result<HostSession | undefined, TokenRefusal | StoreFailure>> {
  if (attachTo === undefined) return ok(undefined);
  const found = await findTokenNode(services, { text: attachTo, slot: 'attachTo' });
  return found.map(({ target: { sessionId, runId }, session }) => ({
    sessionId,
    root: rootOf(session),
    startFolder: startFolderOf(session, runId),
    folders: sessionSettingsFolders(session),
  }));
}

type Found = {
  readonly listed: ListedWorkflow;
  readonly noticed: readonly WarningFact[];
  /** The workspace, if it is valid. */
  readonly workspace: string | undefined;
};

async function find(
  services: Services,
  request: Pick<StartRequest, 'workflowId' | 'workspace'> & Pick<HostSession, 'root'>,
): Promise<Result<Found, StartRefusal>> {
  const { workflowId } = request;
  const { found, workspaceProblem } = await services.catalog.find(workflowId, request.workspace);
  switch (found.kind) {
    case 'unknown': {
      const { kind, ...facts } = found;
      return err({ code: 'workflow_not_found', workflowId, ...facts, ...defined({ workspaceProblem }) });
    }
    case 'invalid':
      return err({ code: 'workflow_invalid', workflowId, invalid: found.invalid });
    case 'found': {
      const { listed, alias } = found;
      const noticed: readonly WarningFact[] = [
        ...withoutWorkspace(workspaceProblem, { listed, root: request.root }),
        ...(alias === undefined ? [] : [{ code: 'renamed_id', workflowId: alias, canonicalId: listed.id } as const]),
        ...overriding(listed),
        ...withoutEffect(listed),
      ];
      return ok({ listed, noticed, workspace: workspaceProblem === undefined ? request.workspace : undefined });
    }
    default:
      return unreachable(found);
  }
}

/** A check runs in the workspace of its session, so without one it can never pass. */
function withoutWorkspace(
  problem: WorkspaceProblem | undefined,
  { listed, root }: Pick<Found, 'listed'> & Pick<HostSession, 'root'>,
): readonly WarningFact[] {
  if (problem === undefined) return [];
  const isNeeded = root === undefined && listed.workflow.steps.some(({ checks = [] }) => checks.length > 0);
  return [{ code: 'workspace_not_used', problem, ...(isNeeded ? { isNeededForChecks: true } : {}) }];
}

/** Taking the place of another file must not go unnoticed: a clone may bring a workflow of the user's own name. */
function overriding({ file, shadows }: ListedWorkflow): readonly WarningFact[] {
  if (shadows.length === 0) return [];
  return [{ code: 'workflow_overrides', used: file.path, paths: shadows.map(({ path }) => path) }];
}

/** A key that nothing reads may be a rule that its author believes in. */
function withoutEffect({ file, warnings, bindingProblems }: ListedWorkflow): readonly WarningFact[] {
  const unused = { file, diagnostics: warnings.filter(({ code }) => WITHOUT_EFFECT.has(code)) };
  return [unused, ...(bindingProblems === undefined ? [] : [bindingProblems])].flatMap(
    ({ file: { path }, diagnostics }): readonly WarningFact[] => {
      const problems = diagnostics.map(({ line, message }) => `Line ${line}: ${message}`);
      return problems.length === 0 ? [] : [{ code: 'workflow_file_problem', path, problems }];
    },
  );
}

const WITHOUT_EFFECT: ReadonlySet<DiagnosticCode> = new Set([
  'unknown_key',
  'unknown_argument',
  'setting_unused',
  'function_not_shown',
  'loop_control_misplaced',
  'place_not_filled',
  'place_unsupported',
]);

async function pin(services: Services, { workflow, stored }: ListedWorkflow) {
  const keyring = await services.keyring.open();
  if (keyring.isErr()) return err<never, StoreFailure>(keyring.error);
  const mint = { keyring: keyring.value, hmac: services.hasher.hmacSha256, form: services.tokenForm };
  const pinned = await services.pinnedWorkflows.pin(workflow, stored);
  return pinned.map((workflowHash) => ({ mint, workflowHash }));
}
