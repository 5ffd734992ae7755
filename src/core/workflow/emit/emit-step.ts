import { contracts } from '../builtins/registry.ts';
import type { CompiledStep } from '../compiled/compiled-step.ts';
import type { ExpandedStep } from '../expand/expanded.ts';
import { renderPrompt } from '../expand/render-prompt.ts';
import type { StandardStep } from '../syntax.ts';
import { checkAssessments, checkFunctions } from './check-references.ts';
import type { Emission } from './emission.ts';

/** A step as it is pinned: its prompt one text, everything it refers to known to exist. */
export function emitStep(step: ExpandedStep, emission: Emission, scope: readonly string[]): CompiledStep {
  const { syntax } = step;
  const prompt = renderPrompt(syntax, emission);
  const bindAt = (place: string) => (text: string) => emission.bind(text, `${syntax.at}/${place}`);
  checkAssessments(syntax, emission);
  const agentRole = syntax.agentRole ?? emission.agentRole;
  return {
    stepId: syntax.id as CompiledStep['stepId'],
    title: bindAt('title')(syntax.title),
    prompt: bindAt(syntax.prompt.kind === 'text' ? 'prompt' : 'promptBlocks')(prompt.text),
    ...(agentRole === undefined ? {} : { agentRole: bindAt('agentRole')(agentRole) }),
    guidance: syntax.guidance.map((text, i) => bindAt(`guidance/${i}`)(text)),
    fragments: syntax.fragments.map(({ id, when, text, at }) => ({
      id,
      when,
      text: emission.bind(text, `${at}/text`),
    })),
    ...(syntax.runCondition === undefined ? {} : { runCondition: syntax.runCondition }),
    confirmation: syntax.confirmation,
    isNoteRequired: isNoteRequired(step),
    ...emitOutput(syntax, emission),
    ...(syntax.criteria === undefined ? {} : { criteria: syntax.criteria }),
    assessmentIds: syntax.assessmentRefs.map(({ id }) => id),
    consequences: syntax.consequences.map(({ at, ...consequence }) => ({
      ...consequence,
      guidance: emission.bind(consequence.guidance, `${at}/effect/guidance`),
    })),
    functionNames: checkFunctions(syntax, scope, emission),
    ...emitUserDependency(syntax, bindAt('userDependency/prompt')),
    purpose: emitPurpose(step, emission),
    provenance: step.provenance,
    refs: [...prompt.refs],
  };
}

/** Notes are asked of authored steps, unless the author lets them off or a contract takes their place. */
function isNoteRequired({ syntax, purpose }: ExpandedStep): boolean {
  const isInjected = purpose.kind === 'probe' || purpose.kind === 'loop_decision';
  return !isInjected && !syntax.isNotesOptional && syntax.output === undefined;
}

function emitOutput({ output }: StandardStep, emission: Emission): Pick<CompiledStep, 'output'> {
  if (output === undefined) return {};
  const contract = contracts.find(output.contractRef);
  if (contract === undefined) {
    const message = `There is no contract "${output.contractRef}".`;
    const unknown = { name: output.contractRef, known: contracts.ids };
    const at = `${output.at}/contractRef`;
    emission.findings.push({ code: 'unknown_contract', severity: 'error', at, message, unknown });
    return {};
  }
  emission.contracts.set(contract.contractRef, contract);
  const { isRequired } = output;
  const hints = output.hints.map((hint, i) => emission.bind(hint, `${output.at}/hints/${i}`));
  return { output: { contractRef: contract.contractRef, isRequired, hints } };
}

/** The goals of delegated tasks are texts for an agent too. */
function emitPurpose({ purpose, syntax }: ExpandedStep, { bind }: Emission): CompiledStep['purpose'] {
  if (purpose.kind !== 'delegation') return purpose;
  const delegations = purpose.delegations.map(({ goal, ...one }, i) => ({
    ...one,
    ...(goal === undefined ? {} : { goal: bind(goal, `${syntax.at}/parallelDelegations/${i}/goal`) }),
  }));
  return { kind: 'delegation', delegations };
}

function emitUserDependency(
  { userDependency }: StandardStep,
  bind: (text: string) => string,
): Pick<CompiledStep, 'userDependency'> {
  if (userDependency === undefined) return {};
  const { contextKey, prompt, ...rest } = userDependency;
  type Key = NonNullable<NonNullable<CompiledStep['userDependency']>['contextKey']>;
  const key = contextKey === undefined ? {} : { contextKey: contextKey as Key };
  return { userDependency: { ...rest, ...key, prompt: bind(prompt) } };
}
