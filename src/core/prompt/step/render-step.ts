import { assert, unreachable } from '../../assert.ts';
import { quote } from '../../json/json-value.ts';
import type { EngineState } from '../../log/execution-snapshot.ts';
import { accountedPrefix } from '../../run/form/context-form.ts';
import type { AskedPlace, Unmet } from '../../run/requirements/requirement.ts';
import { askedAt, checkStep, requirementTexts } from '../../run/requirements/step-requirements.ts';
import { dueConfirmation, holdsAt, type RunFacts, type StepPlace } from '../../run/step-place.ts';
import { type PendingPlace, pendingStepAt, stepsAhead } from '../../run/walk/next-step.ts';
import { loopVariablesAt } from '../../run/walk/walking.ts';
import { clip } from '../../text/utf8.ts';
import { BOUND_LABEL, quoteReservedLines, visibleText } from '../../text/visible-text.ts';
import type { LinePosition } from '../../views/session-view.ts';
import type { CompiledStep } from '../../workflow/compiled/compiled-step.ts';
import type { CompiledWorkflow } from '../../workflow/compiled/compiled-workflow.ts';
import { loopOf, type WorkflowIndex } from '../../workflow/compiled/workflow-index.ts';
import type { BranchPart, Lifecycle } from '../reply-parts.ts';
import { replyWarning } from '../reply-warnings.ts';
import type { ReplyWarning, WarningFact } from '../warning-facts.ts';
import { asksFor, type ValueFiller, valueFiller } from './fill-values.ts';
import { delegationText, delegationWay, functionCallTexts, functionTexts } from './prompt-fragments.ts';

/** Where a run stands, and the branch below a step that was already done. */
export type RenderedPlace = {
  readonly index: WorkflowIndex;
  readonly state: EngineState;
  readonly facts: RunFacts;
  readonly line: Pick<LinePosition, 'stepNumber'>;
  readonly branch?: BranchPart | undefined;
  readonly lifecycle: Lifecycle;
};

/** A step as an agent reads it. */
export type RenderedStep = {
  readonly title: string;
  /** Begins with the authored prompt. */
  readonly prompt: string;
  readonly authored: string;
  readonly standing: StandingTexts;
  /** Values that have no room in these texts, by name. */
  readonly values: ReadonlyMap<string, string>;
  readonly warnings: readonly ReplyWarning[];
  readonly place: AskedPlace;
  readonly pending: PendingPlace;
  /** Counted along the line of the run; `of` only once nothing ahead is undecided. */
  readonly position: { readonly index: number; readonly of?: number };
  /** What an empty call would lack. */
  readonly lacking: readonly Unmet[];
};

/** The pending step: what its author wrote, with the values of this place, and everything it asks for. */
export function renderStep({ index, state, facts, line, branch, lifecycle }: RenderedPlace): RenderedStep {
  const pending = pendingStepAt(index, state);
  assert(state.kind === 'running' && pending !== undefined, 'only a pending step is rendered');
  const loopVariables = loopVariablesAt(index, state);
  const place: StepPlace = { index, step: pending.step, facts, loopVariables };
  const filler = valueFiller({ context: facts.context, loopVariables }, index.workflow);
  const title = filler.fillLine(pending.step.title);
  const authored = quoteReservedLines(filler.fill(pending.step.prompt));
  const functions = functionTexts(index, pending.step.stepId, { branch, fill: filler.fill });
  const asked = askedAt(place);
  const { unmet: lacking } = checkStep({ ...place, ...NOTHING });
  const written = [
    ...fragmentTexts(place, filler),
    ...stanceTexts(place, filler),
    loopPosition(pending, index, filler),
    delegationText(place, filler),
    functions && `Definitions used in this step:\n\n${functions.text}`,
    functionCallTexts(pending.step, filler),
  ];
  const sections = [
    authored,
    ...written.map((text) => text && quoteReservedLines(text)),
    ...requirementTexts(asked),
    confirmationText(place),
    boundTexts(place),
  ];
  const standing = standingTexts({ index, lifecycle }, filler);
  const found = [
    ...valueWarnings(filler, index),
    ...(functions?.isCut === true ? [{ code: 'text_cut', parts: ['function definitions'] } as const] : []),
    ...degradedWarnings(place),
  ];
  return {
    title,
    authored,
    standing,
    prompt: visibleText(sections.filter((text) => text !== undefined && text !== '').join('\n\n')),
    values: filler.apart,
    warnings: found.map((fact) => replyWarning(fact, facts.preferences.riskPolicy)),
    place: asked,
    pending,
    position: positionOn(line, stepsAhead(index, state, facts)),
    lacking,
  };
}

/** What the author says about the whole workflow, as far as a reply shows it. */
export type StandingTexts = Pick<CompiledWorkflow, 'preconditions' | 'clarificationPrompts' | 'metaGuidance'>;

/** Shown at the start; the rules also when a run is rehydrated. */
export function standingTexts(
  { index, lifecycle }: Pick<RenderedPlace, 'index' | 'lifecycle'>,
  { fill }: ValueFiller,
): StandingTexts {
  const { preconditions, clarificationPrompts, metaGuidance } = index.workflow;
  const shown = (texts: readonly string[], isShown: boolean) =>
    isShown ? texts.map((text) => quoteReservedLines(fill(text))) : [];
  const isStart = lifecycle === 'start';
  return {
    preconditions: shown(preconditions, isStart),
    clarificationPrompts: shown(clarificationPrompts, isStart),
    metaGuidance: shown(metaGuidance, isStart || lifecycle === 'rehydrate'),
  };
}

