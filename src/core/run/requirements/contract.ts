import { assert } from '../../assert.ts';
import { isObject, type JsonObject, quote } from '../../json/json-value.ts';
import { BLOCKER_MESSAGE_BYTES_MAX } from '../../log/budgets.ts';
import { clip, utf8Length } from '../../text/utf8.ts';
import { contractFix } from '../../workflow/builtins/explain-violations.ts';
import { verificationReport } from '../../workflow/builtins/report-contracts.ts';
import { capabilityObservation, gateVerdict, loopControl } from '../../workflow/builtins/run-contracts.ts';
import { contractForm } from '../form/contract-form.ts';
import { dueConfirmation, type StepAttempt, type StepPlace } from '../step-place.ts';
import { assessments } from './assessment.ts';
import { observationForm, observationObjection } from './capability.ts';
import { correctedReport, reportForm } from './check.ts';
import {
  type ArtifactVerdict,
  accountsAt,
  artifactAsk,
  correctedArtifact,
  engineContract,
  explainArtifact,
  hintsFor,
  judgeArtifacts,
  NOTES_PLACE,
  type Objection,
  ofKind,
  type UnacceptedArtifact,
  unaccounted,
  withAccounts,
} from './judge-artifact.ts';
import { decidedLoop, loopObjection } from './loop-control.ts';
import { type AskedArtifact, fitItems, met, NOTHING_CHECKED, notMet, requirementKind } from './requirement.ts';

/** An artifact that the step declares. An optional one is reported when it is wrong, but never blocks an attempt. */
export const contractRequirement = requirementKind<'output_contract', UnacceptedArtifact>({
  find: (place) => {
    const { index, step } = place;
    if (step.output === undefined || decidedLoop(index, step) !== undefined || isCovered(place)) return [];
    const { contractRef, isRequired, hints } = step.output;
    const contract = index.contracts.get(contractRef);
    assert(contract !== undefined, `a compiled workflow has the contract "${contractRef}" that it names`);
    const isObservation = contractRef === capabilityObservation.contractRef;
    const form =
      step.purpose.kind === 'probe' && isObservation
        ? observationForm(place, step.purpose.capability)
        : contractRef === verificationReport.contractRef
          ? reportForm(contract, place)
          : withAccounts(contractForm(contract), contract, place);
    return [{ kind: 'output_contract', contract, isRequired, hints, form }];
  },

  // The offered call has no room for an artifact that is not required.
  ask: (asked, place) => {
    const text = `${artifactAsk(asked)}${accountWords(asked, place)}`;
    return asked.isRequired ? text : `Optional. ${text}\nSend it in \`output.artifacts\`.`;
  },

  form: (asked, attempt, problem) => {
    // The checks of the step ask for the same report.
    const isReport = asked.contract.contractRef === verificationReport.contractRef;
    if (isReport) return { artifacts: [correctedReport(attempt)] };
    return { artifacts: [withAccounts(correctedArtifact(problem, asked), asked.contract, attempt)] };
  },

  check: (asked, attempt) => {
    const { contract, isRequired } = asked;
    const requirement = `output_contract:${contract.contractRef}`;
    const { artifactKind } = contract;
    const sent = ofKind(attempt.handedIn.artifacts, artifactKind);
    const verdict = accountedFor(judgeArtifacts(sent, contract, objectionTo(artifactKind, attempt)), attempt);
    if (verdict.kind === 'accepted') return met(requirement);
    if (isRequired) return notMet(requirement, verdict);
    if (verdict.kind === 'missing') return NOTHING_CHECKED;
    const corrected = correctedArtifact(verdict, asked);
    return { ...NOTHING_CHECKED, unreadable: [{ artifactKind, message: verdict.message, corrected }] };
  },

  explain: (problem, asked, attempt) => explainArtifact(problem, asked, attempt.handedIn.artifacts),
});

/** An artifact may also leave out what the step has to account for; of a wrong form that is said at once, too. */
function accountedFor(verdict: ArtifactVerdict, attempt: StepAttempt): ArtifactVerdict {
  if (verdict.kind === 'missing') return verdict;
  const { value } = verdict;
  const missing = unaccounted(value, attempt);
  if (missing.length === 0) return verdict;
  const lists = [...new Set(missing.map(({ list }) => list))].map((list) => {
    const ids = missing.filter((one) => one.list === list).map(({ id }) => id);
    return `${quote(list)} does not account for ${fitItems(ids, { head: '', separator: ', ', bytesMax: IDS_BYTES_MAX })}`;
  });
  const message = `Incomplete: ${lists.join('; ')}. For each missing id, add an entry that names it and says what became of it.`;
  if (verdict.kind === 'accepted') return { kind: 'refused', message, value, violations: [], isKept: true };
  const both = `${verdict.message} ${message}`;
  return utf8Length(both) <= BLOCKER_MESSAGE_BYTES_MAX ? { ...verdict, message: both } : verdict;
}

