import { defined, type JsonObject } from '../../json/json-value.ts';
import { blockerPointerSchema } from '../../log/blockers.ts';
import { type LoopPath, parseStepInstanceKey, stepInstanceKeySchema } from '../../log/ids.ts';
import { visibleLine, visibleText } from '../../text/visible-text.ts';
import { checksWithRuns, checkWords, GRADE_MEANINGS } from '../../views/line-checks.ts';
import type { CompiledStep } from '../../workflow/compiled/compiled-step.ts';
import type { WorkflowIndex } from '../../workflow/compiled/workflow-index.ts';
import type { ReplyParts } from '../reply-parts.ts';
import { isWhole, type RunResult } from './run-result.ts';

type Gap = ReplyParts['gaps'][number];

/** A gap on one line, with its step where that is known. */
export function gapLine({ severity, summary, details }: Gap, index: WorkflowIndex): string {
  const step = stepName(details, index);
  return `Gap (${severity})${step === undefined ? '' : ` at ${step}`}: ${visibleLine(summary)}`;
}

export function replyGapData({ gapId, severity, reason, summary, details }: Gap): JsonObject {
  const { category, detail } = reason;
  return defined({ gapId, severity, category, detail, summary, details });
}

/** The first thing a finished run reports: nothing that was skipped or assumed may get lost at the end. */
export function openGapsText(gaps: readonly Gap[], index: WorkflowIndex, result: RunResult): string {
  const decided = gaps.filter(({ severity }) => severity === 'info');
  const open = gaps.filter(({ severity }) => severity !== 'info');
  return [...openLines(open, index, result), ...decidedLines(decided, index)].join('\n');
}

function openLines(open: readonly Gap[], index: WorkflowIndex, result: RunResult): readonly string[] {
  if (open.length === 0) return [isWhole(result) ? ALL : NONE];
  const count = open.length === 1 ? '1 gap is' : `${open.length} gaps are`;
  const lead = `${count} open: requirements that were not met, or met only by an assumption. Tell the user about each one:`;
  return [lead, ...open.map((gap) => `- ${gapLine(gap, index)}`)];
}

/** Confirmations that the mode left to the agent. The user must be able to look at each one. */
function decidedLines(decided: readonly Gap[], index: WorkflowIndex): readonly string[] {
  if (decided.length === 0) return [];
  const names = decided.map(({ details, summary }) => stepName(details, index) ?? visibleLine(summary));
  return [`Decided by the agent, without asking the user: ${names.join('; ')}.`];
}

const ALL = 'No gaps are open. Every required output was sent.';
const NONE = 'No gaps are open, but steps were skipped because a value was never set. Tell the user which.';

/** How well it is known that each check passed, step by step. */
export function gradesText(
  { checks = [], evidence = [] }: Pick<ReplyParts, 'checks' | 'evidence'>,
  { steps }: WorkflowIndex,
): string {
  const byStep = new Map<string, string[]>();
  for (const { check, run } of checksWithRuns(checks, evidence)) {
    byStep.set(check.stepId, [...(byStep.get(check.stepId) ?? []), checkWords(check, run)]);
  }
  const lines = [...byStep].map(([stepId, words]) => {
    const title = steps.get(stepId)?.title ?? stepId;
    return `- "${title.includes('{{') ? stepId : visibleLine(title)}": ${words.map(oneLine).join('; ')}`;
  });
  return [GRADES_LEAD, ...lines].join('\n');
}

/** On one line, with the spaces of a command as they are. */
function oneLine(text: string): string {
  return visibleText(text).replaceAll('\n', ' ');
}

const ANSWERS_MAX = 10;

/** What people decided, step by step; the newest answers if there are many. */
export function answersText(answers: NonNullable<ReplyParts['evidence']>, { workflow }: WorkflowIndex): string {
  const lines = answers.slice(-ANSWERS_MAX).map(({ about, words }) => {
    const step = workflow.steps.find(
      ({ stepId, userDependency }) => stepId === about || userDependency?.contextKey === about,
    );
    const title = step === undefined || step.title.includes('{{') ? about : step.title;
    return `- "${visibleLine(title)}": ${visibleLine(words)}`;
  });
  const more = answers.length - lines.length;
  return [`Answers of people${more > 0 ? ` (${more} earlier ones are not listed)` : ''}:`, ...lines].join('\n');
}

const GRADES_LEAD = `Checks with their evidence (${Object.entries(GRADE_MEANINGS)
  .map(([grade, meaning]) => `${grade}: ${meaning}`)
  .join('; ')}):`;

/** A title with placeholders says nothing without their values, so the id is used instead. */
function stepName(details: JsonObject | undefined, index: WorkflowIndex): string | undefined {
  const found = gapStep(details, index);
  if (found === undefined) return undefined;
  const { step, loopPath } = found;
  const name = step.title.includes('{{') ? step.stepId : visibleLine(step.title);
  const round = loopPath.map(({ iteration }) => iteration + 1).join('.');
  return `"${name}"${round === '' ? '' : `, round ${round}`}`;
}

/** A step of a workflow, in an iteration of the loops around it. */
type GapStep = { readonly step: CompiledStep; readonly loopPath: LoopPath };

/**
 * The step at which a gap was recorded, as far as its details show it: they may come from a bundle and hold anything.
 * Where they do not name the step, the pointer or the only step that asks for the artifact does.
 */
export function gapStep(details: JsonObject | undefined, index: WorkflowIndex): GapStep | undefined {
  const named = instanceOf(details?.['step'], index);
  if (named !== undefined) return named;
  const step = stepAbout(details, index);
  if (step === undefined) return undefined;
  const requirement = details?.['requirement'];
  const asked = typeof requirement === 'string' ? instanceOf(requirement.replace(/^[a-z_]+:/, ''), index) : undefined;
  return { step, loopPath: asked?.step === step ? asked.loopPath : [] };
}

function instanceOf(key: unknown, { steps }: WorkflowIndex): GapStep | undefined {
  const known = stepInstanceKeySchema.safeParse(key);
  if (!known.success) return undefined;
  const { stepId, loopPath } = parseStepInstanceKey(known.data);
  const step = steps.get(stepId);
  return step === undefined ? undefined : { step, loopPath };
}

function stepAbout(details: JsonObject | undefined, { steps, workflow }: WorkflowIndex): CompiledStep | undefined {
  const pointer = blockerPointerSchema.safeParse(details?.['pointer']).data;
  if (pointer?.kind === 'workflow_step') return steps.get(pointer.stepId);
  if (pointer?.kind !== 'output_contract') return undefined;
  const [step, ...others] = workflow.steps.filter(({ output }) => output?.contractRef === pointer.contractRef);
  return others.length === 0 ? step : undefined;
}
