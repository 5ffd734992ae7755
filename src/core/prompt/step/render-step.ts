import { assert } from '../../assert.ts';
import type { EngineState } from '../../log/execution-snapshot.ts';
import { checkStep } from '../../run/requirements/check-step.ts';
import type { Requirement } from '../../run/requirements/requirement.ts';
import { requirementsOf } from '../../run/requirements/requirements-of.ts';
import type { Unmet } from '../../run/requirements/step-check.ts';
import type { RunFacts } from '../../run/run-facts.ts';
import { holdsAt, type StepPlace } from '../../run/step-place.ts';
import { loopVariablesAt } from '../../run/walk/loop-variables.ts';
import { type PendingPlace, pendingStepAt } from '../../run/walk/pending-step.ts';
import type { WorkflowIndex } from '../../workflow/compiled/workflow-index.ts';
import type { BranchPart } from '../reply-parts.ts';
import type { ReplyWarning } from '../reply-warning.ts';
import { replyWarning, type WarningFact } from '../reply-warnings.ts';
import { confirmationText } from './confirmation-text.ts';
import { delegationText, delegationWay } from './delegation-text.ts';
import { type ValueFiller, valueFiller } from './fill-values.ts';
import { functionCallTexts, functionTexts } from './function-texts.ts';
import { loopPosition } from './loop-position.ts';
import { requirementTexts } from './requirement-texts.ts';

/** Where a run stands, and the branch below it when somebody came back to a step already done. */
export type RenderedPlace = {
  readonly index: WorkflowIndex;
  readonly state: EngineState;
  readonly facts: RunFacts;
  readonly branch?: BranchPart | undefined;
};

/** A step as an agent reads it. */
export type RenderedStep = {
  readonly title: string;
  /** Begins with the authored prompt. */
  readonly prompt: string;
  readonly authored: string;
  readonly warnings: readonly ReplyWarning[];
  readonly place: StepPlace;
  readonly pending: PendingPlace;
  readonly requirements: readonly Requirement[];
  /** What a call would lack that brings nothing. */
  readonly lacking: readonly Unmet[];
};

/** The pending step: what its author wrote, with the values of this place, and all that it asks for. */
export function renderStep({ index, state, facts, branch }: RenderedPlace): RenderedStep {
  const pending = pendingStepAt(index, state);
  assert(pending !== undefined, 'only a pending step is rendered');
  const loopVariables = loopVariablesAt(index, state);
  const place: StepPlace = { index, step: pending.step, facts, loopVariables };
  const filler = valueFiller({ context: facts.context, loopVariables });
  const title = filler.fillLine(pending.step.title);
  const authored = filler.fill(pending.step.prompt);
  const functions = functionTexts(index, pending.step.stepId, branch);
  const requirements = requirementsOf(place);
  const { unmet: lacking, met } = checkStep({ ...place, ...NOTHING });
  const sections = [
    authored,
    ...fragmentTexts(place, filler),
    ...stanceTexts(place),
    loopPosition(pending, index, filler),
    delegationText(place, filler),
    functions && `Functions that are referred to:\n\n${functions.text}`,
    functionCallTexts(pending.step, filler),
    ...requirementTexts(requirements, { met, autonomy: facts.preferences.autonomy }),
    confirmationText(place),
  ];
  const found = [
    ...valueWarnings(filler),
    ...(functions?.isCut === true ? [{ code: 'text_cut', parts: ['function definitions'] } as const] : []),
    ...degradedWarnings(place),
  ];
  return {
    title,
    authored,
    prompt: sections.filter((text) => text !== undefined && text !== '').join('\n\n'),
    warnings: found.map((fact) => replyWarning(fact, facts.preferences.riskPolicy)),
    place,
    pending,
    requirements,
    lacking,
  };
}

const NOTHING = {
  handedIn: { notesMarkdown: undefined, artifacts: [] },
  isRetry: false,
  hasNewNotes: false,
  openLoops: [],
};

/** Whether only a person can supply what is missing. */
export function isOfUser({ reason }: Unmet): boolean {
  return reason.startsWith('user_only_dependency:');
}

/** Whether it is what the user says to a report that was held back; the report itself comes first. */
export function isAnswerToReport(unmet: Unmet): boolean {
  return isOfUser(unmet) && unmet.example?.context === undefined;
}

function fragmentTexts(place: StepPlace, filler: ValueFiller): readonly string[] {
  return place.step.fragments.filter(({ when }) => holdsAt(place, when)).map(({ text }) => filler.fill(text));
}

function stanceTexts({ step, index }: StepPlace): readonly string[] {
  const role = step.agentRole ?? index.workflow.agentRole;
  return [
    ...(role === undefined ? [] : [`Your role: ${role}`]),
    ...(step.guidance.length === 0 ? [] : [['Keep to this:', ...step.guidance.map((rule) => `- ${rule}`)].join('\n')]),
  ];
}

function valueWarnings({ unset, cut }: ValueFiller): readonly WarningFact[] {
  return [
    ...(unset.size === 0 ? [] : [{ code: 'unset_value', names: [...unset] } as const]),
    ...(cut.size === 0 ? [] : [{ code: 'text_cut', parts: [...cut] } as const]),
  ];
}

/** Without subagents by the author's own word nothing is lost. */
function degradedWarnings(place: StepPlace): readonly WarningFact[] {
  const isDegraded =
    place.step.purpose.kind === 'delegation' &&
    place.index.workflow.capabilities.delegation !== 'disabled' &&
    delegationWay(place) === 'in_turn';
  return isDegraded ? [{ code: 'capability_degraded', capability: 'delegation' }] : [];
}
