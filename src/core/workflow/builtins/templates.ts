import type { Capability } from '../../log/capabilities.ts';
import type { ContractRef } from './contract.ts';

/** Steps that a workflow can call by name. */
export type BuiltinTemplate = ProbeTemplate | RoutineTemplate;

type Head = {
  readonly templateId: string;
  /** What the steps do, told to authors. */
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
export type ProbeTemplate = Head & {
  readonly kind: 'probe';
  /** Required of the step without the author naming it. */
  readonly contractRef: ContractRef;
  readonly steps: { readonly [capability in Capability]: { readonly title: string; readonly prompt: string } };
};

/** Points at a bundled routine file: its steps are the template's. */
export type RoutineTemplate = Head & { readonly kind: 'routine'; readonly routineId: string };

/** The name under which a routine is called: `team.routine-triage` is `team.templates.routine.triage`. */
export function routineTemplateId(workflowId: string): string {
  const dot = workflowId.indexOf('.');
  const namespace = dot === -1 ? '' : `${workflowId.slice(0, dot)}.`;
  return `${namespace}templates.routine.${workflowId.slice(dot + 1).replace(/^routine-/, '')}`;
}
