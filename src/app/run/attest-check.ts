import { err, ok, type Result, safeTry } from 'neverthrow';
import type { Flow } from '../../core/flow.ts';
import { ownJsonBytes } from '../../core/json/canonical-json.ts';
import { defined } from '../../core/json/json-value.ts';
import { RUN_COMMAND_BYTES_MAX } from '../../core/log/budgets.ts';
import { type DraftOf, placeEvents } from '../../core/log/event.ts';
import type { WorkflowSourceKind } from '../../core/log/events/run-events.ts';
import { isComplete, pendingStep } from '../../core/log/execution-snapshot.ts';
import { artifactDigestSchema, type NodeId, type RunId, type SessionId, type StepId } from '../../core/log/ids.ts';
import { type CheckRun, commandDigest, judgeRecord, type RunVerdict } from '../../core/run/evidence/judge-check.ts';
import { fixedTests, type TestReport } from '../../core/run/evidence/test-report.ts';
import { type BoundWorkspace, isSeen } from '../../core/run/gate-facts.ts';
import { checkCommand } from '../../core/run/requirements/check.ts';
import { type UnseenFiles, unseenFiles } from '../../core/run/unseen-files.ts';
import { loopVariablesAt } from '../../core/run/walk/walking.ts';
import { utf8Length } from '../../core/text/utf8.ts';
import type { TokenRefusal } from '../../core/token/token-refusal.ts';
import { isKeyFromPerson } from '../../core/views/lineage.ts';
import { observationAtStart, wasInRepository } from '../../core/views/node-facts.ts';
import { nodeOf } from '../../core/views/run-graph.ts';
import { preferredTip } from '../../core/views/run-status.ts';
import type { Check, CompiledStep } from '../../core/workflow/compiled/compiled-step.ts';
import type { BaseRefusal, BaseWork, CheckRunner, CommandResult } from '../ports/check-runner.ts';
import type { GateRefusal, LoadedSession } from '../ports/session-store.ts';
import type { StoreFailure } from '../ports/store-failure.ts';
import type { AnswerServices } from '../services.ts';
import { appendPlan } from './give-reply.ts';
import { pathBelow, rootOf, runPlace, targetOf, workFolderOf } from './run-place.ts';
import { triedStep } from './tried-step.ts';

/** Who chose the command that a check runs. */
export type CommandOrigin = {
  /** Set where the text does not come from the user or from WorkRail. */
  readonly foreign?: Exclude<WorkflowSourceKind, 'bundled' | 'user'> | 'binding' | 'import';
  /** Context keys whose values the agent set. */
  readonly agentKeys: readonly string[];
};

/** A check of the step that is due, ready to be run in a folder of this machine. */
export type CheckToRun = DueCheck & {
  /** Where its command runs. */
  readonly workspace: string;
  /** The top of the repository, whose files are recorded. */
  readonly root: string;
};

/** A check of the step that is due, wherever it is run. */
export type DueCheck = {
  readonly sessionId: SessionId;
  readonly runId: RunId;
  /** The node of the step, which all attempts at it share. */
  readonly stepNodeId: NodeId;
  readonly step: CompiledStep;
  readonly check: Check;
  readonly command: string;
  /** The commit at the start of the run. */
  readonly baseSha: string | undefined;
  /** Whether the workspace was in a git repository when the run looked at it. */
  readonly wasInRepository: boolean;
  readonly origin: CommandOrigin;
};

export type FindCheckRefusal =
  | { readonly code: 'run_complete' }
  | { readonly code: 'step_without_checks'; readonly stepId: StepId; readonly title: string }
  | { readonly code: 'unknown_check'; readonly title: string; readonly known: readonly string[] }
  | { readonly code: 'value_missing'; readonly names: readonly string[] }
  /** With its values the command is longer than what the record can hold. */
  | { readonly code: 'command_too_long'; readonly bytes: number }
  /** No shell takes U+0000, which a value can bring along. */
  | { readonly code: 'command_with_nul' }
  | { readonly code: 'workspace_unknown' }
  /** The folder of the run was removed, or something else is in its place. */
  | { readonly code: 'workspace_gone'; readonly folder: string }
  | TokenRefusal
  | StoreFailure;

