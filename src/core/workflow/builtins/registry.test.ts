import { describe, expect, it } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { utf8Length } from '../../text/utf8.ts';
import { RENDERER_HINTS } from './contract.ts';
import { contractOfKind, contracts } from './contracts.ts';
import { features } from './features.ts';
import { refs } from './refs.ts';
import { templates } from './templates.ts';

const GUIDANCE_BYTES_MAX = 600;
const FEATURE_TEXT_BYTES_MAX = 400;
const REF_BYTES = { min: 300, max: 1200 };
const PROBE_PROMPT_BYTES_MAX = 1200;

const named = (prefix: string, names: readonly string[]) => names.map((name) => `${prefix}.${name}`).sort();

describe('the built-ins', () => {
  it('the built-in contracts are exactly those that files refer to', () => {
    enforces('contract_registry_closed');
    expect(contracts.ids).toEqual(
      named('wr.contracts', [
        'loop_control',
        'capability_observation',
        'workflow_divergence',
        'assessment',
        'verification_report',
        'review_verdict',
        'changed_files',
        'findings',
        'discovery_handoff',
        'shaping_handoff',
        'coding_handoff',
        'gate_verdict',
        'coordinator_signal',
        'differentiation_handoff',
        'investigation_report',
        'onboarding_map',
        'research_report',
        'test_plan',
        'incident_report',
        'performance_report',
        'security_report',
        'release_decision',
        'upgrade_report',
        'pull_request',
        'refactoring_report',
        'documentation_report',
        'design_decision',
        'workflow_report',
      ]),
    );
    expect(contracts.find('wr.contracts.invented')).toBeUndefined();
  });

  it('the built-in features are exactly those that files refer to, and only subagent guidance has settings', () => {
    enforces('features_closed');
    expect(features.ids).toEqual(
      named('wr.features', [
        'mode_guidance',
        'durable_recap_guidance',
        'capabilities',
        'output_contracts',
        'memory_context',
        'subagent_guidance',
      ]),
    );
    expect(features.all.filter(({ config }) => config !== undefined).map(({ featureId }) => featureId)).toEqual([
      'wr.features.subagent_guidance',
    ]);
  });

  it('the built-in refs are exactly those that files refer to', () => {
    enforces('refs_members_closed');
    expect(refs.ids).toEqual(
      named('wr.refs', [
        'notes_first_durability',
        'synthesis_under_disagreement',
        'parallelize_cognition_serialize_synthesis',
        'adversarial_challenge_rules',
        'memory_usage',
        'memory_store',
        'memory_query',
        'context_beside_output',
        'delegate_or_in_turn',
      ]),
    );
  });

  it('the built-in templates are the probe and the bundled routines', () => {
    expect(templates.ids).toEqual(
      named('wr.templates', [
        'capability_probe',
        'routine.adversarial-review',
        'routine.context-gathering',
        'routine.design-review',
        'routine.final-verification',
        'routine.hypothesis-challenge',
        'routine.philosophy-check',
        'routine.plan-audit',
        'routine.tension-driven-design',
      ]),
    );
  });

  it('every built-in contract has an artifact kind of the same name', () => {
    enforces('contract_ref_matches_kind');
    for (const contract of contracts.all) {
      const name = contract.contractRef.replace(/^wr\.contracts\./, '');
      expect(contract).toMatchObject({ artifactKind: `wr.${name}`, example: { kind: `wr.${name}` } });
      expect(contractOfKind(`wr.${name}`)).toBe(contract);
      expect(contract.schema.safeParse({ ...contract.example, kind: 'wr.other' }).success).toBe(false);
    }
    expect(contractOfKind('wr.contracts.findings')).toBeUndefined();
  });

  it('every built-in text is within its budget', () => {
    for (const { artifactKind, guidance, purpose, rendererHint } of contracts.all) {
      expect(utf8Length(guidance), artifactKind).toBeLessThanOrEqual(GUIDANCE_BYTES_MAX);
      expect(guidance, artifactKind).toContain(artifactKind);
      expect(purpose, artifactKind).toMatch(/^[A-Z].*\.$/);
      expect(RENDERER_HINTS).toContain(rendererHint);
    }
    for (const { featureId, effects } of features.all) {
      expect(effects.length, featureId).toBeGreaterThan(0);
      for (const { text } of effects) expect(utf8Length(text), featureId).toBeLessThanOrEqual(FEATURE_TEXT_BYTES_MAX);
    }
    for (const { refId, text } of refs.all) {
      expect(utf8Length(text), refId).toBeGreaterThanOrEqual(REF_BYTES.min);
      expect(utf8Length(text), refId).toBeLessThanOrEqual(REF_BYTES.max);
      expect(text, refId).not.toContain('{{');
    }
    for (const template of templates.all) {
      const steps = template.kind === 'probe' ? Object.values(template.steps) : [];
      for (const { prompt } of steps) expect(utf8Length(prompt)).toBeLessThanOrEqual(PROBE_PROMPT_BYTES_MAX);
    }
  });

  it('a misspelled built-in gets the nearest name as a suggestion', () => {
    expect(contracts.nearestId('wr.contracts.loop_contorl')).toBe('wr.contracts.loop_control');
    expect(contracts.nearestId('wr.contract.findings')).toBe('wr.contracts.findings');
    expect(features.nearestId('capabilites')).toBe('wr.features.capabilities');
    expect(refs.nearestId('wr.refs.memory_querry')).toBe('wr.refs.memory_query');
    expect(templates.nearestId('wr.templates.design-review')).toBe('wr.templates.routine.design-review');
    expect(contracts.nearestId('wr.contracts.weather')).toBeUndefined();
  });
});
