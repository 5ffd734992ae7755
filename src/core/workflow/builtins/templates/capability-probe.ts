import { CAPABILITIES, type Capability } from '../../../log/capabilities.ts';
import { capabilityObservation } from '../contracts/capability-observation.ts';
import type { ProbeTemplate } from '../templates.ts';

/** The smallest thing that shows whether a capability is there. */
const ATTEMPTS: { readonly [capability in Capability]: string } = {
  delegation: 'start one subagent with your own tool for that, and ask it to answer with the single word "ready"',
  web_browsing: 'fetch https://example.com with your own tool for that, and read its title',
};

/** Probes a capability before any work depends on it. */
export const capabilityProbe: ProbeTemplate = {
  kind: 'probe',
  templateId: 'wr.templates.capability_probe',
  purpose: 'One step that finds out by a small attempt whether the agent can delegate or browse the web.',
  parameters: [{ name: 'capability', purpose: 'what to try', values: CAPABILITIES }],
  contractRef: capabilityObservation.contractRef,
  steps: {
    delegation: { title: 'Try to delegate', prompt: probePrompt('delegation') },
    web_browsing: { title: 'Try to browse the web', prompt: probePrompt('web_browsing') },
  },
};

function probePrompt(capability: Capability): string {
  return [
    `This workflow needs ${capability}. Find out whether you have it by using it once: ${ATTEMPTS[capability]}. Do nothing else yet.`,
    '',
    `Hand in a ${capabilityObservation.artifactKind} artifact with capability "${capability}" and the status you saw:`,
    '- available: the attempt worked;',
    '- unavailable: you have no such tool, or it failed twice, or a rule forbids it; put the error or the rule into detail and say in a sentence what the user could do about it;',
    '- unknown: the attempt could not be made, and you cannot tell why.',
    '',
    'Report what happened. A wrong "available" only moves the failure to a place where it costs more.',
  ].join('\n');
}
