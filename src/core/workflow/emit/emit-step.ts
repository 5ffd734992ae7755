import { gateVerdict } from '../builtins/contracts/gate-verdict.ts';
import { contracts } from '../builtins/registry.ts';
import type { CompiledStep } from '../compiled/compiled-step.ts';
import type { Confirmation } from '../compiled/confirmation.ts';
import type { ExpandedStep } from '../expand/expanded.ts';
import { renderPrompt } from '../expand/render-prompt.ts';
import type { StandardStep } from '../format/syntax.ts';
import { checkIdLength } from './check-id-length.ts';
import { checkAssessmentReferences } from './check-references.ts';
import type { Emission } from './emission.ts';
import { emitFunctions } from './emit-functions.ts';

/** A step as it is pinned: its prompt one text, everything it refers to known to exist. */
export function emitStep(step: ExpandedStep, emission: Emission, scope: readonly string[]): CompiledStep {
  const { syntax } = step;
  const prompt = renderPrompt(syntax, emission);
  checkAssessmentReferences(syntax, emission);
  checkIdLength(syntax.id, syntax.at, emission);
  if (isCoordinated(syntax.confirmation)) emission.contracts.set(gateVerdict.contractRef, gateVerdict);
  const agentRole = syntax.agentRole ?? emission.agentRole;
  return {
    stepId: syntax.id as CompiledStep['stepId'],
    title: syntax.title,
    prompt: prompt.text,
    ...(agentRole === undefined ? {} : { agentRole }),
    guidance: [...syntax.guidance],
    fragments: syntax.fragments.map(({ id, when, text }) => ({ id, when, text })),
    ...(syntax.runCondition === undefined ? {} : { runCondition: syntax.runCondition }),
    confirmation: syntax.confirmation,
    isNoteRequired: isNoteRequired(step),
    ...emitOutput(syntax, emission),
    ...(syntax.criteria === undefined ? {} : { criteria: syntax.criteria }),
    assessmentIds: syntax.assessmentRefs.map(({ id }) => id),
    consequences: syntax.consequences.map(({ at: _, ...consequence }) => consequence),
    ...emitFunctions(syntax, scope, emission),
    ...emitUserDependency(syntax),
    purpose: step.purpose,
    provenance: step.provenance,
    refs: [...prompt.refs],
  };
}

/** Whether a coordinator may be asked, whose verdict comes as an artifact. */
function isCoordinated(confirmation: Confirmation | undefined): boolean {
  if (confirmation === undefined || confirmation.kind === 'none') return false;
  return confirmation.kind === 'coordinator_eval' || isCoordinated(confirmation.otherwise);
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
  const { isRequired, hints } = output;
  return { output: { contractRef: contract.contractRef, isRequired, hints: [...hints] } };
}

function emitUserDependency({ userDependency }: StandardStep): Pick<CompiledStep, 'userDependency'> {
  if (userDependency === undefined) return {};
  const { contextKey, ...rest } = userDependency;
  type Key = NonNullable<NonNullable<CompiledStep['userDependency']>['contextKey']>;
  return { userDependency: { ...rest, ...(contextKey === undefined ? {} : { contextKey: contextKey as Key }) } };
}