function positionOn(
  { stepNumber }: Pick<LinePosition, 'stepNumber'>,
  ahead: number | undefined,
): RenderedStep['position'] {
  return { index: stepNumber, ...(ahead === undefined ? {} : { of: stepNumber + ahead }) };
}

const NOTHING = {
  handedIn: { notesMarkdown: undefined, artifacts: [] },
  isRetry: false,
  hasNewNotes: false,
  openLoops: [],
};

/** Whether only the user can supply what is missing. */
export function isOfUser({ reason }: Unmet): boolean {
  return reason.startsWith('user_only_dependency:');
}

/** Whether it is the user's answer to a blocked report; the report itself comes first. */
export function isAnswerToReport(unmet: Unmet): boolean {
  return isOfUser(unmet) && unmet.form?.context === undefined;
}

/** The text that the project put into this step, so that nobody takes it for the workflow's own. */
function boundTexts({ index: { workflow }, step }: StepPlace): string | undefined {
  const at = workflow.steps.findIndex(({ stepId }) => stepId === step.stepId);
  // What applies to the whole run is shown with the first step.
  const isHere = (pointer: string) =>
    pointer.startsWith(`/steps/${at}/`) || (at === 0 && !pointer.startsWith('/steps/'));
  const bound = (workflow.origins ?? []).filter(
    ({ source, pointer }) => source === 'project_binding' && isHere(pointer),
  );
  if (bound.length === 0) return undefined;
  const texts = new Map(bound.map(({ originId, text = '' }) => [originId, quote(clip(text, BOUND_BYTES_MAX))]));
  const list = [...texts].map(([slotId, text]) => `- ${slotId}: ${text}`);
  return [BOUND_LABEL, ...list].join('\n');
}

const BOUND_BYTES_MAX = 200;

function fragmentTexts(place: StepPlace, filler: ValueFiller): readonly string[] {
  return place.step.fragments.filter(({ when }) => holdsAt(place, when)).map(({ text }) => filler.fill(text));
}

function stanceTexts({ step, index }: StepPlace, { fill }: ValueFiller): readonly string[] {
  const role = step.agentRole ?? index.workflow.agentRole;
  return [
    ...(role === undefined ? [] : [`Your role: ${fill(role)}`]),
    ...(step.guidance.length === 0
      ? []
      : [['Follow these rules:', ...step.guidance.map((rule) => `- ${fill(rule)}`)].join('\n')]),
  ];
}

function valueWarnings({ unset, cut }: ValueFiller, index: WorkflowIndex): readonly WarningFact[] {
  return [
    ...(unset.size === 0 ? [] : [unsetWarning([...unset], index)]),
    ...(cut.size === 0 ? [] : [{ code: 'text_cut', parts: [...cut] } as const]),
  ];
}

/** A list with ids is known only from its entries, so the warning says how they begin. */
function unsetWarning(names: readonly string[], index: WorkflowIndex): WarningFact {
  const lists = names.flatMap((name) => {
    const prefix = accountedPrefix(index, name);
    return prefix === undefined ? [] : [{ name, prefix }];
  });
  return { code: 'unset_value', names, ...(lists.length === 0 ? {} : { lists }) };
}

/** Where the author disabled delegation, nothing is lost. */
function degradedWarnings(place: StepPlace): readonly WarningFact[] {
  const isDegraded =
    place.step.purpose.kind === 'delegation' &&
    place.index.workflow.capabilities.delegation !== 'disabled' &&
    delegationWay(place) === 'in_turn';
  return isDegraded ? [{ code: 'capability_degraded', capability: 'delegation' }] : [];
}

/** Which round of which loop this is, outermost first, and with which item. `undefined` outside loops. */
function loopPosition({ step, loops }: PendingPlace, index: WorkflowIndex, filler: ValueFiller): string | undefined {
  if (loops.length === 0) return undefined;
  return loops
    .map(({ loopId, title, iteration, of }, depth) => {
      const loop = loopOf(index, loopId);
      const limit = of === undefined ? `at most ${loop.maxIterations}` : of;
      const isHidden = loops.slice(depth + 1).some((inner) => itemName(index, inner.loopId) === loop.variables.item);
      const isShown = loop.control.kind === 'for_each' && !isHidden && !isInText(step, loop.variables.item);
      const item = isShown ? `, ${loop.variables.item}: ${filler.show(loop.variables.item)}` : '';
      return `Loop ${filler.fillQuoted(title)}: round ${iteration} of ${limit}${item}.`;
    })
    .join('\n');
}

function itemName(index: WorkflowIndex, loopId: string): string | undefined {
  const loop = loopOf(index, loopId);
  return loop.control.kind === 'for_each' ? loop.variables.item : undefined;
}

/** An item that the author's text already shows need not be shown again. */
function isInText({ prompt, title }: CompiledStep, name: string): boolean {
  return asksFor(prompt, name) || asksFor(title, name);
}

/** Approval and verdict are requirements with words of their own; a plain confirmation is only this text. */
function confirmationText(place: StepPlace): string | undefined {
  const due = dueConfirmation(place);
  switch (due) {
    case 'none':
    case 'human_approval':
      return undefined;
    case 'coordinator_eval':
      return 'The verdict must come from the coordinator: the agent or person who gave you this work. Ask them, wait, and send their verdict. Give it yourself only if you are the coordinator.';
    case 'confirm':
      return place.facts.preferences.autonomy === 'guided'
        ? 'Confirmation: before you send the next call, show the user in a few lines what you decided, and wait for a yes. If the user says no, do what the step says for that case. If the step does not cover it, change the work as the user asks, and ask again.'
        : 'Confirmation: in this mode you do not ask the user. Decide as the user most likely would, and write the choice and its reason in the notes.';
    default:
      return unreachable(due);
  }
}