const IDS_BYTES_MAX = 200;

/** Says for which ids an entry is required. */
function accountWords({ form, contract }: Pick<AskedArtifact, 'form' | 'contract'>, place: StepPlace): string {
  const asked = accountsAt(place).filter((account) => account.in !== NOTES_PLACE);
  return asked
    .map(({ key, ids, in: list }) => {
      const isOnly = [...listsIn(form), ...optionalLists(contract)].every((name) => name === list);
      return `\nEach id of the context value ${quote(key)} (${ids.join(', ')}) must appear in the artifact's list ${quote(list)}${isOnly ? '' : ', or in another of its lists'}.`;
    })
    .join('');
}

function listsIn(form: JsonObject): readonly string[] {
  return Object.entries(form).flatMap(([name, value]) => (Array.isArray(value) ? [name] : []));
}

/** Lists that an artifact may have although the form does not offer them. */
function optionalLists({ schema }: AskedArtifact['contract']): readonly string[] {
  const { properties } = schema;
  if (properties === undefined || !isObject(properties)) return [];
  return Object.entries(properties).flatMap(([name, one]) =>
    one !== undefined && isObject(one) && one['type'] === 'array' ? [name] : [],
  );
}

/** Whether an assessment or the gate of the step already asks for this artifact. */
function isCovered(place: StepPlace): boolean {
  return [...assessments.find(place), ...gateRequirement.find(place)].some(
    ({ contract }) => contract.contractRef === place.step.output?.contractRef,
  );
}

/** What the engine reads itself must make sense at this place, not only have the right form. */
function objectionTo(artifactKind: string, attempt: StepAttempt): Objection {
  switch (artifactKind) {
    case capabilityObservation.artifactKind:
      return (value: JsonObject) => observationObjection(value, attempt.step, { isAsked: true });
    case loopControl.artifactKind:
      return (value: JsonObject) => loopObjection(value, attempt.openLoops);
    default:
      return () => undefined;
  }
}

const RATIONALE_BYTES_MAX = 200;

type GateProblem = UnacceptedArtifact | { readonly kind: 'not_approved'; readonly value: JsonObject };

/** A verdict of the coordinator. Only one that approves opens the gate; the last one that can be read counts. */
export const gateRequirement = requirementKind<'gate', GateProblem>({
  find: (place) => {
    if (dueConfirmation(place) !== 'coordinator_eval') return [];
    const contract = engineContract(place.index, gateVerdict);
    const form = contractForm(contract);
    return [{ kind: 'gate', contract, hints: hintsFor(contract.contractRef, place.step), form }];
  },

  ask: (asked) => artifactAsk(asked),

  form: (asked, _, problem) => ({
    artifacts: [problem.kind === 'not_approved' ? asked.form : correctedArtifact(problem, asked)],
  }),

  check: ({ contract }, { step, handedIn }) => {
    const requirement = `gate:${step.stepId}`;
    const verdict = judgeArtifacts(ofKind(handedIn.artifacts, contract.artifactKind), contract);
    if (verdict.kind !== 'accepted') return notMet(requirement, verdict);
    const { value } = verdict;
    return value['verdict'] === 'approved' ? met(requirement) : notMet(requirement, { kind: 'not_approved', value });
  },

  explain: (problem, asked, { handedIn }) => {
    if (problem.kind !== 'not_approved') return explainArtifact(problem, asked, handedIn.artifacts);
    const { contract } = asked;
    return {
      reason: 'contract_violation:invalid_required_output',
      pointer: { kind: 'output_contract', contractRef: contract.contractRef },
      message: `The gate stays closed: ${reasonsOf(problem.value)}.`,
      suggestedFix: `Fix what the verdict is about and have the work judged again. Only ${quote('approved')} opens the gate; never approve your own work. ${contractFix(contract)}`,
    };
  },
});

function reasonsOf({ verdict, rationale }: JsonObject): string {
  const reason = typeof rationale === 'string' ? ` (${clip(rationale, RATIONALE_BYTES_MAX)})` : '';
  return `the verdict is ${clip(quote(verdict ?? null))}${reason}`;
}
