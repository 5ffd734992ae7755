import { isList, isObject, type JsonObject, quote } from '../../json/json-value.ts';
import { isAtLeast, strongestGrade } from '../../log/autonomy.ts';
import type { EventId } from '../../log/ids.ts';
import { clip } from '../../text/utf8.ts';
import { andList, plural } from '../../text/words.ts';
import { commandText } from '../../views/attestations.ts';
import { GRADE_MEANINGS } from '../../views/line-checks.ts';
import { verificationReport } from '../../workflow/builtins/report-contracts.ts';
import type { Check, CompiledStep } from '../../workflow/compiled/compiled-step.ts';
import type { PinnedContract } from '../../workflow/compiled/compiled-workflow.ts';
import { type ContextValues, fillPlaces, readPath } from '../condition/context-values.ts';
import {
  type CheckRecord,
  type CheckStanding,
  commandDigest,
  judgeRun,
  type RunVerdict,
  verdictWords,
} from '../evidence/judge-check.ts';
import { blank, choiceBlank, isBlankField } from '../form/blank.ts';
import { COMMAND_VALUE_WORDS, COMMAND_WORDS } from '../form/context-form.ts';
import { contractForm } from '../form/contract-form.ts';
import type { StepPlace } from '../step-place.ts';
import { unseenFix } from '../unseen-files.ts';
import {
  type ArtifactVerdict,
  correctedArtifact,
  engineContract,
  judgeArtifacts,
  ofKind,
  withAccounts,
} from './judge-artifact.ts';
import { hasNotes, notesFormAt } from './notes.ts';
import { type AskedAttempt, met, notMet, requirementKind, stepPointer } from './requirement.ts';

/** A check of the step: how well it must be known that its command passes. */
export const checkRequirement = requirementKind<'check', CheckStanding>({
  find: (place) =>
    (place.step.checks ?? []).map((check) => ({
      kind: 'check',
      check,
      ...(check.minimum === 'reported' ? { form: reportForm(contractAt(place), place) } : {}),
    })),

  ask: ({ check }, place) => {
    const named = `The check ${quote(check.checkId)}`;
    const { text, unset, keys } = commandAt(check, place);
    const isKnown = unset.length === 0;
    const command = isKnown ? commandText(clip(text, COMMAND_BYTES_MAX)) : 'the command';
    const names = unset.map(quote).join(' and ');
    const values = `send ${names} in context`;
    const needed = `Its command is not known yet: find it out, and ${values}.`;
    const attest = `\`${attestLine(check, place)}\``;
    const isFromContext = keys.length > 0;
    switch (check.minimum) {
      case 'asserted':
        return isKnown
          ? `${named}: run ${command} and write in the notes how it ended.`
          : `Choose the command of the check ${quote(check.checkId)}, ${values}, run it, and write in the notes how it ended.`;
      case 'reported':
        return `${named} must pass. ${isKnown ? `Run ${command}` : `${needed} Run the command`}, and add an entry named ${quote(check.checkId)} to ${verificationReport.artifactKind}. ${isFromContext ? `For stronger evidence, the user can run ${attest} in a terminal of their own.` : `For stronger evidence, run ${attest}.`}${demands(check)} ${otherwise(check, place)}`;
      case 'verified':
        return `${named} must be verified: ${CI_VERIFIES} ${SAVE_AND_PUSH} until CI has reported, then send the call. Notes, artifacts and \`attest\` do not count for this. ${otherwise(check, place)}`;
      default:
        return `${named} must pass: ${isFromContext ? personRuns(attest, names, place) : `run ${attest} in a shell.${isNeverAsked(place) ? '' : UNCONFIRMED}`} \`attest\` runs ${command} and records the result. Notes and artifacts do not count for this.${demands(check)} ${otherwise(check, place)}`;
    }
  },

  form: ({ check }, attempt) => {
    if (check.minimum === 'asserted') return { notesMarkdown: notesFormAt(attempt) };
    const { unset } = commandAt(check, attempt);
    const context =
      unset.length === 0
        ? {}
        : { context: Object.fromEntries(unset.map((name) => [name, blank(valueWords(check, name))])) };
    if (check.minimum === 'reported') return { artifacts: [correctedReport(attempt)], ...context };
    return unset.length === 0 ? undefined : context;
  },

  check: ({ check }, attempt) => {
    const requirement = checkName(attempt.step, check.checkId);
    const standing = standingOf(check, attempt);
    const found = isAtLeast(standing.grade, check.minimum) ? met(requirement) : notMet(requirement, standing);
    return { ...found, checks: [standing] };
  },

  explain: (standing, { check }, attempt) => {
    const { checkId, minimum } = check;
    const attest = attestLine(check, attempt);
    const { grade, remark } = standing;
    const verdict = newestVerdict(check, attempt);
    const unseen = verdict?.kind === 'fails' ? verdict.unseen : undefined;
    const why = remark === undefined ? '' : ` The last run does not count for more: ${remark}.`;
    return {
      reason: 'contract_violation:missing_required_output',
      pointer: stepPointer(attempt.step),
      message: `${lackWords(check, grade, attempt)}${why}`,
      suggestedFix: unseen === undefined ? fixOf(check, attempt, attest) : `${unseenFix(unseen)} ${AGAIN}`,
      details: { check: { checkId, minimum, ...(grade === undefined ? {} : { grade }), command: attest } },
      ...evidenceOf(newestRun(check, attempt)),
    };
  },
});

