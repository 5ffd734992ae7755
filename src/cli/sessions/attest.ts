import { err, ok, type Result, safeTry } from 'neverthrow';
import * as z from 'zod';
import {
  type CheckResult,
  type CheckToRun,
  findCheck,
  needsConfirmation,
  type RecordCheckRefusal,
  recordCheck,
  runCheck,
} from '../../app/run/attest-check.ts';
import { defined } from '../../core/json/json-value.ts';
import { GRADES, isAtLeast } from '../../core/log/autonomy.ts';
import { RUN_COMMAND_BYTES_MAX } from '../../core/log/budgets.ts';
import { RunId, runTag, SessionId } from '../../core/log/ids.ts';
import { type RunVerdict, verdictWords } from '../../core/run/evidence/judge-check.ts';
import { type UnseenFiles, unseenCause, unseenFix } from '../../core/run/unseen-files.ts';
import { nearest } from '../../core/text/spelling.ts';
import { visibleLine } from '../../core/text/visible-text.ts';
import { plural } from '../../core/text/words.ts';
import { type CommandContext, command, done } from '../command.ts';
import { bad, dim, good, type Line, notable, strong } from '../output/line.ts';
import { duration } from '../output/times.ts';
import { type CommandProblem, EXIT, problem, usageProblem } from '../problem.ts';
import type { AttestAccess } from '../program.ts';
import { refusalProblem } from '../refusal-problem.ts';
import { findSessions, runNamed } from '../session-ids.ts';

const count = z.int().min(0);
const end = {
  exitCode: count.nullable(),
  signal: z.string().exactOptional(),
  timedOut: z.boolean(),
  durationMs: count,
  tests: z.strictObject({ executed: count, failed: count }).exactOptional(),
};

/** Runs the command of a check and records how it ended, so that nobody has to take the agent's word for it. */
export const attest = command({
  operands: [
    { syntax: '<tag>', help: 'the four characters that name the run' },
    { syntax: '[check]', help: 'the id of a check of the current step; without it, an error lists the checks' },
  ],
  options: [
    { flags: '--timeout <time>', help: 'end the command after this time, for example 90s or 30m (default: 10m)' },
    {
      flags: '--yes',
      help: 'run the command without confirmation; if it is not from your own files and no person has confirmed it, the result counts only as "reported" (like a result that the agent sends)',
    },
  ],
  example: 'workrail attest 7f3a unit',
  data: z.strictObject({
    sessionId: SessionId.schema,
    runId: RunId.schema,
    checkId: z.string(),
    command: z.string(),
    ...end,
    base: z.strictObject({ ...end, sha: z.string(), fixed: count.exactOptional() }).exactOptional(),
    /** What the result is worth; absent if it does not count. */
    grade: z.enum(GRADES).exactOptional(),
    /** Why it does not count, or not for more. */
    remark: z.string().exactOptional(),
    /** The reason why the record does not say which files the command ran on. */
    filesNotRecorded: z.string().exactOptional(),
  }),
  run: async (context, { operands, options }) =>
    safeTry(async function* () {
      const { program, say } = context;
      const timeoutMs = yield* timeLimit(options['timeout']);
      const access = await program.attest();
      const found = yield* await namedCheck(context, access, operands);
      const isConfirmed = yield* await confirmed(context, access, { found, isYes: options['yes'] === true });
      const askedAt = access.clock.nowMs();
      for (const line of headLines(found)) say(line);
      const result = await runCheck(access, found, {
        timeoutMs,
        isConfirmed,
        onOutput: access.showOutput,
        onBase: () => say([dim(`The same on the base commit ${found.baseSha?.slice(0, 10) ?? ''}:`)]),
      });
      const recorded = await recordCheck(access, found, {
        ...result,
        attestationId: access.answerIds.attestation(),
        by: {
          via: 'terminal',
          launch: access.answerIds.launch,
          askedAt,
          answerMs: Math.max(0, access.clock.nowMs() - askedAt),
        },
      });
      if (recorded.isErr()) return err(recordProblem(recorded.error, found, await program.dataDir()));
      return done({
        data: dataOf(found, result, recorded.value),
        ...outcomeOf(found, result, recorded.value),
      });
    }),
});