/** Finds a check of the step at which a run stands, and the folder to run it in. */
export async function findCheck(
  services: AnswerServices,
  session: LoadedSession,
  asked: { readonly runId: RunId; readonly checkId: string },
): Promise<Result<CheckToRun, FindCheckRefusal>> {
  const due = await dueCheck(services, session, asked);
  const [root, workspace] = [rootOf(session), workFolderOf(session, asked.runId)];
  return due.andThen((found): Result<CheckToRun, FindCheckRefusal> => {
    if (root === undefined || workspace === undefined) return err({ code: 'workspace_unknown' });
    const { folder } = services.workspace;
    const isGone = folder !== undefined && folder(workspace) === undefined;
    return isGone ? err({ code: 'workspace_gone', folder: workspace }) : ok({ ...found, root, workspace });
  });
}

/** Finds a check of the step at which a run stands. */
export async function dueCheck(
  services: AnswerServices,
  session: LoadedSession,
  { runId, checkId }: { readonly runId: RunId; readonly checkId: string },
): Promise<Result<DueCheck, FindCheckRefusal>> {
  return safeTry(async function* (): Flow<DueCheck, FindCheckRefusal> {
    const { view, sessionId } = session;
    const tip = preferredTip(view.graph, runId);
    const run = view.graph.runs.get(runId);
    if (tip === undefined || run === undefined) return err({ code: 'run_complete' });
    const { nodeId } = tip;
    const { index, snapshot, facts } = yield* await runPlace(services, session, targetOf(session, nodeId));
    const step = index.steps.get(pendingStep(snapshot)?.stepId ?? '');
    if (step === undefined || isComplete(snapshot)) return err({ code: 'run_complete' });
    const { stepId, title, checks } = step;
    if (checks === undefined) return err({ code: 'step_without_checks', stepId, title });
    const check = checks.find((one) => one.checkId === checkId);
    if (check === undefined) return err({ code: 'unknown_check', title, known: checks.map((one) => one.checkId) });
    const loopVariables = loopVariablesAt(index, snapshot.enginePayload.state);
    const { text, unset, keys } = checkCommand(check, { context: facts.context, loopVariables });
    if (unset.length > 0) return err({ code: 'value_missing', names: unset });
    const bytes = utf8Length(text);
    if (bytes > RUN_COMMAND_BYTES_MAX) return err({ code: 'command_too_long', bytes });
    if (text.includes('\0')) return err({ code: 'command_with_nul' });
    const kind = run.pinned.workflowSourceKind;
    // Accepting a session shows no commands, and where its workflow comes from is the word of its bundle.
    const isImported = (await services.marks.origin(sessionId)) !== undefined;
    const foreign = isImported ? ('import' as const) : foreignKind(kind, check);
    return ok({
      sessionId,
      runId,
      stepNodeId: triedStep(view, nodeId).step.nodeId,
      step,
      check,
      command: text,
      baseSha: observationAtStart(view.observations, 'git_head_sha', run.rootNodeId)?.data.value.value.replace(
        'sha256:',
        '',
      ),
      wasInRepository: wasInRepository(view.observations),
      origin: {
        ...(foreign === undefined ? {} : { foreign }),
        agentKeys: keys.filter((key) => !isKeyFromPerson(view.context, nodeId, key)),
      },
    });
  });
}

function foreignKind(kind: WorkflowSourceKind, { isBound }: Check): CommandOrigin['foreign'] {
  if (kind !== 'bundled' && kind !== 'user') return kind;
  return isBound === true ? 'binding' : undefined;
}

/** Whether a person has to confirm the command before its result can count as observed. */
export function needsConfirmation({ origin: { foreign, agentKeys } }: CheckToRun): boolean {
  return foreign !== undefined || agentKeys.length > 0;
}

export type CheckResult = {
  readonly statement: CheckRun;
  readonly tail: string;
  /** Why the base could not be tried. */
  readonly baseTrouble?: string;
  /** Why the files that the command ran on are not recorded. */
  readonly unseen?: UnseenFiles;
};

