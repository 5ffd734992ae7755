import { describe, expect, it } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import type { JsonObject } from '../../json/json-value.ts';
import type { Assessment } from '../compiled/compiled-workflow.ts';
import { assessmentArtifact, assessmentContract } from './assessment-contract.ts';
import { checkShape } from './check-artifact.ts';

const readiness: Assessment = {
  id: 'readiness',
  purpose: 'Can it ship',
  dimensions: [
    { id: 'coverage', purpose: 'what is tested', levels: ['Low', 'High'], isRequired: true },
    { id: 'clarity', purpose: '', levels: ['poor', 'good'], isRequired: false },
  ],
};
const risk: Assessment = {
  id: 'risk',
  purpose: '',
  dimensions: [{ id: 'harm', purpose: '', levels: ['none', 'some'], isRequired: true }],
};
const kind = 'wr.assessment';
const refusals = (assessments: readonly Assessment[], artifact: JsonObject) =>
  checkShape(assessmentContract(assessments).schema, artifact).match(
    () => [],
    (violations) => violations.map(({ code, path, allowed }) => `${code} ${path}: ${allowed}`),
  );

describe('an assessment', () => {
  it('an assessment has a level for each dimension, bare or with a rationale, and optional further fields', () => {
    enforces('assessment_artifact_shape');
    for (const shape of [assessmentArtifact.shape, assessmentContract([readiness]).schema]) {
      const accepted: readonly JsonObject[] = [
        { kind, dimensions: { coverage: 'High' } },
        { kind, assessmentId: 'readiness', dimensions: { coverage: 'Low', clarity: 'good' }, summary: 'Not yet.' },
        {
          kind,
          dimensions: { coverage: { level: 'Low', rationale: 'No test of the retry.' }, clarity: { level: 'poor' } },
        },
      ];
      for (const artifact of accepted) {
        expect(checkShape(shape, artifact)._unsafeUnwrap()).toEqual({ value: artifact, notes: [] });
      }
      const refused: readonly JsonObject[] = [
        { kind },
        { kind, dimensions: { coverage: 3 } },
        { kind, dimensions: { coverage: { rationale: 'No level.' } } },
        { kind, dimensions: { coverage: { level: 'High', reason: 'Wrong name.' } } },
        { kind, dimensions: ['coverage'] },
        { kind, dimensions: { coverage: 'High' }, verdict: 'fine' },
        { kind, dimensions: { coverage: 'High' }, assessmentId: 7 },
      ];
      for (const artifact of refused) expect(checkShape(shape, artifact).isErr(), JSON.stringify(artifact)).toBe(true);
    }
  });

  it('an assessment accepts a level in any case and notes how it was read', () => {
    const artifact = { kind, dimensions: { coverage: ' HIGH', clarity: { level: 'Good', rationale: 'All terms.' } } };
    expect(checkShape(assessmentContract([readiness]).schema, artifact)._unsafeUnwrap()).toEqual({
      value: { kind, dimensions: { coverage: 'High', clarity: { level: 'good', rationale: 'All terms.' } } },
      notes: [
        '/dimensions/clarity/level: "Good" was read as "good"',
        '/dimensions/coverage: " HIGH" was read as "High"',
      ],
    });
  });

  it('an assessment with undeclared levels or dimensions is refused, and the refusal lists the declared ones', () => {
    expect(refusals([readiness], { kind, dimensions: { coverage: 'medium', clarty: 'good' } })).toEqual([
      'wrong_value /dimensions/coverage: Low | High',
      'unknown_key /dimensions/clarty: clarity, coverage',
    ]);
    expect(refusals([readiness], { kind, assessmentId: 'risk', dimensions: {} })).toEqual([
      'wrong_value /assessmentId: readiness',
      'missing /dimensions/coverage: Low | High or {level: Low | High, rationale?: text}',
    ]);
  });

  it('an artifact must name its assessment when a step asks for several', () => {
    const harm = { harm: 'none' };
    expect(refusals([readiness, risk], { kind, assessmentId: 'risk', dimensions: harm })).toEqual([]);
    expect(refusals([readiness, risk], { kind, dimensions: harm })).toEqual([
      'missing /assessmentId: readiness | risk',
    ]);
    expect(refusals([readiness, risk], { kind, assessmentId: 'rsk', dimensions: harm })).toEqual([
      'wrong_value /assessmentId: readiness | risk',
    ]);
    expect(refusals([readiness, risk], { kind, assessmentId: 'readiness', dimensions: harm })).toEqual([
      'missing /dimensions/coverage: Low | High or {level: Low | High, rationale?: text}',
      'unknown_key /dimensions/harm: clarity, coverage',
    ]);
  });

  it('the guidance of an assessment lists every dimension and level, and its example is accepted', () => {
    expect(assessmentContract([readiness, risk])).toMatchObject({
      contractRef: 'wr.contracts.assessment',
      artifactKind: kind,
      example: { kind, assessmentId: 'readiness', dimensions: { coverage: 'Low' } },
      guidance: [
        '2 artifacts of kind wr.assessment, one for each assessmentId: give one level for each dimension, based on what you saw. To add a reason, send {"level": "…", "rationale": "…"} in place of the level.',
        '- assessmentId: readiness (Can it ship)',
        '  dimensions:',
        '  - coverage: Low | High; what is tested',
        '  - clarity (optional): poor | good',
        '- assessmentId: risk',
        '  dimensions:',
        '  - harm: none | some',
      ].join('\n'),
    });
    for (const set of [[readiness], [risk], [readiness, risk]]) {
      expect(refusals(set, assessmentContract(set).example)).toEqual([]);
    }
    const optional = { ...risk, dimensions: risk.dimensions.map((one) => ({ ...one, isRequired: false })) };
    expect(assessmentContract([optional]).example['dimensions']).toEqual({ harm: 'none' });
  });
});
