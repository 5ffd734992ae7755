import { type JsonObject, quote } from '../../json/json-value.ts';
import { SUMMARY_BYTES_MAX } from '../../log/budgets.ts';
import { textSchema } from '../../log/document-schema.ts';
import { stepIdSchema } from '../../log/ids.ts';
import { DIVERGENCE_REASONS } from '../../log/reasons.ts';
import { quoteReservedLines } from '../../text/visible-text.ts';
import { capabilityObservation, workflowDivergence } from '../../workflow/builtins/run-contracts.ts';
import type { CompiledStep } from '../../workflow/compiled/compiled-step.ts';
import { criteriaRules } from '../../workflow/compiled/criteria.ts';
import { evaluateCriteria } from '../condition/evaluate-criteria.ts';
import { blankWords } from '../form/blank.ts';
import { ALL_FILLED, isAllFilled, type OfferedWords, offeredWords, separateUnfilled } from '../form/unfilled.ts';
import { conditionFacts, dueConfirmation, type StepAttempt, type StepPlace, type Unfilled } from '../step-place.ts';
import { assessments } from './assessment.ts';
import { capability, readObservations } from './capability.ts';
import { checkRequirement, NO_OUTPUT_NEEDED } from './check.ts';
import { contractRequirement, gateRequirement } from './contract.ts';
import { type ArtifactsRead, engineContract, isKnownKind, readArtifacts } from './judge-artifact.ts';
import { decidedLoop, decisionThatCounts, loopControlArtifact, readDecisions } from './loop-control.ts';
import { accounts, criteriaRequirement, listIds, notes, notesFormAt } from './notes.ts';
import {
  type AskedAttempt,
  type AskedPlace,
  type Found,
  type Requirement,
  type RequirementKind,
  type RequirementName,
  type StepCheck,
  stepPointer,
  type Unmet,
  type UnreadableArtifact,
  unfilledUnits,
  withinBudgets,
} from './requirement.ts';
import { approval, userRequirement } from './user.ts';

/** Every kind of requirement, in the order in which a prompt shows them. */
const KINDS: { readonly [Name in RequirementName]: RequirementKind<Name> } = {
  notes,
  criteria: criteriaRequirement,
  ids: listIds,
  accounts,
  output_contract: contractRequirement,
  loop_control: loopControlArtifact,
  assessments,
  check: checkRequirement,
  gate: gateRequirement,
  capability,
  user_dependency: userRequirement,
  approval,
};

/** Everything a step asks for at this place. The prompt shows exactly what an attempt is later compared with. */
export function requirementsOf(place: StepPlace): readonly Requirement[] {
  return Object.values(KINDS).flatMap<Requirement>(({ find }) => find(place));
}

/** A place with everything its step asks for. */
export function askedAt<Place extends StepPlace>(place: Place): Place & AskedPlace {
  return { ...place, requirements: requirementsOf(place) };
}

/** What a step asks for, as the prompt shows it before the agent works: one paragraph for each. */
export function requirementTexts(place: AskedPlace): readonly string[] {
  const texts = place.requirements.flatMap((one) => ask(one, place) ?? []);
  if (texts.length === 0) return [];
  const isOnlyNotes = place.requirements.length === 1 && place.requirements[0]?.kind === 'notes';
  // Messages and questions are the author's, who must not write lines that look like ours.
  return isOnlyNotes ? [ONLY_NOTES] : [LEAD, ...texts.map(quoteReservedLines)];
}

const LEAD = 'Required:';
const ONLY_NOTES = 'Required: notes about this step only, in `output.notesMarkdown`.';

function ask<Name extends RequirementName>(asked: Requirement<Name>, place: AskedPlace): string | undefined {
  return KINDS[asked.kind].ask(asked, place);
}

/** Compares an attempt with one thing that its step asks for. */
function judge<Name extends RequirementName>(asked: Requirement<Name>, attempt: AskedAttempt): Found {
  return KINDS[asked.kind].judge(asked, attempt);
}

/** Checks an attempt at a step: everything that is unmet, at once, and everything that it reports. */
export function checkStep(sent: StepAttempt): StepCheck {
  const { filled, unfilled } = filledIn(sent);
  const attempt: StepAttempt = { ...sent, handedIn: filled };
  const asked = { ...askedAt(attempt), unfilled };
  const { observations, divergences, decisions } = readReports(attempt);
  const found = asked.requirements.map((one) => judge(one, asked));
  const unmet = withoutFalsePromise(
    joinProbe(
      found.flatMap((one) => one.unmet),
      attempt.step,
    ),
  );
  const readings = [observations, divergences, decisions].flatMap((reading) => reading.unreadable);
  return {
    unmet,
    met: found.flatMap((one) => one.met),
    assessments: found.flatMap((one) => one.assessments ?? []),
    checks: found.flatMap((one) => one.checks ?? []),
    loopDecision: decisionThatCounts(decisions.read, decidedLoop(attempt.index, attempt.step)),
    observations: observations.read,
    divergences: divergences.read,
    unknownKinds: unknownKinds(attempt),
    filled,
    blankLeftOut: leftOut(unfilled, unmet),
    unreadable: [
      ...unnamedArtifacts(attempt),
      ...found.flatMap((one) => one.unreadable ?? []),
      ...unaskedFor(readings, asked.requirements),
    ],
  };
}