/** What a run must show besides its exit code, so that nobody finds out by failing. */
function demands({ expect, against, report, atLeast = 1, fresh }: Check): string {
  const asked = [
    ...(expect === 'fail' ? ['The command must fail.'] : []),
    ...(against === 'base' ? ['It must fail on the commit at the start of the run and pass now.'] : []),
    ...(against === 'base' && report !== undefined
      ? ['At least one test must be named as failing there and passing here.']
      : []),
    ...(report === undefined
      ? []
      : [
          `${report === 'tap' ? 'It must print TAP' : `It must write JUnit XML to ${report}`} with at least ${plural(atLeast, 'test')}.`,
        ]),
    ...(fresh === undefined ? [] : ['Do not change files after it ran.']),
  ];
  return asked.length === 0 ? '' : ` ${asked.join(' ')}`;
}

/** How a command that the agent supplies is run: only a person can confirm it. `unset` names the values that it still lacks. */
function personRuns(attest: string, unset: string, place: StepPlace): string {
  if (isNeverAsked(place)) {
    const values = unset === '' ? '' : `send ${unset} in context; `;
    return `${values}only the user can record the result, with ${attest} in a terminal of their own, because you supply the command. In this mode you do not ask the user.`;
  }
  return unset === ''
    ? `ask the user to run ${attest} in a terminal of their own. ${SUPPLIED}`
    : `send ${unset} in context with your report. The reply then says "Blocked"; ask the user to run ${attest} in a terminal of their own. ${SUPPLIED_LATER}`;
}

function isNeverAsked({ facts }: StepPlace): boolean {
  return facts.preferences.autonomy === 'full_auto_never_stop';
}

/** What to do with a check that cannot pass, so that no step has to say it. */
function otherwise({ checkId }: Check, place: StepPlace): string {
  return isNeverAsked(place)
    ? `If ${quote(checkId)} cannot pass or nobody records it, report this step anyway: the run continues, with a gap.`
    : `If ${quote(checkId)} cannot pass, do not report this step: tell the user why, and wait.`;
}

/** The newest run shows why a check does not count. */
function evidenceOf(newest: CheckRecord | undefined): { readonly evidence?: readonly EventId[] } {
  return newest?.eventId === undefined ? {} : { evidence: [newest.eventId] };
}

/** What is missing for a check to count. */
function lackWords(check: Check, grade: CheckStanding['grade'], attempt: AskedAttempt): string {
  const { checkId, minimum } = check;
  const named = `The check ${quote(checkId)}`;
  if (minimum === 'asserted') return `${named} is not shown: the notes must say how it ended.`;
  if (minimum === 'reported') {
    if (isRefuted(newestVerdict(check, attempt))) {
      return `${named} did not pass in the last run that WorkRail recorded, and a report cannot replace that run.`;
    }
    const verdict = reportVerdict(attempt);
    if (verdict.kind === 'refused' && hasPassedIn(verdict.value, checkId)) {
      return `${named} counts as reported once ${verificationReport.artifactKind} is accepted. Your entry for it needs no change.`;
    }
    return `${named} is not shown as passed: ${verificationReport.artifactKind} has no valid entry ${quote(checkId)} with outcome "${PASS}", and notes alone are not enough.`;
  }
  const have = grade === undefined ? 'nothing shows it' : `it is only ${grade} (${GRADE_MEANINGS[grade]})`;
  return `${named} must be ${minimum} (${GRADE_MEANINGS[minimum]}), and ${have}.`;
}

/** This is true only of a call for which nothing else needs output. */
export const NO_OUTPUT_NEEDED = ' It needs no output.';

/** The run itself is recorded. */
const AGAIN = `Then send the next call.${NO_OUTPUT_NEEDED}`;
const PASS = 'pass';
/** Whether a person has confirmed a command is known only where it runs, so this is true in both cases. */
const UNCONFIRMED =
  ' If it says that no person has confirmed the command, ask the user to run it in a terminal of their own.';
