import type { JsonObject } from '../../json/json-value.ts';
import { quote } from '../../json/quote.ts';
import { contractFix } from '../../workflow/builtins/explain-violations.ts';
import type { StepAttempt } from '../step-place.ts';
import { clip, judgeArtifacts, ofKind, unmetArtifact } from './judge-artifact.ts';
import type { Requirement } from './requirement.ts';
import { type Found, met, notMet } from './step-check.ts';

const RATIONALE_BYTES_MAX = 200;

/** Only a verdict that approves opens the gate; the last one that can be read counts. */
export function checkGate(asked: Extract<Requirement, { kind: 'gate' }>, { step, handedIn }: StepAttempt): Found {
  const { contract, example } = asked;
  const requirement = `gate:${step.stepId}`;
  const sent = handedIn.artifacts;
  const verdict = judgeArtifacts(ofKind(sent, contract.artifactKind), contract);
  if (verdict.kind !== 'accepted') return { unmet: [unmetArtifact(verdict, asked, { requirement, sent })], met: [] };
  if (verdict.value['verdict'] === 'approved') return met(requirement);
  return notMet({
    reason: 'contract_violation:invalid_required_output',
    pointer: { kind: 'output_contract', contractRef: contract.contractRef },
    message: `The gate stays shut: ${reasonsOf(verdict.value)}.`,
    suggestedFix: `Mend what the verdict is about and have the work judged again; only ${quote('approved')} opens the gate, and never approve your own work. ${contractFix({ artifactKind: contract.artifactKind, example })}`,
    requirement,
    example: { artifacts: [example] },
  });
}

function reasonsOf({ verdict, rationale }: JsonObject): string {
  const reason = typeof rationale === 'string' ? ` (${clip(rationale, RATIONALE_BYTES_MAX)})` : '';
  return `the verdict is ${clip(quote(verdict ?? null))}${reason}`;
}
