import { CAPABILITIES, type Capability } from '../../log/blockers.ts';
import type { ContractRef } from './contract.ts';
import { registry } from './contracts.ts';
import { capabilityObservation } from './run-contracts.ts';

/** Steps that a workflow can call by name. */
export type BuiltinTemplate = ProbeTemplate | RoutineTemplate;

type Head = {
  readonly templateId: string;
  /** What the steps do, for authors. */
  readonly purpose: string;
  readonly parameters: readonly TemplateParameter[];
};

type TemplateParameter = {
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

const ROUTINE_ID = /^[^.]+\.routine-/;

/** Whether a file with this id is a routine, in whatever folder it is. */
export function isRoutineId(id: string): boolean {
  return ROUTINE_ID.test(id);
}

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
    `This workflow needs ${capability}. Find out whether you have it: ${ATTEMPTS[capability]}. If that fails, try once more. Do nothing else yet.`,
    '',
    `Send a ${capabilityObservation.artifactKind} artifact with capability "${capability}" and the status you saw:`,
    '- available: one attempt worked;',
    '- unavailable: both attempts failed, or you have no such tool, or a rule forbids it; put the error or the rule into the field detail, with a sentence on what the user could do;',
    '- unknown: no attempt was possible, for a reason that you do not know.',
    '',
    'Done when you know which of the three it is. Report what happened. A wrong "available" only moves the failure to a later step, where it costs more.',
  ].join('\n');
}

/** A routine of the bundle under its name, with what its parameters stand for. */
function routine(name: string, purpose: string, ...parameters: readonly TemplateParameter[]): RoutineTemplate {
  const routineId = `wr.routine-${name}`;
  return { kind: 'routine', templateId: routineTemplateId(routineId), purpose, parameters, routineId };
}

export const templates = registry<BuiltinTemplate>(
  [
    capabilityProbe,
    routine('adversarial-review', 'Attacks a result with concrete scenarios and reports which objections stand.', {
      name: 'subject',
      purpose: 'what is attacked',
    }),
    routine(
      'context-gathering',
      'Maps unfamiliar code: entry points, paths, rules and promises, and what is still unknown.',
      { name: 'subject', purpose: 'what has to be understood' },
    ),
    routine(
      'design-review',
      'Reviews a design against what it must do, tries to break it, and ends in a verdict.',
      { name: 'deliverableName', purpose: 'the file in which the findings are written' },
      { name: 'design', purpose: 'the design under review, and where it is written (optional)' },
    ),
    routine('final-verification', 'Checks finished work against what was promised, from a clean state.', {
      name: 'promises',
      purpose: 'what was promised, or where it is written',
    }),
    routine('hypothesis-challenge', 'Sharpens a claim, finds its rivals, and lets an experiment decide between them.', {
      name: 'hypothesis',
      purpose: 'the claim to challenge',
    }),
    routine('philosophy-check', 'Checks a change against the principles of its project.', {
      name: 'principles',
      purpose: 'where the principles are written',
    }),
    routine('plan-audit', 'Checks a plan against its purpose and reality, fixes it, and ends in a verdict.', {
      name: 'plan',
      purpose: 'where the plan is',
    }),
    routine(
      'tension-driven-design',
      'Designs by naming the tensions, and compares candidates that resolve them differently.',
      { name: 'deliverableName', purpose: 'the file in which the design is written' },
    ),
  ],
  ({ templateId }) => templateId,
);