const TIME_UNITS: { readonly [unit: string]: number } = { s: 1_000, m: 60_000, h: 3_600_000 };
const TIMEOUT_MS = 10 * 60_000;
const TIMEOUT_MS_MAX = 24 * 3_600_000;

function timeLimit(written: unknown): Result<number, CommandProblem> {
  if (written === undefined) return ok(TIMEOUT_MS);
  const [, number, unit = ''] = /^(\d{1,6})(s|m|h)$/.exec(String(written)) ?? [];
  const ms = Number(number) * (TIME_UNITS[unit] ?? Number.NaN);
  if (ms > 0 && ms <= TIMEOUT_MS_MAX) return ok(ms);
  return err(
    usageProblem(
      `"--timeout" needs a time, not "${String(written)}".`,
      'Write for example 90s, 30m or 2h; at most 24h.',
    ),
  );
}

async function namedCheck(
  { program, progress }: CommandContext,
  access: AttestAccess,
  [asked = '', checkId = '']: readonly string[],
): Promise<Result<CheckToRun, CommandProblem>> {
  const dataDir = await program.dataDir();
  progress.show({ label: 'looking for the run' });
  const named = await findSessions(access, [asked]);
  progress.stop();
  if (named.isErr()) return err(refusalProblem(named.error, dataDir));
  const [sessionId] = named.value;
  const loaded = sessionId === undefined ? undefined : await access.sessions.load(sessionId);
  if (sessionId === undefined || loaded === undefined) return err(usageProblem('Which run?', 'Give the tag of a run.'));
  if (loaded.isErr()) return err(refusalProblem(loaded.error, dataDir));
  const runIds = [...loaded.value.view.graph.runs.keys()];
  const runId = runNamed(asked, { sessionId, runIds }) ?? (runIds.length === 1 ? runIds[0] : undefined);
  if (runId === undefined) {
    const tags = runIds.map(runTag).join(', ');
    return err(usageProblem(`"${asked}" names a session with several runs.`, `Give the tag of one of them: ${tags}.`));
  }
  const found = await findCheck(access, loaded.value, { runId, checkId });
  return found.mapErr((refusal) => recordProblem(refusal, { checkId, runId }, dataDir));
}

/** Whether a person has confirmed the command. A person at a terminal is asked once for each command and workspace. */
async function confirmed(
  { program, say }: CommandContext,
  access: AttestAccess,
  { found, isYes }: { readonly found: CheckToRun; readonly isYes: boolean },
): Promise<Result<boolean, CommandProblem>> {
  const { command: text, workspace, check, runId } = found;
  if (!needsConfirmation(found)) return ok(true);
  if (await access.confirmations.has({ command: text, workspace })) return ok(true);
  if (isYes) return ok(false);
  const { terminal } = program;
  if (!(terminal.isInput() && terminal.isError())) {
    return err(
      problem(
        EXIT.needsPerson,
        `No person has confirmed this command: ${text}`,
        `Ask the user to run \`workrail attest ${runTag(runId)} ${check.checkId}\` in a terminal of their own. With --yes it runs now, and counts only as "reported".`,
      ),
    );
  }
  say([notable(originWords(found))]);
  say([strong(text)]);
  const answer = await (await program.ask()).confirm(
    `Run this command in ${workspace}, now and whenever this check is attested?`,
  );
  if (answer !== true) return err(problem(EXIT.interrupted, 'Nothing was run.', 'Run the command again to decide.'));
  await access.confirmations.add({ command: text, workspace });
  return ok(true);
}

function originWords({ origin: { foreign, agentKeys } }: CheckToRun): string {
  if (agentKeys.length > 0) return `The agent chose this command, in the context (${agentKeys.join(', ')}):`;
  if (foreign === 'import') return 'This command comes from an imported session that nobody has accepted:';
  return foreign === 'binding'
    ? 'This command comes from the bindings of this project:'
    : `This command comes from a ${SOURCES[foreign ?? 'project']} workflow, not from your own files:`;
}

const SOURCES = { project: "project's", remote: 'git', plugin: "package's" } as const;

function headLines({ check, command: text, workspace, step }: CheckToRun): readonly Line[] {
  return [
    [strong(`Check "${check.checkId}" of step "${step.title}"`), dim(` in ${workspace}`)],
    [dim('$ '), text],
  ];
}