export type RunServices = Pick<AnswerServices, 'workspace' | 'hasher'> & { readonly checkRunner: CheckRunner };

/** How a check is run. */
export type RunOptions = {
  readonly timeoutMs: number;
  readonly isConfirmed: boolean;
  readonly onOutput: (chunk: Uint8Array) => Promise<void>;
  /** Called before the command runs on the base. */
  readonly onBase?: () => void;
};

/** Runs the command of a check, on the base too where the check asks for that. Nothing is recorded yet. */
export async function runCheck(
  services: RunServices,
  { check, command, workspace, root, baseSha, wasInRepository, origin }: CheckToRun,
  { timeoutMs, isConfirmed, onOutput, onBase }: RunOptions,
): Promise<CheckResult> {
  const { checkRunner, hasher } = services;
  const work = { command, timeoutMs, report: check.report, onOutput };
  const at = placeOf(services.workspace, { workspace, root });
  const below = at.below ?? '';
  // Every byte: a merge gate believes that the command ran on exactly these files, and git can be made to overlook edits.
  const outside = unseenFiles(wasInRepository ? 'repository_gone' : 'no_repository');
  const look = async () => {
    const { folder, top } = placeOf(services.workspace, { workspace, root });
    if (at.below === undefined || folder !== at.folder || top !== at.top) return unseenFiles('folder_elsewhere');
    return (await services.workspace.tree(top, 'long', true)) ?? outside;
  };
  const before = await look();
  const here = await checkRunner.run({ ...work, folder: at.folder });
  const after = await look();
  let base: Result<CommandResult, BaseRefusal> | undefined;
  if (check.against === 'base' && baseSha !== undefined) {
    onBase?.();
    const over = { folder: at.top, sha: baseSha, ...inFolder(check, below) };
    base = await checkRunner.withBase(over, (top) =>
      checkRunner.run({ ...work, folder: below === '' ? top : `${top}/${below}` }),
    );
  }
  const onBaseEnd = base?.isOk() === true ? base.value : undefined;
  const baseTrouble =
    base?.isErr() === true
      ? base.error.cause
      : check.against !== undefined && baseSha === undefined
        ? NO_BASE
        : undefined;
  const statement: CheckRun = {
    kind: 'check',
    checkId: check.checkId,
    commandDigest: commandDigest(command, hasher.sha256),
    command: command.toWellFormed(),
    ...endOf(here),
    ...filesOf(before, after),
    ...(below === '' ? {} : { folder: below.toWellFormed() }),
    ...(onBaseEnd === undefined || baseSha === undefined
      ? {}
      : { base: { ...endOf(onBaseEnd), sha: baseSha, ...fixedBy(onBaseEnd.report, here.report) } }),
    ...(isConfirmed || origin.foreign === undefined ? {} : { unseen: true as const }),
    ...(isConfirmed || origin.agentKeys.length === 0 ? {} : { chosenByAgent: true as const }),
  };
  const unseen = [before, after].find((files) => 'unseen' in files);
  return { statement, tail: here.tail, ...defined({ baseTrouble, unseen }) };
}

/**
 * Where a command runs now. What was recorded at the start is not enough: git may not have answered then, and folders
 * and repositories can be moved since.
 */
function placeOf(
  observer: RunServices['workspace'],
  { workspace, root }: Pick<CheckToRun, 'workspace' | 'root'>,
): { readonly folder: string; readonly top: string; readonly below: string | undefined } {
  const folder = observer.folder?.(workspace) ?? workspace;
  const top = observer.top?.(root) ?? observer.folder?.(root) ?? root;
  return { folder, top, below: pathBelow(top, folder) };
}

/**
 * The files that a command ran on, known only if they were seen before it too: a command can put files back, so what is
 * there afterwards says nothing about what ran.
 */
function filesOf(
  before: BoundWorkspace,
  after: BoundWorkspace,
): Pick<CheckRun, 'headSha' | 'uncommitted' | 'treeDigest' | 'changedDuring'> {
  if (!isSeen(before) || !isSeen(after)) return {};
  const { headSha, treeDigest, changed = [] } = after;
  const uncommitted = Math.max(before.changed?.length ?? 0, changed.length);
  return {
    ...(before.headSha === headSha ? { headSha } : {}),
    ...(uncommitted === 0 ? {} : { uncommitted }),
    ...defined({ treeDigest: treeDigest as CheckRun['treeDigest'] }),
    ...(before.treeDigest === treeDigest ? {} : { changedDuring: true as const }),
  };
}

