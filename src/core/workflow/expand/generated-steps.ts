import type { StandardStep } from '../format/syntax.ts';

/** The steps that `verification` and `audit` of a step stand for, in the order in which they are done. */
export function followUps(step: StandardStep): readonly StandardStep[] {
  const { verification, audit } = step;
  const checks: StandardStep[] = [];
  if (verification !== undefined) {
    checks.push({
      ...plainStep(step, 'verify', `Verify: ${step.title}`),
      prompt: { kind: 'text', text: verificationPrompt(verification) },
      output: { at: step.at, contractRef: 'wr.contracts.verification_report', isRequired: true, hints: [] },
    });
  }
  if (audit !== undefined) {
    checks.push({
      ...plainStep(step, 'audit', `Audit: ${step.title}`),
      prompt: { kind: 'text', text: auditPrompt(audit) },
    });
  }
  return checks;
}

/** A step of the compiler's making beside an authored one; it is done in the same role. */
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
    prompt: { kind: 'text', text: title },
    guidance: [],
    fragments: [],
    assessmentRefs: [],
    consequences: [],
    functions: [],
    functionReferences: [],
    functionCalls: [],
    ...(agentRole === undefined ? {} : { agentRole }),
  };
}

function verificationPrompt({ command, prompt }: NonNullable<StandardStep['verification']>): string {
  const parts = [
    prompt ?? 'Check that what you did in the step before really works. Do not rely on having meant it to.',
    ...(command === undefined ? [] : [`Run this command and look at what it prints:\n\n    ${command}`]),
    'Report every check with its outcome and the evidence you saw. A check that you could not run is "skipped", with the reason.',
  ];
  return parts.join('\n\n');
}

function auditPrompt({ prompt, rubric }: NonNullable<StandardStep['audit']>): string {
  const parts = [
    prompt ?? 'Look at the result of the step before as a critical reader who did not write it.',
    ...(rubric.length === 0
      ? []
      : [`Go through these points one by one:\n\n${rubric.map((point) => `- ${point}`).join('\n')}`]),
    'For each weakness say where it is, why it matters, and whether you mended it. If there is none, say what you looked at.',
  ];
  return parts.join('\n\n');
}
