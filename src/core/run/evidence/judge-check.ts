import { unreachable } from '../../assert.ts';
import { ownJsonBytes, type Sha256, type Sha256Digest } from '../../json/canonical-json.ts';
import type { Grade } from '../../log/autonomy.ts';
import type { EventId } from '../../log/ids.ts';
import { plural } from '../../text/words.ts';
import type { Attestation } from '../../views/attestations.ts';
import type { Check } from '../../workflow/compiled/compiled-step.ts';
import { type BoundWorkspace, isSeen } from '../gate-facts.ts';
import { type UnseenFiles, unseenCause } from '../unseen-files.ts';

/** What is known about the checks of a step besides what the agent sent. */
export type EvidenceFacts = {
  /** What commands showed at this step, oldest first. */
  readonly runs: readonly CheckRecord[];
  /** The files of the workspace now; `unasked` where nobody looked. */
  readonly tree: BoundWorkspace | 'unasked' | undefined;
  /** The commit of the workspace now, where CI answered for a check. */
  readonly head?: string | undefined;
  readonly sha256: Sha256;
};

export type CheckRun = Extract<Attestation['data']['statement'], { kind: 'check' }>;
export type CheckRecord = {
  readonly run: CheckRun;
  readonly via: Attestation['data']['by']['via'];
  /** The event that holds it, so that a gap can point at it. */
  readonly eventId?: EventId;
};

/** How well a check is known to have passed; without a grade nothing shows it. */
export type CheckStanding = {
  readonly checkId: string;
  readonly minimum: Grade;
  readonly grade?: Grade;
  /** Why the newest run of the command does not count, or not for more. */
  readonly remark?: string;
};

/** Why a run of a command shows nothing. */
type Fault =
  | 'other_command'
  | 'timed_out'
  | 'cannot_run'
  | 'failed'
  | 'passed'
  | 'no_report'
  | 'too_few_tests'
  | 'tests_failed'
  | 'no_test_failed'
  | 'base_missing'
  | 'base_cannot_run'
  | 'base_passed'
  | 'none_fixed'
  | 'changed_during'
  | 'files_changed'
  | 'files_unseen'
  | 'files_unknown'
  | 'head_moved';

/** Why a run that counts is worth no more than a report. */
type Limit = 'chosen_by_agent' | 'unseen' | 'no_test_names';

export type RunVerdict =
  | { readonly kind: 'counts'; readonly grade: Grade; readonly limit?: Limit }
  | {
      readonly kind: 'fails';
      readonly fault: Fault;
      /** Why WorkRail does not know whether files changed since. The run counts again as soon as git can list them unchanged. */
      readonly unseen?: UnseenFiles;
    };

/** What the newest run of a check is compared with. */
export type CheckNow = { readonly commandDigest: Sha256Digest } & Pick<EvidenceFacts, 'tree' | 'head'>;

/** The digest of a command as it is run, as a JSON text. */
export function commandDigest(text: string, sha256: Sha256): Sha256Digest {
  return sha256(ownJsonBytes(text));
}

/** Whether a run of a command counts for its check, and for how much. */
export function judgeRun(check: Check, record: CheckRecord, now: CheckNow): RunVerdict {
  const { run, via } = record;
  const fault =
    // A rehearsal has no files.
    faultOf(check, record, via === 'rehearsal' ? { ...now, tree: 'unasked' } : now) ??
    // CI ran the command on a commit, and not on what the workspace has now.
    (via === 'ci' && now.head !== undefined && run.headSha !== now.head ? 'head_moved' : undefined);
  if (fault !== undefined) return { kind: 'fails', fault, ...(fault === 'files_unknown' ? unseenNow(now) : {}) };
  const limit = limitOf(check, run);
  if (limit !== undefined) return { kind: 'counts', grade: 'reported', limit };
  return { kind: 'counts', grade: via === 'ci' ? 'verified' : 'observed' };
}

/** As far as the record of a run shows: whether command and files are still the same is found out when the agent continues. */
export function judgeRecord(check: Check, record: CheckRecord): RunVerdict {
  const { commandDigest, headSha = '', treeDigest } = record.run;
  const seen = treeDigest === undefined ? undefined : { headSha, treeDigest };
  const tree = record.via === 'ci' ? 'unasked' : seen;
  return judgeRun(check, record, { commandDigest: commandDigest as Sha256Digest, tree });
}

function limitOf({ against, report }: Check, { chosenByAgent, unseen }: CheckRun): Limit | undefined {
  if (chosenByAgent === true) return 'chosen_by_agent';
  if (unseen === true) return 'unseen';
  // Both exit codes may have any cause; only names show that the same test was red and is green.
  return against === 'base' && report === undefined ? 'no_test_names' : undefined;
}

function faultOf(check: Check, record: CheckRecord, { commandDigest, tree }: CheckNow): Fault | undefined {
  const { run } = record;
  if (run.commandDigest !== commandDigest) return 'other_command';
  return endFault(check, run) ?? reportFault(check, run) ?? baseFault(check, run) ?? freshFault(check, record, tree);
}

type End = Pick<CheckRun, 'exitCode' | 'timedOut'>;

function endFault({ expect }: Check, run: CheckRun): Fault | undefined {
  if (run.timedOut) return 'timed_out';
  if (isUnrunnable(run)) return 'cannot_run';
  const hasPassed = run.exitCode === 0;
  if (expect === 'fail') return hasPassed ? 'passed' : undefined;
  return hasPassed ? undefined : 'failed';
}