/** Folders with installed packages, which are usually not part of a commit. */
const LINKED = ['node_modules', '.venv', 'vendor'];

/** What a check names, as seen from the top of the repository. Packages may be installed there for all its folders. */
function inFolder({ tests = [], link = LINKED }: Check, below: string): Pick<BaseWork, 'tests' | 'link'> {
  if (below === '') return { tests, link };
  const literal = below.replaceAll(/[\\*?[\]]/g, '\\$&');
  return {
    tests: tests.map((pattern) => `${literal}/${pattern}`),
    link: link.flatMap((name) => [name, `${below}/${name}`]),
  };
}

const NO_BASE = 'the run does not know the commit that it started from';

function endOf({ exitCode, signal, timedOut, durationMs, report }: CommandResult) {
  const tests = report && { executed: report.executed, failed: report.failed };
  return { exitCode, timedOut, durationMs, ...defined({ signal, tests }) };
}

function fixedBy(base: TestReport | undefined, here: TestReport | undefined): { readonly fixed?: number } {
  return base === undefined && here === undefined ? {} : { fixed: fixedTests(base, here) };
}

export type RecordCheckRefusal =
  /** The step went on while the command ran; its result has no effect any more. */
  { readonly code: 'step_over' } | FindCheckRefusal | GateRefusal;

/** Which step a result is about, and how it reached us. */
export type CheckStatement = Pick<CheckResult, 'statement' | 'tail'> &
  Pick<DraftOf<'attestation_recorded'>['data'], 'attestationId' | 'by'>;

/** Appends the result of a check to the step that it was run for. Only this takes the lock. */
export async function recordCheck(
  services: AnswerServices,
  found: Pick<DueCheck, 'sessionId' | 'runId' | 'stepNodeId' | 'step' | 'check'>,
  { statement, tail, attestationId, by }: CheckStatement,
): Promise<Result<RunVerdict, RecordCheckRefusal>> {
  const { sessionId, runId, stepNodeId, step, check } = found;
  const { sha256 } = services.hasher;
  const log = ownJsonBytes({ kind: 'wr.check_log', checkId: check.checkId, text: tail.toWellFormed() });
  const digest = artifactDigestSchema.parse(sha256(log));
  return services.sessions.exclusively<RunVerdict, RecordCheckRefusal>(
    sessionId,
    async (session, permit) => {
      if (session === undefined) return err({ code: 'step_over' });
      const { graph, nextEventIndex } = session.view;
      const tip = preferredTip(graph, runId);
      const isDue = tip !== undefined && triedStep(session.view, tip.nodeId).step.nodeId === stepNodeId;
      if (!isDue) return err({ code: 'step_over' });
      const { snapshotRef } = nodeOf(graph, stepNodeId);
      const snapshot = await services.snapshots.get(snapshotRef);
      if (snapshot.isErr()) return err(snapshot.error);
      const loopPath = pendingStep(snapshot.value)?.loopPath ?? [];
      const draft: DraftOf<'attestation_recorded'> = {
        kind: 'attestation_recorded',
        scope: { runId, nodeId: tip.hostNodeId },
        data: {
          attestationId,
          subject: { kind: 'step', stepId: step.stepId, loopPath, snapshotRef },
          statement: { ...statement, log: { sha256: digest, byteLength: log.length } },
          by,
        },
      };
      const placement = { sessionId, firstEventIndex: nextEventIndex, at: services.clock.nowMs(), by: services.by };
      const events = placeEvents([draft], placement, sha256);
      const plan = { sessionId, events, snapshots: new Map(), artifacts: new Map([[digest, log]]) };
      const appended = await appendPlan(services.sessions, permit, plan);
      return appended.map(() => judgeRecord(check, { run: statement, via: by.via }));
    },
    { mustExist: true },
  );
}
