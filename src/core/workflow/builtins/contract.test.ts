import { describe, expect, it } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { canonicalJson } from '../../json/canonical-json.ts';
import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { checkShape } from './check-artifact.ts';
import { type Contract, contractData, pinnedContract } from './contract.ts';
import { contracts } from './contracts.ts';

const contract = (name: string): Contract => {
  const found = contracts.find(`wr.contracts.${name}`);
  if (found === undefined) throw new Error(`no contract ${name}`);
  return found;
};
const artifact = (name: string, changes: JsonObject): JsonObject => ({ ...contract(name).example, ...changes });
const refusals = (name: string, changes: JsonObject) => {
  const { schema, shape } = contract(name);
  const result = checkShape(shape, artifact(name, changes));
  if (result.isOk()) {
    expect(schema.safeParse(result.value.value).success).toBe(true);
    return [];
  }
  expect(schema.safeParse(artifact(name, changes)).success).toBe(false);
  return result.error.map(({ code, path }) => `${code} ${path}`);
};
const times = (count: number) => Array.from({ length: count }, (_, i) => `item ${i}`);

describe('a contract', () => {
  it.each(contracts.all)('$contractRef is one object whose schema, example, words and data form agree', (each) => {
    enforces('contract_one_object_each', 'embedded_schemas_are_data');
    expect(each.schema.safeParse(each.example).success).toBe(true);
    expect(checkShape(each.shape, each.example)).toMatchObject({ value: { value: each.example, notes: [] } });
    const fields = Object.keys(each.shape['properties'] as JsonObject).filter((field) => field !== 'kind');
    for (const field of fields) expect(each.guidance).toMatch(new RegExp(`^- ${field}[ :]`, 'm'));

    expect({ shape: each.shape, guidance: each.guidance }, 'the data form is generated from the schema').toEqual(
      contractData(each),
    );
    const text = canonicalJson(each.shape)._unsafeUnwrap();
    expect(JSON.stringify(each.shape), 'keys are in their one order already').toBe(text);
    expect(text).not.toContain('$schema');
    expect(pinnedContract(each)).toEqual({
      contractRef: each.contractRef,
      artifactKind: each.artifactKind,
      schema: each.shape,
      example: each.example,
      guidance: each.guidance,
    });
  });

  it('a handoff contract limits its lists', () => {
    enforces('contract_field_limits');
    const limits: readonly (readonly [string, string, number])[] = [
      ['discovery_handoff', 'keyInvariants', 12],
      ['shaping_handoff', 'keyConstraints', 8],
      ['shaping_handoff', 'rabbitHoles', 6],
      ['shaping_handoff', 'outOfScope', 6],
      ['shaping_handoff', 'validationChecklist', 10],
      ['coding_handoff', 'keyDecisions', 8],
      ['coding_handoff', 'knownLimitations', 6],
      ['coding_handoff', 'testsAdded', 10],
      ['coding_handoff', 'filesChanged', 20],
    ];
    for (const [name, field, max] of limits) {
      expect(refusals(name, { [field]: times(max) }), field).toEqual([]);
      expect(refusals(name, { [field]: [] }), field).toEqual([]);
      expect(refusals(name, { [field]: times(max + 1) }), field).toEqual([`too_large /${field}`]);
    }
    expect(refusals('gate_verdict', { rationale: 'x'.repeat(20) })).toEqual([]);
    expect(refusals('gate_verdict', { rationale: 'x'.repeat(19) })).toEqual(['too_small /rationale']);
    expect(refusals('workflow_divergence', { summary: 'é'.repeat(256) })).toEqual([]);
    expect(refusals('workflow_divergence', { summary: 'é'.repeat(257) })).toEqual(['too_large /summary']);
  });

  it('a contract accepts only the words it lists', () => {
    enforces('contract_enums_closed');
    const check = (outcome: JsonValue) => ({ checks: [{ name: 'Unit tests', outcome }] });
    const finding = (severity: JsonValue) => ({ findings: [{ severity, summary: 'The retry is not safe.' }] });
    const words: readonly (readonly [string, string, readonly string[], (word: JsonValue) => JsonObject])[] = [
      ['loop_control', '/decision', ['continue', 'stop'], (decision) => ({ decision })],
      ['capability_observation', '/capability', ['delegation', 'web_browsing'], (capability) => ({ capability })],
      ['capability_observation', '/status', ['unknown', 'available', 'unavailable'], (status) => ({ status })],
      ['verification_report', '/checks/0/outcome', ['pass', 'fail', 'skipped'], check],
      ['review_verdict', '/verdict', ['clean', 'minor', 'blocking'], (verdict) => ({ verdict })],
      ['review_verdict', '/confidence', ['high', 'medium', 'low'], (confidence) => ({ confidence })],
      ['review_verdict', '/findings/0/severity', ['critical', 'major', 'minor', 'nit'], finding],
      ['discovery_handoff', '/confidenceBand', ['high', 'medium', 'low'], (confidenceBand) => ({ confidenceBand })],
      ['gate_verdict', '/verdict', ['approved', 'rejected', 'uncertain'], (verdict) => ({ verdict })],
      ['gate_verdict', '/confidence', ['high', 'medium', 'low'], (confidence) => ({ confidence })],
    ];
    for (const [name, path, allowed, changes] of words) {
      for (const word of allowed) expect(refusals(name, changes(word)), path).toEqual([]);
      for (const other of ['other', allowed[0]?.toUpperCase() ?? '', '', 1, null]) {
        expect(refusals(name, changes(other)), `${path} ${other}`).toEqual([`wrong_value ${path}`]);
      }
      const shape = checkShape(contract(name).shape, artifact(name, changes('other')))._unsafeUnwrapErr();
      expect(shape[0]?.allowed).toBe(allowed.join(' | '));
    }
    expect(refusals('coding_handoff', { version: 2 })).toEqual(['wrong_value /version']);
  });

  it('changed_files and findings accept their words in any case', () => {
    enforces('changed_files_and_findings_shape');
    const file = { path: 'src/a.ts', summary: 'Reads the clock once.', risk: 'm' };
    const taken = checkShape(contract('changed_files').shape, artifact('changed_files', { changedFiles: [file] }));
    expect(taken._unsafeUnwrap()).toEqual({
      value: { kind: 'wr.changed_files', changedFiles: [{ ...file, risk: 'M' }] },
      notes: ['/changedFiles/0/risk: "m" was read as "M"'],
    });
    for (const field of ['path', 'summary', 'risk']) {
      const { [field]: _, ...rest } = file as JsonObject;
      expect(refusals('changed_files', { changedFiles: [rest] })).toEqual([`missing /changedFiles/0/${field}`]);
    }

    const location = { file: 'src/a.ts', line: 3 };
    const finding = {
      severity: 'Major',
      location,
      title: 'Two clocks',
      rationale: 'They differ.',
      suggestion: 'Read one.',
    };
    const found = checkShape(contract('findings').shape, artifact('findings', { findings: [finding] }))._unsafeUnwrap();
    expect(found.value['findings']).toEqual([{ ...finding, severity: 'major' }]);
    for (const field of ['severity', 'location', 'title', 'rationale', 'suggestion']) {
      const { [field]: _, ...rest } = finding as JsonObject;
      expect(refusals('findings', { findings: [rest] })).toEqual([`missing /findings/0/${field}`]);
    }
    const comment = { location, title: 'Two clocks', body: 'Please read the clock once.' };
    expect(refusals('findings', { findings: [], mrComments: [comment] })).toEqual([]);
    expect(
      refusals('findings', { findings: [], mrComments: [{ ...comment, location: { file: 'a', line: 0 } }] }),
    ).toEqual(['too_small /mrComments/0/location/line']);
    expect(refusals('findings', { findings: [{ ...finding, effort: 'S' }] })).toEqual([
      'unknown_key /findings/0/effort',
    ]);
  });

  it('a contract refuses unknown fields unless its content is free', () => {
    enforces('open_object_contracts');
    const open = contracts.all.filter(({ shape, example }) => checkShape(shape, { ...example, extra: 1 }).isOk());
    expect(open.map(({ artifactKind }) => artifactKind)).toEqual([
      'wr.coordinator_signal',
      'wr.differentiation_handoff',
    ]);
    for (const { shape, artifactKind } of open) {
      expect(checkShape(shape, { kind: artifactKind }).isOk()).toBe(true);
      expect(checkShape(shape, { kind: artifactKind, payload: [{ deep: null }], signalKind: 4 }).isOk()).toBe(true);
    }
    expect(refusals('loop_control', { desision: 'stop' })).toEqual(['unknown_key /desision']);
    expect(refusals('review_verdict', { findings: [{ severity: 'nit', summary: 'A typo.', file: 'a.md' }] })).toEqual(
      [],
    );
  });
});