/** A command that was not found, could not be run or was killed says nothing. A shell adds 128 to a signal. */
function isUnrunnable({ exitCode }: End): boolean {
  return exitCode === null || exitCode === 126 || exitCode === 127 || (exitCode > 128 && exitCode < 160);
}

/** A report that says something else than the exit code contradicts it. */
function reportFault({ expect, report, atLeast = 1 }: Check, { tests }: CheckRun): Fault | undefined {
  if (report === undefined) return undefined;
  if (tests === undefined) return 'no_report';
  if (tests.executed < atLeast) return 'too_few_tests';
  if (expect === 'fail') return tests.failed === 0 ? 'no_test_failed' : undefined;
  return tests.failed > 0 ? 'tests_failed' : undefined;
}

function baseFault({ against, report }: Check, { base }: CheckRun): Fault | undefined {
  if (against !== 'base') return undefined;
  if (base === undefined) return 'base_missing';
  if (base.timedOut || isUnrunnable(base)) return 'base_cannot_run';
  if (base.exitCode === 0) return 'base_passed';
  return report !== undefined && (base.fixed ?? 0) === 0 ? 'none_fixed' : undefined;
}

function freshFault({ fresh }: Check, { run, via }: CheckRecord, tree: CheckNow['tree']): Fault | undefined {
  if (fresh === undefined || tree === 'unasked') return undefined;
  if (via === 'ci') return ciFreshFault(run, tree);
  if (run.changedDuring === true) return 'changed_during';
  if (run.treeDigest === undefined) return 'files_unseen';
  if (!isSeen(tree)) return 'files_unknown';
  return run.treeDigest === tree.treeDigest ? undefined : 'files_changed';
}

/** A job of CI has exactly the files of its commit, so the workspace has them too if it is at that commit, without changes. */
function ciFreshFault({ headSha }: CheckRun, tree: BoundWorkspace | undefined): Fault | undefined {
  if (!isSeen(tree)) return 'files_unknown';
  if (tree.headSha !== headSha) return 'head_moved';
  return tree.changed?.length === 0 ? undefined : 'files_changed';
}

function unseenNow({ tree }: CheckNow): { readonly unseen?: UnseenFiles } {
  return tree === undefined || tree === 'unasked' || isSeen(tree) ? {} : { unseen: tree };
}

/** What is wrong with a run, as a sentence without its full stop. */
export function verdictWords(verdict: RunVerdict, check: Check, run: CheckRun): string | undefined {
  if (verdict.kind === 'fails') {
    return verdict.unseen === undefined
      ? faultWords(verdict.fault, check, run)
      : `${unseenCause(verdict.unseen)}, so WorkRail does not know whether files changed since`;
  }
  switch (verdict.limit) {
    case undefined:
      return undefined;
    case 'chosen_by_agent':
      return 'the agent chose the command, and no person has confirmed it';
    case 'unseen':
      return 'the command is not from your own files, and no person has confirmed it';
    case 'no_test_names':
      return 'without a test report nothing shows that the same test failed on the base';
    default:
      return unreachable(verdict.limit);
  }
}

function faultWords(fault: Fault, { atLeast = 1 }: Check, run: CheckRun): string {
  const { exitCode, signal, tests, base } = run;
  switch (fault) {
    case 'other_command':
      return 'another command was run; the check has changed since';
    case 'timed_out':
      return 'the command did not end within its time limit';
    case 'cannot_run':
      return `the command could not be run${endWords({ exitCode, signal })}`;
    case 'failed':
      return `the command ended with exit code ${exitCode}`;
    case 'passed':
      return 'the command passed, but it must fail at this step';
    case 'no_report':
      return 'the command wrote no test report that can be read';
    case 'too_few_tests':
      return `${plural(tests?.executed ?? 0, 'test')} ran, and at least ${atLeast} must run`;
    case 'tests_failed':
      return `the report names ${plural(tests?.failed ?? 0, 'failed test')}`;
    case 'no_test_failed':
      return 'the report names no failed test';
    case 'base_missing':
      return 'the command was not tried on the base commit';
    case 'base_cannot_run':
      return `the command could not be run on the base commit${endWords(base ?? { exitCode })}`;
    case 'base_passed':
      return `vacuous: the command also passes on the base commit; ${newTest(base)}`;
    case 'none_fixed':
      return `vacuous: no test that is named as failing on the base is named as passing here; ${newTest(base)}`;
    case 'changed_during':
      return 'files of the workspace changed while the command ran';
    case 'files_changed':
      return 'files of the workspace changed since the command ran';
    case 'files_unseen':
      return 'git could not list the files that the command ran on, and `attest` says why';
    case 'head_moved':
      return `CI ran it on commit ${run.headSha?.slice(0, 10) ?? 'unknown'}, and the workspace is at another commit now; push that one, save it with checkpoint_workflow, and let CI run again`;
    case 'files_unknown':
      return 'git cannot list the files, so WorkRail does not know whether they changed since';
    default:
      return unreachable(fault);
  }
}

/** The way out of a check that shows nothing new. */
function newTest(base: CheckRun['base']): string {
  return `add a test that fails on ${base === undefined ? 'that commit' : base.sha.slice(0, 10)}`;
}

function endWords({ exitCode, signal }: Pick<CheckRun, 'exitCode' | 'signal'>): string {
  if (signal !== undefined) return ` (ended by ${signal})`;
  return exitCode === null ? '' : ` (exit code ${exitCode})`;
}
