import { CAPABILITIES, type Capability } from '../../log/capabilities.ts';
import { capabilityProbe } from '../builtins/templates/capability-probe.ts';
import type { Finding } from '../finding.ts';
import type { TemplateStep, WorkflowSyntax } from '../syntax.ts';
import type { ExpandedEntry } from './expanded.ts';
import { plainStep } from './follow-ups.ts';

/** The probes that required capabilities put before everything else. */
export function requiredProbes({ at, capabilities }: WorkflowSyntax): readonly ExpandedEntry[] {
  return CAPABILITIES.filter((capability) => capabilities[capability] === 'required').map((capability) =>
    probe(capability, { id: `wr_probe_${capability}`, at: `${at}/capabilities/${capability}` }),
  );
}

/** A probe that an author asked for by name. */
export function probeCall(call: TemplateStep, findings: Finding[]): readonly ExpandedEntry[] {
  const capability = CAPABILITIES.find((one) => one === call.args['capability']);
  if (capability !== undefined) return [confirmed(probe(capability, call), call)];
  const message = `The template "${call.templateId}" needs the argument "capability": ${CAPABILITIES.join(' or ')}.`;
  findings.push({ code: 'missing_argument', severity: 'error', at: `${call.callAt}/args/capability`, message });
  return [];
}

function confirmed(entry: StepEntry, { confirmation }: TemplateStep): StepEntry {
  return { kind: 'step', step: { ...entry.step, syntax: { ...entry.step.syntax, confirmation } } };
}

type StepEntry = Extract<ExpandedEntry, { kind: 'step' }>;

function probe(capability: Capability, beside: Pick<TemplateStep, 'id' | 'at' | 'runCondition'>): StepEntry {
  const { title, prompt } = capabilityProbe.steps[capability];
  const { templateId, contractRef } = capabilityProbe;
  return {
    kind: 'step',
    step: {
      syntax: {
        ...plainStep(beside, 'probe', title),
        id: beside.id,
        isNotesOptional: true,
        prompt: { kind: 'text', text: prompt },
        output: { at: beside.at, contractRef, isRequired: true, hints: [] },
      },
      provenance: { source: 'template_injected', originId: templateId },
      purpose: { kind: 'probe', capability, templateId },
    },
  };
}