/** What an attempt reports without being asked. Most attempts send no artifact, and then nothing has to be read. */
function readReports(attempt: StepAttempt): Reports {
  if (attempt.handedIn.artifacts.length === 0) return NO_REPORTS;
  return {
    observations: readObservations(attempt),
    divergences: readDivergences(attempt),
    decisions: readDecisions(attempt),
  };
}

type Reports = {
  readonly observations: ReturnType<typeof readObservations>;
  readonly divergences: ArtifactsRead<Divergence>;
  readonly decisions: ReturnType<typeof readDecisions>;
};
const NOTHING_READ = { read: [], unreadable: [] };
const NO_REPORTS: Reports = { observations: NOTHING_READ, divergences: NOTHING_READ, decisions: NOTHING_READ };

/** Separates what was filled in from what was sent back as it was offered. */
function filledIn(sent: StepAttempt): ReturnType<typeof separateUnfilled> {
  const { index, handedIn, blankKeys = [] } = sent;
  const isEmpty = handedIn.notesMarkdown === undefined && handedIn.artifacts.length === 0;
  if (isEmpty) return { filled: handedIn, unfilled: { ...ALL_FILLED, contextKeys: blankKeys } };
  const { filled, unfilled } = separateUnfilled(handedIn, {
    contractOf: (kind) => [...index.contracts.values()].find(({ artifactKind }) => artifactKind === kind),
    words: wordsAt(sent),
  });
  return { filled, unfilled: { ...unfilled, contextKeys: blankKeys } };
}

/** The words of all blanks that a step offers. */
function wordsAt(place: StepPlace): OfferedWords {
  const asked = askedAt(place);
  const artifacts = asked.requirements.flatMap((one) =>
    'forms' in one ? one.forms : 'form' in one && one.form !== undefined ? [one.form] : [],
  );
  return offeredWords({ notesMarkdown: notesFormAt(asked), artifacts }, (word) => isRuleMetBy(word, place));
}

/** Whether a form that an author wrote names a word that meets its rule: the word is then an answer. */
function isRuleMetBy(word: string, place: StepPlace): boolean {
  const rules = place.step.criteria === undefined ? [] : criteriaRules(place.step.criteria);
  return rules.some(
    (rule) =>
      rule.form !== undefined &&
      blankWords(rule.form).includes(word) &&
      evaluateCriteria(rule, word, conditionFacts(place)).length === 0,
  );
}

/** What no unmet requirement is about. */
function leftOut(unfilled: Unfilled, unmet: readonly Unmet[]): readonly string[] {
  if (isAllFilled(unfilled)) return [];
  const covered = new Set(unmet.flatMap(({ form }) => (form === undefined ? [] : unfilledUnits(unfilled, form))));
  return unfilledUnits(unfilled).filter((unit) => !covered.has(unit));
}

/**
 * A probe without its report has one problem, not two: the words are those of the contract, the name is that of the
 * capability, so that later steps refer to the same requirement.
 */
function joinProbe(unmet: readonly Unmet[], { purpose }: CompiledStep): readonly Unmet[] {
  if (purpose.kind !== 'probe') return unmet;
  const report = unmet.find(
    ({ pointer }) => pointer.kind === 'output_contract' && pointer.contractRef === capabilityObservation.contractRef,
  );
  const untried = unmet.find(
    ({ pointer, reason }) => pointer.kind === 'capability' && reason === 'contract_violation:missing_required_output',
  );
  if (report === undefined || untried === undefined) return unmet;
  return unmet
    .filter((one) => one !== untried)
    .map((one) => (one === report ? { ...one, requirement: untried.requirement } : one));
}

/** A check knows only itself: whether the call needs output depends on everything that is unmet. */
function withoutFalsePromise(unmet: readonly Unmet[]): readonly Unmet[] {
  const isOutputNeeded = unmet.some(({ form }) => form?.notesMarkdown !== undefined || form?.artifacts !== undefined);
  if (!isOutputNeeded) return unmet;
  return unmet.map((one) => ({ ...one, suggestedFix: one.suggestedFix.replace(NO_OUTPUT_NEEDED, '') }));
}

