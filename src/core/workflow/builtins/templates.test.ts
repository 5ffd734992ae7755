import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { CAPABILITIES } from '../../log/blockers.ts';
import { checkShape } from './check-artifact.ts';
import { contracts } from './contracts.ts';
import { capabilityProbe, routineTemplateId, templates } from './templates.ts';

describe('a template', () => {
  it('a probe template implies its contract', () => {
    enforces('template_may_imply_contract');
    expect(capabilityProbe.contractRef).toBe('wr.contracts.capability_observation');
    expect(capabilityProbe.parameters).toEqual([{ name: 'capability', purpose: 'what to try', values: CAPABILITIES }]);
    const contract = contracts.find(capabilityProbe.contractRef);
    for (const capability of CAPABILITIES) {
      const { prompt } = capabilityProbe.steps[capability];
      for (const status of ['available', 'unavailable', 'unknown']) {
        expect(prompt).toContain(`- ${status}:`);
        const answer = { kind: 'wr.capability_observation', capability, status };
        expect(checkShape(contract?.shape ?? {}, answer).isOk()).toBe(true);
      }
      expect(prompt).toContain(`artifact with capability "${capability}"`);
    }
  });

  it('the parameters of a bundled routine are the arguments that its file declares', () => {
    for (const template of templates.all) {
      if (template.kind !== 'routine') continue;
      const file = readFileSync(`workflows/routines/${template.routineId}.json`, 'utf8');
      const { arguments: declared } = JSON.parse(file) as { arguments: { name: string; description: string }[] };
      expect(template.parameters).toEqual(declared.map(({ name, description: purpose }) => ({ name, purpose })));
    }
  });

  it('the template of a routine has the routine’s name in its own namespace', () => {
    expect(routineTemplateId('wr.routine-design-review')).toBe('wr.templates.routine.design-review');
    expect(routineTemplateId('team.routine-triage')).toBe('team.templates.routine.triage');
    expect(routineTemplateId('team.triage')).toBe('team.templates.routine.triage');
    expect(routineTemplateId('triage')).toBe('templates.routine.triage');
  });
});