const SUPPLIED = 'You supplied the command, so `attest` asks a person to confirm it.';
const SUPPLIED_LATER = 'Because you supply the command, `attest` asks a person to confirm it.';
const CI_VERIFIES = 'only a CI job that reports to a team server can verify it.';
/** CI may answer only for the commit that the run has seen last, and a run sees a commit with a checkpoint. */
const SAVE_AND_PUSH = 'Commit your work, save the commit with checkpoint_workflow, push it, and wait';

function valueWords({ run }: Check, name: string): string {
  return run.replaceAll(/\s/g, '') === `{{${name}}}` ? COMMAND_WORDS : COMMAND_VALUE_WORDS;
}

/** The requirement of one check, named so that its gap can be closed later. */
export function checkName({ stepId }: Pick<CompiledStep, 'stepId'>, checkId: string): string {
  return `check:${stepId}#${checkId}`;
}

/** The command line that runs a check and records how it ended. */
function attestLine({ checkId }: Check, { facts }: StepPlace): string {
  return `${facts.command ?? 'workrail'} attest ${facts.tag ?? 'TAG'} ${checkId}`;
}

function fixOf(check: Check, attempt: AskedAttempt, attest: string): string {
  const { unset, keys } = commandAt(check, attempt);
  if (check.minimum === 'asserted') return 'Send `output.notesMarkdown` and say how the command ended.';
  if (check.minimum === 'reported' && isRefuted(newestVerdict(check, attempt))) {
    return `Fix the work. Then ${keys.length > 0 ? 'ask the user to run' : 'run'} \`${attest}\` again, and send the call.`;
  }
  if (check.minimum === 'reported') {
    return `${keys.length > 0 ? 'Ask the user to run' : 'Run'} \`${attest}\`, or run the command yourself and send ${verificationReport.artifactKind} with the entry ${quote(check.checkId)} and outcome "${PASS}". Report only what you saw: if it does not pass, fix the work first.`;
  }
  if (check.minimum === 'verified') {
    return `${SAVE_AND_PUSH} until CI has reported the check to the team server. ${AGAIN} Without a team server this step cannot be passed: stop and tell the user.`;
  }
  const set =
    unset.length === 0
      ? ''
      : `First send the next call with ${andList(unset.map(quote))} in context; without ${unset.length === 1 ? 'it' : 'them'}, the command is not known. Then `;
  const isPersonNeeded =
    isLimitedByPerson(check, attempt) || (keys.length > 0 && newestRun(check, attempt) === undefined);
  const run = isPersonNeeded
    ? `ask the user to run \`${attest}\` in a terminal of their own. The command counts only after a person has confirmed it once.`
    : `run \`${attest}\` in a shell of the workspace.${UNCONFIRMED}`;
  return set === ''
    ? `${run.charAt(0).toUpperCase()}${run.slice(1)} ${AGAIN}`
    : `${set}${run} Then send the call that the new reply shows.${NO_OUTPUT_NEEDED}`;
}

function isLimitedByPerson(check: Check, attempt: AskedAttempt): boolean {
  const newest = newestRun(check, attempt);
  return newest?.run.chosenByAgent === true || newest?.run.unseen === true;
}

/** The command as it would be run now. */
function commandAt(check: Check, { facts, loopVariables }: StepPlace): CheckCommand {
  return checkCommand(check, { context: facts.context, loopVariables });
}

const COMMAND_BYTES_MAX = 160;

function newestRun({ checkId }: Check, { evidence }: AskedAttempt) {
  return evidence?.runs.findLast(({ run }) => run.checkId === checkId);
}

/** What the newest run of a check shows. */
function newestVerdict(check: Check, attempt: AskedAttempt): RunVerdict | undefined {
  const { evidence } = attempt;
  const newest = newestRun(check, attempt);
  if (newest === undefined || evidence === undefined) return undefined;
  const digest = commandDigest(commandAt(check, attempt).text, evidence.sha256);
  return judgeRun(check, newest, { commandDigest: digest, tree: evidence.tree, head: evidence.head });
}

/** How well a check is known to have passed: by its newest run, by a report, by the notes. */
function standingOf(check: Check, attempt: AskedAttempt): CheckStanding {
  const { checkId, minimum } = check;
  const newest = newestRun(check, attempt);
  const verdict = newestVerdict(check, attempt);
  const grade = strongestGrade([
    verdict?.kind === 'counts' ? verdict.grade : undefined,
    isReported(checkId, attempt) && !isRefuted(verdict) ? 'reported' : undefined,
    hasNotes(attempt) ? 'asserted' : undefined,
  ]);
  const remark = verdict && newest && verdictWords(verdict, check, newest.run);
  return { checkId, minimum, ...(grade === undefined ? {} : { grade }), ...(remark === undefined ? {} : { remark }) };
}

