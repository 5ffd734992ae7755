import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { quote } from '../../json/quote.ts';
import { assessmentContract } from '../../workflow/builtins/assessment-contract.ts';
import { contractFix } from '../../workflow/builtins/explain-violations.ts';
import type { CompiledStep } from '../../workflow/compiled/compiled-step.ts';
import type { Assessment } from '../../workflow/compiled/compiled-workflow.ts';
import type { HandedArtifact } from '../handed-in.ts';
import type { StepAttempt } from '../step-place.ts';
import { type ArtifactVerdict, clip, judgeArtifacts, ofKind, unmetArtifact } from './judge-artifact.ts';
import type { Requirement } from './requirement.ts';
import { type AcceptedAssessment, type Found, type Unmet, withinBudgets } from './step-check.ts';

type Assessments = Extract<Requirement, { kind: 'assessments' }>;
type Consequence = CompiledStep['consequences'][number];

/** Each assessment needs an artifact of its own, and what it found may keep the step pending. */
export function checkAssessmentArtifacts(asked: Assessments, { step, handedIn }: StepAttempt): Found {
  const unmet: Unmet[] = [];
  const met: string[] = [];
  const accepted: AcceptedAssessment[] = [];
  const sent = ofKind(handedIn.artifacts, asked.contract.artifactKind);
  for (const assessment of asked.assessments) {
    const requirement = `assessment:${assessment.id}`;
    const verdict = judgeAssessment(assessment, asked, sent);
    const ask = { contract: asked.contract, example: exampleAssessment(assessment, step.consequences) };
    if (verdict.kind !== 'accepted') {
      unmet.push(named(unmetArtifact(verdict, ask, { requirement, sent: handedIn.artifacts }), assessment));
      continue;
    }
    const taken = acceptedAssessment(assessment, verdict);
    accepted.push(taken);
    const triggered = step.consequences.filter((consequence) => isTriggered(consequence, taken));
    if (triggered.length === 0) met.push(requirement);
    unmet.push(...triggered.map((consequence) => followUp(consequence, assessment, { requirement, ...ask })));
  }
  accepted.sort((a, b) => (a.assessmentId < b.assessmentId ? -1 : 1));
  return { unmet, met, assessments: accepted };
}

/** An artifact of an assessment that would be accepted and, where its levels allow that, has no consequences. */
export function exampleAssessment(assessment: Assessment, consequences: readonly Consequence[]): JsonObject {
  const { example } = assessmentContract([assessment]);
  const shown = example['dimensions'] as JsonObject;
  const levels = Object.keys(shown).map((id) => {
    const declared = assessment.dimensions.find((dimension) => dimension.id === id)?.levels ?? [];
    return [id, calmLevel(assessment.id, declared, consequences) ?? shown[id] ?? ''] as const;
  });
  return { ...example, dimensions: Object.fromEntries(levels) };
}

/** A level that no consequence waits for. */
function calmLevel(assessmentId: string, levels: readonly string[], consequences: readonly Consequence[]) {
  return levels.find((level) => !consequences.some((consequence) => isAbout(consequence, assessmentId, level)));
}

/** With one assessment every artifact is about it; with several an artifact has to say which one it means. */
function judgeAssessment(
  assessment: Assessment,
  { assessments, contract }: Assessments,
  sent: readonly HandedArtifact[],
): ArtifactVerdict {
  const own = assessmentContract([assessment]);
  if (assessments.length === 1) return judgeArtifacts(sent, own);
  const ids: readonly JsonValue[] = assessments.map(({ id }) => id);
  const meant = sent.filter(({ value }) => value['assessmentId'] === assessment.id);
  if (meant.length > 0) return judgeArtifacts(meant, own);
  const stray = sent.filter(({ value }) => !ids.includes(value['assessmentId'] ?? null));
  return judgeArtifacts(stray, contract);
}

/** The words for a contract do not say which of several assessments is meant. */
function named(unmet: Unmet, { id }: Assessment): Unmet {
  return withinBudgets({ ...unmet, message: `Assessment ${clip(quote(id))}: ${unmet.message}` });
}

function acceptedAssessment(
  { id, dimensions }: Assessment,
  { value, notes }: Extract<ArtifactVerdict, { kind: 'accepted' }>,
): AcceptedAssessment {
  const judged = value['dimensions'] as JsonObject;
  return {
    assessmentId: id,
    dimensions: dimensions.flatMap((dimension) => {
      const judgement = Object.hasOwn(judged, dimension.id) ? judged[dimension.id] : undefined;
      return judgement === undefined ? [] : [{ dimensionId: dimension.id, ...levelOf(judgement) }];
    }),
    normalizationNotes: notes,
  };
}

/** A bare level, or one with its reason; the schema lets nothing else pass. */
function levelOf(judgement: JsonValue): { readonly level: string; readonly rationale?: string } {
  return typeof judgement === 'string' ? { level: judgement } : (judgement as { level: string; rationale?: string });
}

function isTriggered(consequence: Consequence, { assessmentId, dimensions }: AcceptedAssessment): boolean {
  return dimensions.some(({ level }) => isAbout(consequence, assessmentId, level));
}

function isAbout({ anyEqualsLevel, forAssessment }: Consequence, assessmentId: string, level: string): boolean {
  const isMeant = forAssessment === undefined || forAssessment === assessmentId;
  return isMeant && level.toLowerCase() === anyEqualsLevel.toLowerCase();
}

function followUp(
  { guidance, anyEqualsLevel }: Consequence,
  { id }: Assessment,
  { requirement, contract, example }: Pick<Assessments, 'contract'> & { requirement: string; example: JsonObject },
): Unmet {
  const head = `Assessment ${clip(quote(id))} has the level ${clip(quote(anyEqualsLevel))}. Do what is asked, judge again by what you then see, and hand in the new assessment; this step stays pending until then.`;
  return withinBudgets({
    reason: 'contract_violation:invalid_required_output',
    pointer: { kind: 'output_contract', contractRef: contract.contractRef },
    message: guidance,
    suggestedFix: `${head}\n${contractFix({ artifactKind: contract.artifactKind, example })}`,
    requirement,
    example: { artifacts: [example] },
  });
}
