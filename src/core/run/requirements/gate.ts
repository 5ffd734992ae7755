import { type JsonObject, quote } from '../../json/json-value.ts';
import { clip } from '../../text/utf8.ts';
import { contractFix } from '../../workflow/builtins/explain-violations.ts';
import { gateVerdict } from '../../workflow/builtins/run-contracts.ts';
import { contractForm } from '../form/contract-form.ts';
import { dueConfirmation } from '../step-place.ts';
import {
  artifactAsk,
  correctedArtifact,
  engineContract,
  explainArtifact,
  hintsFor,
  judgeArtifacts,
  ofKind,
  type UnacceptedArtifact,
} from './judge-artifact.ts';
import { met, notMet, requirementKind } from './requirement.ts';

const RATIONALE_BYTES_MAX = 200;

type Problem = UnacceptedArtifact | { readonly kind: 'not_approved'; readonly value: JsonObject };

/** A verdict of the coordinator. Only one that approves opens the gate; the last one that can be read counts. */
export const gateRequirement = requirementKind<'gate', Problem>({
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
