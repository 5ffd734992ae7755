import { describe, expect, it } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { foundAt, NOTHING_FOUND, tryStep } from '../../../../test/examples/step-attempt.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { contractFix } from '../../workflow/builtins/explain-violations.ts';

const readiness = {
  id: 'readiness',
  purpose: 'Can it ship',
  dimensions: [
    { id: 'coverage', purpose: 'tested', levels: ['Low', 'High'] },
    { id: 'clarity', purpose: 'readable', levels: ['poor', 'good'], required: false },
  ],
};
const risk = {
  id: 'risk',
  purpose: 'Harm',
  dimensions: [{ id: 'harm', purpose: 'how bad', levels: ['none', 'some'] }],
};
const kind = 'wr.assessment';
const pointer = { kind: 'output_contract', contractRef: 'wr.contracts.assessment' };
const assess = (refs: readonly string[], artifacts: readonly JsonObject[], consequences: readonly object[] = []) =>
  foundAt(
    tryStep(
      { notesOptional: true, assessmentRefs: refs, assessmentConsequences: consequences },
      { artifacts },
      { assessments: [readiness, risk] },
    ),
  );
const consequence = (anyEqualsLevel: string, rest: { forAssessment?: string; guidance?: string } = {}) => ({
  when: { anyEqualsLevel, ...(rest.forAssessment === undefined ? {} : { forAssessment: rest.forAssessment }) },
  effect: { kind: 'require_followup', guidance: rest.guidance ?? 'Look at it again.' },
});
const ready = (dimensions: JsonObject, rest: JsonObject = {}) => ({ kind, ...rest, dimensions });
const assessed = (assessmentId: string, dimensions: JsonObject) => ({ kind, assessmentId, dimensions });
const blankForm = assessed('readiness', { coverage: '<fill: Low | High>' });
const unmet = (form: JsonObject) => ({
  pointer,
  suggestedFix: contractFix({ artifactKind: kind }),
  requirement: 'assessment:readiness',
  form: { artifacts: [form] },
});
const lacksReadiness = {
  ...unmet(blankForm),
  reason: 'contract_violation:missing_required_output',
  message: 'Assessment "readiness": The required artifact of kind wr.assessment was not sent.',
};
const wrong = (rest: string, form: JsonObject = blankForm) => ({
  ...lacksReadiness,
  form: { artifacts: [form] },
  reason: 'contract_violation:invalid_required_output',
  message: `Assessment "readiness": The wr.assessment artifact was not accepted: ${rest}.`,
});