function dataOf({ sessionId, runId, check, command: text }: CheckToRun, result: CheckResult, verdict: RunVerdict) {
  const { statement, unseen } = result;
  const { exitCode, signal, timedOut, durationMs, tests, base } = statement;
  const ended = { exitCode, timedOut, durationMs, ...defined({ signal, tests }) };
  return {
    sessionId,
    runId,
    checkId: check.checkId,
    command: text,
    ...ended,
    ...(base === undefined ? {} : { base: defined({ ...base }) as typeof ended & { sha: string; fixed?: number } }),
    ...(verdict.kind === 'counts' ? { grade: verdict.grade } : {}),
    ...defined({ remark: remarkOn(check, result, verdict), filesNotRecorded: unseen && unseenCause(unseen) }),
  };
}

/** Only the caller that ran the command knows why git could not list its files. */
function remarkOn(check: CheckToRun['check'], { statement, unseen }: CheckResult, verdict: RunVerdict) {
  const isAboutFiles = verdict.kind === 'fails' && verdict.fault === 'files_unseen' && unseen !== undefined;
  if (!isAboutFiles) return verdictWords(verdict, check, statement);
  return `WorkRail does not know which files the command ran on, because ${unseenCause(unseen)}`;
}

function outcomeOf({ check, runId }: CheckToRun, result: CheckResult, verdict: RunVerdict) {
  const { statement, baseTrouble, unseen } = result;
  const remark = remarkOn(check, result, verdict);
  const took = duration(statement.durationMs);
  const tests = statement.tests === undefined ? '' : `, ${plural(statement.tests.executed, 'test')}`;
  const trouble: readonly Line[] =
    baseTrouble === undefined ? [] : [[notable(`The base could not be tried: ${baseTrouble}.`)]];
  if (verdict.kind === 'fails') {
    const message = `Check "${check.checkId}" does not count: ${remark}.`;
    const again = `${fixOf(verdict, check, unseen)} Then run \`workrail attest ${runTag(runId)} ${check.checkId}\` again.`;
    return {
      lines: [...trouble, [bad(message)], [dim(`Recorded (took ${took}${tests}).`)]],
      problem: problem(EXIT.checkFailed, message, again),
      next: '',
    };
  }
  const line: Line = [
    good(`Recorded: check "${check.checkId}" counts as ${verdict.grade}`),
    dim(` (took ${took}${tests})`),
  ];
  const files: readonly Line[] = unseen === undefined ? uncommittedLines(statement) : [[notable(filesWords(unseen))]];
  if (isAtLeast(verdict.grade, check.minimum)) {
    return { lines: [...trouble, line, ...files], next: 'Tell the agent: continue.' };
  }
  return { lines: [...trouble, line, ...files], problem: tooWeakProblem({ check, runId }, verdict, remark), next: '' };
}

/** What makes a command show something. */
function fixOf(
  { fault }: Extract<RunVerdict, { kind: 'fails' }>,
  { report }: CheckToRun['check'],
  unseen: UnseenFiles | undefined,
): string {
  if (fault === 'files_unseen' && unseen !== undefined) return unseenFix(unseen);
  if (fault !== 'no_report') return 'Fix the work.';
  return report === 'tap'
    ? 'Let the command print TAP to standard output, for example `node --test --test-reporter=tap`.'
    : `Let the command write a JUnit XML report to ${report}.`;
}

/** A result that counts for less than the step asks for. */
function tooWeakProblem(
  { check: { checkId, minimum }, runId }: Pick<CheckToRun, 'check' | 'runId'>,
  { grade, limit }: Extract<RunVerdict, { kind: 'counts' }>,
  remark: string | undefined,
): CommandProblem {
  const must = `Check "${checkId}" must be ${minimum}, and`;
  if (minimum === 'verified') {
    return problem(
      EXIT.checkFailed,
      `${must} this command can record it only as ${grade}.`,
      'Only a CI job that reports to a team server can verify it; docs/guides/teams.md shows how.',
    );
  }
  const message = `${must} counts only as ${grade}: ${remark}.`;
  if (limit === 'no_test_names') {
    return problem(EXIT.checkFailed, message, 'Add `report` to the check in the workflow, so that tests have names.');
  }
  const tag = runTag(runId);
  return problem(
    EXIT.needsPerson,
    message,
    `Run \`workrail attest ${tag} ${checkId}\` in a terminal of your own and confirm the command.`,
  );
}

