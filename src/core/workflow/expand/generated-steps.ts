import { CAPABILITIES, type Capability } from '../../log/blockers.ts';
import { orList } from '../../text/words.ts';
import { capabilityProbe } from '../builtins/templates.ts';
import type { CompilerFinding } from '../diagnostics/diagnostic.ts';
import type { ParallelStep, StandardStep, TemplateStep } from '../format/step-fields.ts';
import type { ExpandedEntry, Needs } from './expanded.ts';
import { unknownArgument } from './instantiate.ts';

/** The steps that `verification` and `audit` of a step stand for, in the order in which they are done. */
export function followUps(step: StandardStep): readonly StandardStep[] {
  const { verification, audit } = step;
  const checks: StandardStep[] = [];
  if (verification !== undefined) {
    checks.push({
      ...plainStep(step, 'verify', `Verify: ${step.title}`),
      prompt: verificationPrompt(verification),
      output: { at: step.at, contractRef: 'wr.contracts.verification_report', isRequired: true, hints: [] },
    });
  }
  if (audit !== undefined) {
    checks.push({
      ...plainStep(step, 'audit', `Audit: ${step.title}`),
      prompt: auditPrompt(audit),
    });
  }
  return checks;
}

/** A step that the compiler adds to an authored one; it has the same role. */
export function plainStep(
  { at, id, agentRole }: Pick<StandardStep, 'at' | 'id' | 'agentRole'>,
  name: string,
  title: string,
): StandardStep {
  return {
    kind: 'standard',
    at,
    id: `${id}--${name}`,
    title,
    confirmation: { kind: 'none' },
    isNotesOptional: false,
    prompt: title,
    guidance: [],
    fragments: [],
    assessmentRefs: [],
    consequences: [],
    functions: [],
    functionReferences: [],
    functionCalls: [],
    sets: [],
    bindsTree: true,
    checks: [],
    accountsFor: [],
    collects: [],
    ...(agentRole === undefined ? {} : { agentRole }),
  };
}

function verificationPrompt({ command, prompt }: NonNullable<StandardStep['verification']>): string {
  const parts = [
    prompt ?? 'Check that what you did in the previous step really works. Do not assume that it does.',
    ...(command === undefined ? [] : [`Run this command and read its output:\n\n    ${command}`]),
    'Report every check with its outcome and the evidence you saw. Report a check that you could not run as "skipped", with the reason.',
  ];
  return parts.join('\n\n');
}

function auditPrompt({ prompt, rubric }: NonNullable<StandardStep['audit']>): string {
  const parts = [
    prompt ?? 'Look at the result of the previous step as a critical reader who did not write it.',
    ...(rubric.length === 0
      ? []
      : [`Go through these points one by one:\n\n${rubric.map((point) => `- ${point}`).join('\n')}`]),
    'For each weakness say where it is, why it matters, and whether you fixed it. If you find none, say what you looked at.',
  ];
  return parts.join('\n\n');
}

/** The step in which work is handed to other agents. How it reads depends on whether delegation is available. */
export function delegationStep(step: ParallelStep): StandardStep {
  return {
    ...plainStep(step, 'delegate', step.title),
    id: step.id,
    confirmation: step.confirmation,
    isNotesOptional: step.isNotesOptional,
    prompt: delegationPrompt(step),
    ...(step.runCondition === undefined ? {} : { runCondition: step.runCondition }),
  };
}

/** The step that brings the results together; there is one only where the author asked for it. */
export function synthesisStep(step: ParallelStep): StandardStep | undefined {
  const { synthesis } = step;
  if (synthesis === undefined) return undefined;
  const text =
    synthesis.prompt ??
    'Combine the results of the delegated tasks. Where they disagree, say so and decide by the evidence, not by the number of votes.';
  return {
    ...plainStep(step, 'synthesis', `Synthesis: ${step.title}`),
    isNotesOptional: step.isNotesOptional,
    prompt: text,
    ...(synthesis.output === undefined ? {} : { output: synthesis.output }),
  };
}

function delegationPrompt({ title, delegations, isNotesOptional }: ParallelStep): string {
  const tasks = delegations.map(
    ({ workflowId, goal }, i) => `${i + 1}. ${workflowId}${goal === undefined ? '' : `: ${goal}`}`,
  );
  const parts = [title, 'Do each of these tasks separately:', tasks.join('\n'), ...(isNotesOptional ? [] : [HAND_IN])];
  return parts.join('\n\n');
}

const HAND_IN =
  'In the notes, give the result of each task under its number. The step is done when each task has a result, or the reason why it has none.';

/** The probes that required capabilities put before everything else. */
export function requiredProbes(needs: Needs): readonly ExpandedEntry[] {
  return CAPABILITIES.flatMap((capability) => {
    const needed = needs[capability];
    return needed?.need === 'required' ? [probe(capability, { id: `wr_probe_${capability}`, at: needed.at })] : [];
  });
}

/** A probe that an author asked for by name. */
export function probeCall(call: TemplateStep, findings: CompilerFinding[]): readonly ExpandedEntry[] {
  const given = call.args['capability'];
  const capability = CAPABILITIES.find((one) => one === given);
  const others = Object.keys(call.args).filter((name) => name !== 'capability');
  findings.push(...others.map((name) => unknownArgument(call, name, ['capability'])));
  if (capability !== undefined) return [probe(capability, call)];
  const at = `${call.callAt}/args/capability`;
  if (given === undefined) {
    const message = `The template "${call.templateId}" needs the argument "capability": ${orList(CAPABILITIES)}.`;
    findings.push({ code: 'missing_argument', severity: 'error', at, message });
  } else {
    const unknown = { name: given, known: CAPABILITIES };
    const message = `Unknown capability "${given}".`;
    findings.push({ code: 'wrong_value', severity: 'error', at, message, unknown });
  }
  return [];
}

function probe(capability: Capability, { id, at }: Pick<TemplateStep, 'id' | 'at'>): ExpandedEntry {
  const { title, prompt } = capabilityProbe.steps[capability];
  const { templateId, contractRef } = capabilityProbe;
  return {
    kind: 'step',
    step: {
      syntax: {
        ...plainStep({ id, at }, 'probe', title),
        id,
        isNotesOptional: true,
        prompt: prompt,
        output: { at, contractRef, isRequired: true, hints: [] },
      },
      provenance: { source: 'template_injected', originId: templateId },
      purpose: { kind: 'probe', capability, templateId },
    },
  };
}
