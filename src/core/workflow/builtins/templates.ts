import { CAPABILITIES, type Capability } from '../../log/blockers.ts';
import type { ContractRef } from './contract.ts';
import { capabilityObservation } from './run-contracts.ts';

/** Steps that a workflow can call by name. */
export type BuiltinTemplate = ProbeTemplate | RoutineTemplate;

type Head = {
  readonly templateId: string;
  /** What the steps do, for authors. */
  readonly purpose: string;
  readonly parameters: readonly TemplateParameter[];
};

export type TemplateParameter = {
  readonly name: string;
  readonly purpose: string;
  /** The closed set of values, where there is one. */
  readonly values?: readonly string[];
};

/** One step that finds out by trying whether the agent has a capability. */
type ProbeTemplate = Head & {
  readonly kind: 'probe';
  /** Required of the step without the author naming it. */
  readonly contractRef: ContractRef;
  readonly steps: { readonly [capability in Capability]: { readonly title: string; readonly prompt: string } };
};

/** Points at a bundled routine file: its steps are the template's. */
type RoutineTemplate = Head & { readonly kind: 'routine'; readonly routineId: string };

/** The name under which a routine is called: `team.routine-triage` is `team.templates.routine.triage`. */
export function routineTemplateId(workflowId: string): string {
  const dot = workflowId.indexOf('.');
  const namespace = dot === -1 ? '' : `${workflowId.slice(0, dot)}.`;
  return `${namespace}templates.routine.${workflowId.slice(dot + 1).replace(/^routine-/, '')}`;
}

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
    `Send a ${capabilityObservation.artifactKind} artifact with capability "${capability}" and the status you saw:`,
    '- available: the attempt worked;',
    '- unavailable: you have no such tool, or it failed twice, or a rule forbids it; put the error or the rule in detail, and say in a sentence what the user could do about it;',
    '- unknown: you could not try, and you do not know why.',
    '',
    'Report what happened. A wrong "available" only moves the failure to a later step, where it costs more.',
  ].join('\n');
}

export const adversarialReview: RoutineTemplate = {
  kind: 'routine',
  templateId: 'wr.templates.routine.adversarial-review',
  purpose: 'Attacks a result with concrete scenarios and reports which objections stand.',
  parameters: [{ name: 'subject', purpose: 'what is attacked' }],
  routineId: 'wr.routine-adversarial-review',
};

export const contextGathering: RoutineTemplate = {
  kind: 'routine',
  templateId: 'wr.templates.routine.context-gathering',
  purpose: 'Maps unfamiliar code: entry points, paths, rules and promises, and what is still unknown.',
  parameters: [{ name: 'subject', purpose: 'what has to be understood' }],
  routineId: 'wr.routine-context-gathering',
};

export const designReview: RoutineTemplate = {
  kind: 'routine',
  templateId: 'wr.templates.routine.design-review',
  purpose: 'Reviews a design against what it must do, tries to break it, and ends in a verdict.',
  parameters: [{ name: 'deliverableName', purpose: 'the file in which the findings are written' }],
  routineId: 'wr.routine-design-review',
};

export const finalVerification: RoutineTemplate = {
  kind: 'routine',
  templateId: 'wr.templates.routine.final-verification',
  purpose: 'Checks finished work against what was promised, from a clean state.',
  parameters: [{ name: 'promises', purpose: 'what was promised, or where it is written' }],
  routineId: 'wr.routine-final-verification',
};

export const hypothesisChallenge: RoutineTemplate = {
  kind: 'routine',
  templateId: 'wr.templates.routine.hypothesis-challenge',
  purpose: 'Sharpens a claim, finds its rivals, and lets an experiment decide between them.',
  parameters: [{ name: 'hypothesis', purpose: 'the claim to challenge' }],
  routineId: 'wr.routine-hypothesis-challenge',
};

export const philosophyCheck: RoutineTemplate = {
  kind: 'routine',
  templateId: 'wr.templates.routine.philosophy-check',
  purpose: 'Checks a change against the principles of its project.',
  parameters: [{ name: 'principles', purpose: 'where the principles are written' }],
  routineId: 'wr.routine-philosophy-check',
};

export const planAudit: RoutineTemplate = {
  kind: 'routine',
  templateId: 'wr.templates.routine.plan-audit',
  purpose: 'Checks a plan against its purpose and reality, fixes it, and ends in a verdict.',
  parameters: [{ name: 'plan', purpose: 'where the plan is' }],
  routineId: 'wr.routine-plan-audit',
};

export const tensionDrivenDesign: RoutineTemplate = {
  kind: 'routine',
  templateId: 'wr.templates.routine.tension-driven-design',
  purpose: 'Designs by naming the tensions, and compares candidates that resolve them differently.',
  parameters: [{ name: 'deliverableName', purpose: 'the file in which the design is written' }],
  routineId: 'wr.routine-tension-driven-design',
};