/** Said while the run can still do something about it: a commit made later is other files. */
function uncommittedLines({ uncommitted = 0, headSha }: CheckResult['statement']): readonly Line[] {
  if (uncommitted === 0 || headSha === undefined) return [];
  const changed = `${plural(uncommitted, 'file')} ${uncommitted === 1 ? 'differs' : 'differ'} from commit ${headSha.slice(0, 10)}`;
  return [
    [dim(`${changed}. A merge gate counts only a check that ran on exactly the commit: commit, and run it again.`)],
  ];
}

/** A folder outside of git needs no fix. */
function filesWords(unseen: UnseenFiles): string {
  const words = `WorkRail could not record which files the command ran on: ${unseenCause(unseen)}.`;
  return unseen.unseen === 'no_repository' ? words : `${words} ${unseenFix(unseen)} Then run it again.`;
}

function recordProblem(
  refusal: RecordCheckRefusal,
  {
    runId,
    ...named
  }: { readonly runId: RunId } & ({ readonly checkId: string } | { readonly check: { readonly checkId: string } }),
  dataDir: string,
): CommandProblem {
  const tag = runTag(runId);
  const checkId = 'check' in named ? named.check.checkId : named.checkId;
  switch (refusal.code) {
    case 'run_complete':
      return problem(
        EXIT.notFound,
        `Run ${tag} is complete, so no check is due.`,
        `Run \`workrail session show ${tag}\`.`,
      );
    case 'step_without_checks':
      return problem(
        EXIT.notFound,
        `The step that is due, "${refusal.title}", has no checks.`,
        `Run \`workrail session show ${tag}\`.`,
      );
    case 'unknown_check': {
      const known = refusal.known.join(', ');
      if (checkId === '')
        return problem(
          EXIT.notFound,
          `The name of a check is missing. The step that is due, "${refusal.title}", has: ${known}.`,
          `Run \`workrail attest ${tag} CHECK\` with one of them.`,
        );
      const meant = nearest(checkId, refusal.known);
      return problem(
        EXIT.notFound,
        `The step that is due, "${refusal.title}", has no check "${checkId}".`,
        `${meant === undefined ? '' : `Did you mean ${meant}? `}Choose one of its checks: ${known}.`,
      );
    }
    case 'value_missing':
      return problem(
        EXIT.failed,
        `The command of check "${checkId}" needs a value that is not set: ${refusal.names.join(', ')}.`,
        'The agent sends it in the context of its next call; then run this again.',
      );
    case 'command_too_long':
    case 'command_with_nul':
      return commandProblem(refusal, checkId);
    case 'workspace_unknown':
      return problem(
        EXIT.failed,
        `Run ${tag} does not know its workspace.`,
        'Ask the agent to start the workflow again with the full path of the project as workspacePath.',
      );
    case 'workspace_gone':
      return problem(
        EXIT.failed,
        `The folder of run ${tag} does not exist any more: ${visibleLine(refusal.folder)}.`,
        'Put it back. If it is gone for good, start the workflow again in the folder where the work is.',
      );
    case 'step_over':
      return problem(
        EXIT.failed,
        'The step was finished while the command ran. Nothing was recorded.',
        `Run \`workrail session show ${tag}\` to see which step is due.`,
      );
    default:
      return refusalProblem(refusal as Parameters<typeof refusalProblem>[0], dataDir);
  }
}

/** A command that its values made unusable. */
function commandProblem(
  refusal: Extract<RecordCheckRefusal, { code: 'command_too_long' | 'command_with_nul' }>,
  checkId: string,
): CommandProblem {
  return refusal.code === 'command_too_long'
    ? problem(
        EXIT.failed,
        `The command of check "${checkId}" has ${refusal.bytes} bytes with its values, and at most ${RUN_COMMAND_BYTES_MAX} can be recorded.`,
        'Put the command into a script of the workspace, and let the agent send a shorter value.',
      )
    : problem(
        EXIT.failed,
        `The command of check "${checkId}" contains the character U+0000, which no command can have.`,
        'It came with a value in the context of the run: let the agent send that value without it.',
      );
}