describe('an assessment that a step asks for', () => {
  it('an assessment that a step asks for is accepted with levels in any case, and each change of a level is noted', () => {
    enforces('assessment_levels_normalised');
    const judged = ready({ coverage: 'HIGH', clarity: { level: 'good', rationale: 'All terms are defined.' } });
    expect(assess(['readiness'], [judged])).toEqual({
      ...NOTHING_FOUND,
      met: ['assessment:readiness'],
      assessments: [
        {
          assessmentId: 'readiness',
          dimensions: [
            { dimensionId: 'coverage', level: 'High' },
            { dimensionId: 'clarity', level: 'good', rationale: 'All terms are defined.' },
          ],
          normalizationNotes: ['/dimensions/coverage: "HIGH" was read as "High"'],
        },
      ],
    });
  });

  it.each<[string, JsonObject[], object]>([
    ['nothing', [], lacksReadiness],
    [
      'an unknown level',
      [ready({ coverage: 'middling' })],
      wrong('/dimensions/coverage is "middling" (allowed: Low | High)'),
    ],
    [
      'an unknown dimension',
      [ready({ coverage: 'Low', speed: 'high' })],
      wrong(
        '/dimensions/speed is an unknown field (known fields: clarity, coverage)',
        assessed('readiness', { coverage: 'Low' }),
      ),
    ],
    [
      'a dimension left out',
      [ready({ clarity: 'good' })],
      wrong(
        '/dimensions/coverage is missing (Low | High or {level: Low | High, rationale?: text})',
        assessed('readiness', { clarity: 'good', coverage: '<fill: Low | High>' }),
      ),
    ],
    [
      'another assessment',
      [ready({ coverage: 'Low' }, { assessmentId: 'risk' })],
      wrong('/assessmentId is "risk" (allowed: readiness)', assessed('readiness', { coverage: 'Low' })),
    ],
  ])('an assessment that a step asks for is not met by %s', (_, artifacts, expected) => {
    expect(assess(['readiness'], artifacts)).toEqual({ ...NOTHING_FOUND, unmet: [expected] });
  });

  it('an assessment that a step asks for may be sent again, and the last that is accepted counts', () => {
    const { assessments } = assess(['readiness'], [ready({ coverage: 'Low' }), ready({ coverage: 'High' }), ready({})]);
    expect(assessments).toEqual([
      { assessmentId: 'readiness', dimensions: [{ dimensionId: 'coverage', level: 'High' }], normalizationNotes: [] },
    ]);
  });

  it('an assessment that a step asks for beside another one needs an artifact of its own, which says what it is about', () => {
    const harm = { kind, assessmentId: 'risk', dimensions: { harm: 'none' } };
    const accepted = {
      assessmentId: 'risk',
      dimensions: [{ dimensionId: 'harm', level: 'none' }],
      normalizationNotes: [],
    };
    expect(assess(['risk', 'readiness'], [harm])).toEqual({
      ...NOTHING_FOUND,
      unmet: [lacksReadiness],
      met: ['assessment:risk'],
      assessments: [accepted],
    });
    expect(assess(['risk', 'readiness'], [harm, ready({ coverage: 'Low' })]).unmet).toEqual([
      wrong('/assessmentId is missing (risk | readiness)'),
    ]);
    expect(assess(['risk', 'readiness'], [harm, ready({ coverage: 3 }, { assessmentId: 'readiness' })]).unmet).toEqual([
      wrong('/dimensions/coverage is 3 (allowed: Low | High or {level: Low | High, rationale?: text})'),
    ]);
    const both = assess(['risk', 'readiness'], [harm, ready({ coverage: 'Low' }, { assessmentId: 'readiness' })]);
    expect(both.unmet).toEqual([]);
    expect(both.met).toEqual(['assessment:risk', 'assessment:readiness']);
    expect(both.assessments.map(({ assessmentId }) => assessmentId)).toEqual(['readiness', 'risk']);
  });
});

describe('a consequence of an assessment', () => {
  const low = ready({ coverage: 'low' });
  const guidance = 'Test the retry before you go on.';
  const calm = assessed('readiness', { coverage: 'High' });
  const followUp = {
    ...unmet(blankForm),
    reason: 'contract_violation:invalid_required_output',
    message: guidance,
    suggestedFix: `Assessment "readiness" has the level "LOW". Do what is asked, then assess again and send the new assessment. The step stays pending until then.\n${contractFix({ artifactKind: kind })}`,
  };

  it('a consequence of an assessment keeps the step pending with its guidance, and the assessment is still accepted', () => {
    enforces('assessment_consequence_keeps_step');
    const found = assess(['readiness'], [low], [consequence('LOW', { guidance })]);
    expect(found).toEqual({
      ...NOTHING_FOUND,
      unmet: [followUp],
      assessments: [
        {
          assessmentId: 'readiness',
          dimensions: [{ dimensionId: 'coverage', level: 'Low' }],
          normalizationNotes: ['/dimensions/coverage: "low" was read as "Low"'],
        },
      ],
    });
    expect(assess(['readiness'], [low, calm], [consequence('LOW', { guidance })]).unmet).toEqual([]);
  });

  it('a consequence of an assessment waits for an assessment that is valid', () => {
    const found = assess(['readiness'], [ready({ coverage: 'low', speed: 'x' })], [consequence('low')]);
    expect(found.unmet.map(({ message }) => message)).toEqual([
      'Assessment "readiness": The wr.assessment artifact was not accepted: /dimensions/speed is an unknown field (known fields: clarity, coverage).',
    ]);
  });

  it('a consequence of an assessment is that of its own assessment only, where it names one', () => {
    const artifacts = [ready({ coverage: 'Low' }, { assessmentId: 'readiness' }), assessed('risk', { harm: 'some' })];
    const messages = (consequences: readonly object[]) =>
      assess(['readiness', 'risk'], artifacts, consequences).unmet.map(({ message }) => message);
    expect(messages([consequence('some', { forAssessment: 'risk', guidance: 'A' })])).toEqual(['A']);
    expect(
      messages([
        consequence('low', { forAssessment: 'readiness', guidance: 'B' }),
        consequence('some', { guidance: 'C' }),
      ]),
    ).toEqual(['B', 'C']);
    expect(messages([consequence('none', { guidance: 'D' })])).toEqual([]);
  });
});