function unknownKinds({ index, handedIn }: StepAttempt): readonly string[] {
  const kinds = handedIn.artifacts.flatMap(({ kind }) => kind ?? []);
  return [...new Set(kinds)].filter((kind) => !isKnownKind(index, kind));
}

function unnamedArtifacts({ handedIn }: StepAttempt): readonly UnreadableArtifact[] {
  const message = 'An artifact was sent without "kind". It is stored but meets no requirement.';
  return handedIn.artifacts.some(({ kind }) => kind === undefined) ? [{ artifactKind: undefined, message }] : [];
}

/** Artifacts that a step asks for are already covered by its requirement. */
function unaskedFor(unreadable: readonly UnreadableArtifact[], requirements: readonly Requirement[]) {
  const asked = requirements.map((one) => ('contract' in one ? one.contract.artifactKind : undefined));
  return unreadable.filter(({ artifactKind }) => !asked.includes(artifactKind));
}

type Divergence = StepCheck['divergences'][number];

/** Every departure from the instructions that an attempt reports. */
function readDivergences({ index, handedIn }: StepAttempt): ArtifactsRead<Divergence> {
  return readArtifacts(handedIn.artifacts, engineContract(index, workflowDivergence), {
    objection: (value) => (divergenceOf(value) === undefined ? 'its reason or its summary is invalid' : undefined),
    take: divergenceOf,
  });
}

const summarySchema = textSchema(SUMMARY_BYTES_MAX);

/** As an event stores it. An invalid step id is left out: the departure itself is what matters. */
function divergenceOf(value: JsonObject): Divergence | undefined {
  const reason = DIVERGENCE_REASONS.find((known) => known === value['reason']);
  const summary = summarySchema.safeParse(value['summary']);
  const relatedStepId = stepIdSchema.safeParse(value['relatedStepId']);
  if (reason === undefined || !summary.success) return undefined;
  return { reason, summary: summary.data, ...(relatedStepId.success ? { relatedStepId: relatedStepId.data } : {}) };
}

/** What an attempt passed over without being held up in any mode. It is recorded, so that nobody has to guess. */
export function passedOver(
  place: StepPlace,
  { observations, checks }: Pick<StepCheck, 'observations' | 'checks'>,
): readonly Unmet[] {
  return [...unusedCapabilities(place, observations), ...unusedChecks(place, checks), ...ownDecision(place)].map(
    withinBudgets,
  );
}

/** A capability that the workflow prefers, and that the agent reports as missing. */
function unusedCapabilities({ index }: StepPlace, observations: StepCheck['observations']): readonly Unmet[] {
  const newest = new Map(observations.map(({ capability, status }) => [capability, status]));
  return [...newest].flatMap(([capability, status]): readonly Unmet[] => {
    if (status === 'available' || index.workflow.capabilities[capability] !== 'preferred') return [];
    return [
      {
        severity: 'warning',
        reason: `capability_missing:required_capability_${status}`,
        pointer: { kind: 'capability', capability },
        message: `This workflow prefers ${capability}, and the work was done without it (reported as ${status}).`,
        suggestedFix: `If ${capability} works later, report it as available.`,
        requirement: `capability:${capability}`,
      },
    ];
  });
}

/** A check that may be left to the notes, and was. */
function unusedChecks({ step }: StepPlace, checks: StepCheck['checks']): readonly Unmet[] {
  const unused = checks.filter(({ minimum, grade = 'asserted' }) => minimum === 'asserted' && grade === 'asserted');
  return unused.map(({ checkId, remark }) => ({
    severity: 'warning',
    reason: 'contract_violation:missing_required_output',
    pointer: stepPointer(step),
    message:
      remark === undefined
        ? `No result of the check ${quote(checkId)} was recorded; only the notes can say how it ended.`
        : `The check ${quote(checkId)} is only in the notes: its last run does not count, because ${remark}.`,
    suggestedFix: 'Run the check with workrail attest.',
    requirement: `check:${checkId}`,
  }));
}

/** A confirmation that guided mode would have asked the user for. */
function ownDecision(place: StepPlace): readonly Unmet[] {
  const { step, facts } = place;
  if (facts.preferences.autonomy === 'guided') return [];
  if (dueConfirmation(place) !== 'confirm') return [];
  return [
    {
      severity: 'info',
      reason: 'user_only_dependency:needs_user_approval',
      pointer: stepPointer(step),
      message: 'The step asks for confirmation. In this mode the agent decided without asking.',
      suggestedFix: 'Tell the user what you decided.',
      details: { confirmation: 'decided_by_agent' },
      requirement: `confirmation:${step.stepId}`,
    },
  ];
}
