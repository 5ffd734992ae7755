import { assert } from '../../assert.ts';
import { type JsonObject, type JsonValue, quote } from '../../json/json-value.ts';
import { clip } from '../../text/utf8.ts';
import { assessmentArtifact, assessmentContract } from '../../workflow/builtins/assessment-contract.ts';
import { contractFix } from '../../workflow/builtins/explain-violations.ts';
import type { CompiledStep } from '../../workflow/compiled/compiled-step.ts';
import type { Assessment } from '../../workflow/compiled/compiled-workflow.ts';
import { contractForm } from '../form/contract-form.ts';
import type { HandedArtifact } from '../step-place.ts';
import {
  type ArtifactVerdict,
  artifactAsk,
  correctedArtifact,
  explainArtifact,
  hintsFor,
  judgeArtifacts,
  ofKind,
  type UnacceptedArtifact,
} from './judge-artifact.ts';
import { type AcceptedAssessment, type Checked, notMet, type Requirement, requirementKind } from './requirement.ts';

type Consequence = CompiledStep['consequences'][number];

/** What is wrong with an assessment: no acceptable artifact, or a level that asks for more work first. */
type Problem = { readonly assessment: Assessment } & (
  | { readonly kind: 'not_accepted'; readonly verdict: UnacceptedArtifact }
  | { readonly kind: 'follow_up'; readonly consequence: Consequence }
);

/** Each assessment needs an artifact of its own, and what it found may keep the step pending. */
export const assessments = requirementKind<'assessments', Problem>({
  find: ({ index, step }) => {
    const declared = [...new Set(step.assessmentIds)].map((id) => {
      const found = index.assessments.get(id);
      assert(found !== undefined, `a compiled workflow has the assessment "${id}" that it names`);
      return found;
    });
    if (declared.length === 0) return [];
    return [
      {
        kind: 'assessments',
        assessments: declared,
        contract: assessmentContract(declared),
        hints: hintsFor(assessmentArtifact.contractRef, step),
        forms: declared.map(assessmentForm),
      },
    ];
  },

  ask: (asked) => artifactAsk(asked),

  form: (asked, _, problem) => {
    const { assessment: one } = problem;
    const form = assessmentForm(one);
    const isOwn = asked.assessments.length === 1 || sentId(problem) === one.id;
    if (problem.kind === 'follow_up' || !isOwn) return { artifacts: [form] };
    const corrected = correctedArtifact(problem.verdict, { contract: assessmentContract([one]), form });
    return { artifacts: [{ ...corrected, assessmentId: one.id }] };
  },

  check: (asked, { step, handedIn }) => {
    const sent = ofKind(handedIn.artifacts, asked.contract.artifactKind);
    const found = asked.assessments.map((one): Checked<Problem> => {
      const requirement = `assessment:${one.id}`;
      const verdict = judgeAssessment(one, asked, sent);
      if (verdict.kind !== 'accepted') return notMet(requirement, { kind: 'not_accepted', assessment: one, verdict });
      const accepted = acceptedAssessment(one, verdict);
      const triggered = step.consequences.filter((consequence) =>
        accepted.dimensions.some(({ level }) => isAbout(consequence, one.id, level)),
      );
      return {
        met: triggered.length === 0 ? [requirement] : [],
        problems: triggered.map((consequence) => ({
          requirement,
          problem: { kind: 'follow_up', assessment: one, consequence },
        })),
        assessments: [accepted],
      };
    });
    const accepted = found.flatMap((one) => one.assessments ?? []);
    return {
      met: found.flatMap((one) => one.met),
      problems: found.flatMap((one) => one.problems),
      assessments: accepted.sort((a, b) => (a.assessmentId < b.assessmentId ? -1 : 1)),
    };
  },

  explain: (problem, { contract }, { handedIn }) => {
    const id = clip(quote(problem.assessment.id));
    if (problem.kind === 'not_accepted') {
      const words = explainArtifact(problem.verdict, { contract }, handedIn.artifacts);
      // The words for a contract do not say which of several assessments is meant.
      return { ...words, message: `Assessment ${id}: ${words.message}` };
    }
    const { guidance, anyEqualsLevel } = problem.consequence;
    const head = `Assessment ${id} has the level ${clip(quote(anyEqualsLevel))}. Do what is asked, then assess again and send the new assessment. The step stays pending until then.`;
    return {
      reason: 'contract_violation:invalid_required_output',
      pointer: { kind: 'output_contract', contractRef: contract.contractRef },
      message: guidance,
      suggestedFix: `${head}\n${contractFix(contract)}`,
    };
  },
});

/** The assessment that a refused artifact names. */
function sentId(problem: Problem): JsonValue | undefined {
  if (problem.kind === 'follow_up' || problem.verdict.kind === 'missing') return undefined;
  return problem.verdict.value['assessmentId'];
}

/** An assessment to fill in, with its levels to choose from. */
function assessmentForm(assessment: Assessment): JsonObject {
  return contractForm(assessmentContract([assessment]), { assessmentId: assessment.id });
}

/** With one assessment every artifact is about it; with several, an artifact has to name the one it means. */
function judgeAssessment(
  assessment: Assessment,
  { assessments: asked, contract }: Requirement<'assessments'>,
  sent: readonly HandedArtifact[],
): ArtifactVerdict {
  const own = assessmentContract([assessment]);
  if (asked.length === 1) return judgeArtifacts(sent, own);
  const ids: readonly JsonValue[] = asked.map(({ id }) => id);
  const meant = sent.filter(({ value }) => value['assessmentId'] === assessment.id);
  if (meant.length > 0) return judgeArtifacts(meant, own);
  const stray = sent.filter(({ value }) => !ids.includes(value['assessmentId'] ?? null));
  return judgeArtifacts(stray, contract);
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

function isAbout({ anyEqualsLevel, forAssessment }: Consequence, assessmentId: string, level: string): boolean {
  const isMeant = forAssessment === undefined || forAssessment === assessmentId;
  return isMeant && level.toLowerCase() === anyEqualsLevel.toLowerCase();
}