/** What WorkRail saw last is that the command does not do what it must; a report that says otherwise is only a word. */
function isRefuted(verdict: RunVerdict | undefined): boolean {
  return verdict?.kind === 'fails' && REFUTING.has(verdict.fault);
}

const REFUTING: ReadonlySet<Extract<RunVerdict, { kind: 'fails' }>['fault']> = new Set([
  'timed_out',
  'failed',
  'passed',
  'tests_failed',
  'no_test_failed',
]);

function contractAt({ index }: StepPlace): PinnedContract {
  return engineContract(index, verificationReport);
}

function reportVerdict(attempt: AskedAttempt): ArtifactVerdict {
  const contract = contractAt(attempt);
  return judgeArtifacts(ofKind(attempt.handedIn.artifacts, contract.artifactKind), contract);
}

/** The report that counts. */
function sentReport(attempt: AskedAttempt): JsonObject | undefined {
  const verdict = reportVerdict(attempt);
  return verdict.kind === 'accepted' ? verdict.value : undefined;
}

function entriesOf(report: JsonObject | undefined): readonly JsonObject[] {
  const checks = report?.['checks'];
  return checks !== undefined && isList(checks) ? checks.filter(isObject) : [];
}

function isReported(checkId: string, attempt: AskedAttempt): boolean {
  return hasPassedIn(sentReport(attempt), checkId);
}

/** Two entries of one name contradict each other unless both passed. */
function hasPassedIn(report: JsonObject | undefined, checkId: string): boolean {
  const entries = entriesOf(report).filter(({ name }) => name === checkId);
  return entries.length > 0 && entries.every(({ outcome }) => outcome === PASS);
}

/** A report to fill in, with an entry for each check that may be reported. */
export function reportForm(contract: PinnedContract, place: StepPlace): JsonObject {
  const form = contractForm(contract);
  const asked = (place.step.checks ?? []).filter(({ minimum }) => minimum === 'reported');
  if (asked.length === 0) return withAccounts(form, contract, place);
  const [entry] = Array.isArray(form['checks']) ? (form['checks'] as readonly JsonObject[]) : [];
  return withAccounts({ ...form, checks: asked.map(({ checkId }) => ({ ...entry, name: checkId })) }, contract, place);
}

/** The agent's own report, with blanks where it is wrong and for the checks that it does not show as passed. */
export function correctedReport(attempt: AskedAttempt): JsonObject {
  const contract = contractAt(attempt);
  const form = reportForm(contract, attempt);
  const verdict = reportVerdict(attempt);
  if (verdict.kind === 'missing') return form;
  const own = verdict.kind === 'accepted' ? verdict.value : correctedArtifact(verdict, { contract, form });
  const asked = (attempt.step.checks ?? []).filter(({ minimum }) => minimum === 'reported');
  const missing = asked.map(({ checkId }) => checkId).filter((checkId) => !isShown(entriesOf(own), checkId));
  if (missing.length === 0) return withAccounts(own, contract, attempt);
  const kept = entriesOf(own).filter(({ name }) => typeof name !== 'string' || !missing.includes(name));
  const outcome = choiceBlank([PASS, 'fail', 'skipped']);
  const report = { ...own, checks: [...kept, ...missing.map((name) => ({ name, outcome }))] };
  return withAccounts(report, contract, attempt);
}

/** Whether a report shows a check as passed, or has blanks for it. */
function isShown(entries: readonly JsonObject[], checkId: string): boolean {
  const named = entries.filter(({ name }) => name === checkId);
  const isOpen = ({ outcome }: JsonObject) =>
    outcome === PASS || (typeof outcome === 'string' && isBlankField(outcome));
  return named.length > 0 && named.every(isOpen);
}

/** A command as it is run, or the names of the values that it still lacks. */
export type CheckCommand = {
  readonly text: string;
  readonly unset: readonly string[];
  /** Context keys that it takes values from. */
  readonly keys: readonly string[];
};

/** Values are put in as they are: whether the command counts is decided by who chose it. */
export function checkCommand({ run }: Pick<Check, 'run'>, values: ContextValues): CheckCommand {
  const unset = new Set<string>();
  const keys = new Set<string>();
  const text = fillPlaces(run, (path, whole) => {
    keys.add(path.split('.')[0] ?? path);
    const value = readPath(values, path);
    if (value !== undefined && value !== null && value !== '') return typeof value === 'string' ? value : quote(value);
    unset.add(path);
    return whole;
  });
  return { text, unset: [...unset], keys: [...keys] };
}
