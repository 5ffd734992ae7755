import { defined, isList, type JsonObject, type JsonValue, quote } from '../../json/json-value.ts';
import type { Call } from '../../log/error-envelope.ts';
import type { StoredReply } from '../../log/events/graph-events.ts';
import { runTag } from '../../log/ids.ts';
import { hole, isHole } from '../../log/operation/stored-reply.ts';
import { BESIDE_WORDS, blank, PROGRESS_WORDS } from '../../run/form/blank.ts';
import { contextForm } from '../../run/form/context-form.ts';
import { notesFormAt } from '../../run/requirements/notes.ts';
import type { FormOutput, Unmet } from '../../run/requirements/requirement.ts';
import { utf8Length, utf8Prefix } from '../../text/utf8.ts';
import { NEXT_CALL, visibleJson, visibleLine } from '../../text/visible-text.ts';
import { gradeWords } from '../../views/line-checks.ts';
import { type ReplyParts, SETTERS } from '../reply-parts.ts';
import { isAnswerToReport, isOfUser, type RenderedStep } from '../step/render-step.ts';
import type { ReplyWarning } from '../warning-facts.ts';
import { gapLine } from './gap-lines.ts';

/** The end of a reply. */
export type Ending = {
  /** Where the run stands: the step with its position, or that no step is pending. */
  readonly standing: string;
  readonly warnings: readonly ReplyWarning[];
  /** Gaps that are not shown elsewhere in the text. */
  readonly gaps: ReplyParts['gaps'];
  /** What to do now. */
  readonly advice: string;
  /** Absent where there is no call to make, and where the call is further up. */
  readonly nextCall?: Call | undefined;
};

/** Run, position, what happened, what to do, and the tokens; always last, so that it is easy to find. */
export function footer(parts: ReplyParts, ending: Ending): readonly TextPart[] {
  const { runId, index, facts } = parts;
  const workflowId = shortened(index.workflow.workflowId, ID_BYTES_MAX);
  const source = facts.source === undefined ? '' : ` (${facts.source})`;
  const place = `Run ${runTag(runId)} · ${workflowId}${source} · ${modeLine(facts)} · ${ending.standing}`;
  const again = { tool: 'continue_workflow', arguments: { stateToken: hole('stateToken') } };
  const save = { tool: 'checkpoint_workflow', arguments: { checkpointToken: hole('checkpointToken'), output: SAVED } };
  return [
    `---\n${place}\n`,
    ...ending.warnings.flatMap(warningLine),
    ...ending.gaps.map((gap) => `${gapLine(gap, index)}\n`),
    ...stepContextLines(parts).map((line) => `${line}\n`),
    `${ending.advice}\n`,
    ...(ending.nextCall === undefined ? [] : [...nextCallLine(ending.nextCall), '\n']),
    'To see the goal and earlier notes: ',
    ...callText(again),
    ...(isOver(parts) ? [] : ['\nTo save notes: ', ...callText(save)]),
  ];
}

/** The mode; a looser one than guided with who set it. */
function modeLine({ preferences: { autonomy }, setBy }: ReplyParts['facts']): string {
  return autonomy === 'guided' || setBy === undefined ? autonomy : `${autonomy} (${SETTERS[setBy]})`;
}

/** A finished run has nothing left to save. A session for notes has no steps and is only there to save. */
function isOver({ state, index }: ReplyParts): boolean {
  return state.kind === 'complete' && index.workflow.steps.length > 0;
}

const SAVED = { notesMarkdown: blank(PROGRESS_WORDS) };

/** The one line by which a reader finds the call to make. */
export function nextCallLine(call: Call): readonly TextPart[] {
  return [`${NEXT_CALL} `, ...callText(call)];
}

function warningLine({ message, suggestedCall }: ReplyWarning): readonly TextPart[] {
  return [
    `Warning: ${visibleLine(message)}`,
    ...(suggestedCall === undefined ? [] : [' ', ...callText(suggestedCall)]),
    '\n',
  ];
}

/** The footer has to stay short whatever an author writes; the data holds the full names. */
const TITLE_BYTES_MAX = 36;
const ID_BYTES_MAX = 36;

export function shortTitle(title: string): string {
  const short = shortened(visibleLine(title), TITLE_BYTES_MAX);
  // A cut may fall inside the quotation marks of a value.
  const marks = short.match(/\\.|"/g)?.filter((mark) => mark === '"').length ?? 0;
  return marks % 2 === 0 ? short : `${short}"`;
}

function shortened(text: string, bytesMax: number): string {
  return utf8Length(text) <= bytesMax ? text : `${utf8Prefix(text, bytesMax - 3)}…`;
}

type Told = Pick<ReplyParts, 'assessments' | 'checks' | 'state'>;
type Accepted = NonNullable<ReplyParts['assessments']>['accepted'][number];

/** Facts about the step just done; absent when it recorded none. */
export function stepContextData({ assessments, checks = [] }: Told): { readonly stepContext?: JsonObject } {
  const [first, ...others] = (assessments?.accepted ?? []).map(assessmentData);
  if (first === undefined && checks.length === 0) return {};
  const shown = assessments?.isOneOfSeveral === true ? [first, ...others] : first;
  return {
    stepContext: {
      ...(first === undefined ? {} : { assessments: shown as JsonValue }),
      ...(checks.length === 0 ? {} : { checks: checks.map((check) => defined({ ...check })) }),
    },
  };
}

function stepContextLines({ assessments, checks = [], state }: Told): readonly string[] {
  const accepted = (assessments?.accepted ?? []).map(({ assessmentId, dimensions, normalizationNotes }) => {
    const levels = dimensions.map(({ dimensionId, level }) => `${dimensionId} = ${level}`).join(', ');
    return visibleLine([`Assessment "${assessmentId}" accepted: ${levels}.`, ...normalizationNotes].join(' '));
  });
  // A finished run shows the checks of all its steps further up.
  const isListed = checks.length > 0 && state.kind !== 'complete';
  return isListed ? [...accepted, `Evidence for checks: ${checks.map(evidenceWords).join('; ')}.`] : accepted;
}

/** Another reply explains the grades only at the end of the run. */
function evidenceWords(check: NonNullable<Told['checks']>[number]): string {
  return `${quote(check.checkId)}: ${gradeWords(check)}`;
}

function assessmentData({ assessmentId, dimensions, normalizationNotes }: Accepted): JsonObject {
  return {
    assessmentId,
    dimensions: dimensions.map(({ dimensionId, level, rationale }) => ({
      dimensionId,
      level,
      ...(rationale === undefined ? {} : { rationale }),
    })),
    normalizationNotes,
  };
}

/** The call that reports the step, with its blanks; next to an artifact it has room for notes. */
export function reportCall(step: RenderedStep): Call {
  const form = reportForm(step);
  const isBeside = form.artifacts !== undefined && isNoteWelcome(step);
  return callWith(isBeside ? { notesMarkdown: BESIDE_THE_ARTIFACT, ...form } : form);
}

const BESIDE_THE_ARTIFACT = blank(BESIDE_WORDS);

/** A contract replaces the required notes, but only notes show later what happened. */
function isNoteWelcome({ place: { step } }: RenderedStep): boolean {
  return step.output !== undefined && step.purpose.kind !== 'probe' && step.purpose.kind !== 'loop_decision';
}

/** A form asks for an answer of the user only where the user is asked before the call is sent. */
function reportForm({ place, lacking, pending }: RenderedStep): FormOutput {
  const isAlone = place.facts.preferences.autonomy === 'full_auto_never_stop';
  const asked = mergedForm(lacking.filter((unmet) => !(isAlone ? isOfUser(unmet) : isAnswerToReport(unmet))));
  const isLaterRound = pending.loops.some(({ iteration }) => iteration > 1);
  const set = contextForm({ index: place.index, step: place.step, context: place.facts.context, isLaterRound });
  const context = { ...set, ...asked.context };
  const own = Object.keys(context).length === 0 ? asked : { ...asked, context };
  if (own.notesMarkdown === undefined) return own;
  const requirements = place.requirements.filter(({ kind }) => kind !== 'approval' && kind !== 'user_dependency');
  return { ...own, notesMarkdown: notesFormAt({ ...place, requirements }) };
}

/**
 * The call that sends what an attempt lacked, and the context keys of the step that have no value yet; the rest is kept
 * and need not be sent again. Where no call from this step can fix it, the call leads back to the step that can. A stored
 * reply cannot hold that token, so it rehydrates first.
 */
export function correctedCall(
  { unmet, earlierStateToken }: Omit<NonNullable<ReplyParts['blocked']>, 'blockers'>,
  step?: RenderedStep,
): Call {
  const canBeFixed = unmet.some(({ form }) => form !== undefined);
  if (canBeFixed || !unmet.some((one) => one.earlierStep !== undefined)) {
    const form = mergedForm(unmet);
    const context = { ...(canBeFixed && step !== undefined ? unsetKeys(step) : {}), ...form.context };
    return callWith(Object.keys(context).length === 0 ? form : { ...form, context });
  }
  return { tool: 'continue_workflow', arguments: { stateToken: earlierStateToken ?? hole('stateToken') } };
}

/** Whether a call offers context values that no requirement asks for: those blanks may be removed. */
export function hasOptionalBlanks({ arguments: { context } }: Call, unmet: readonly Unmet[]): boolean {
  const required = mergedForm(unmet).context ?? {};
  return Object.keys((context ?? {}) as JsonObject).some((key) => !Object.hasOwn(required, key));
}

/** A blank for each context key that the step is meant to set and that has no value, also not from a blocked attempt. */
function unsetKeys({ place: { index, step, facts } }: RenderedStep): JsonObject {
  const set = contextForm({ index, step, context: facts.context });
  return Object.fromEntries(Object.entries(set).filter(([key]) => !Object.hasOwn(facts.context, key)));
}

function callWith({ notesMarkdown, artifacts, context }: FormOutput): Call {
  const isEmpty = notesMarkdown === undefined && artifacts === undefined;
  const output = isEmpty ? undefined : defined({ notesMarkdown, artifacts });
  return { tool: 'continue_workflow', arguments: defined({ ackToken: hole('ackToken'), output, context }) };
}

/** One output with the forms of everything that is unmet. */
export function mergedForm(unmet: readonly Unmet[]): FormOutput {
  const forms = unmet.flatMap(({ form }) => form ?? []);
  const notesMarkdown = forms.find((form) => form.notesMarkdown !== undefined)?.notesMarkdown;
  const asked = forms.flatMap((form) => form.artifacts ?? []);
  const artifacts = [...new Map(asked.map((artifact) => [quote(artifact), artifact])).values()];
  const context: JsonObject = Object.assign({}, ...forms.map((form) => form.context ?? {}));
  return {
    ...(notesMarkdown === undefined ? {} : { notesMarkdown }),
    ...(artifacts.length === 0 ? {} : { artifacts }),
    ...(Object.keys(context).length === 0 ? {} : { context }),
  };
}

/** A piece of a text, or the place of a token in it. */
export type TextPart = StoredReply['text'][number];

/** A call on one line, as it can be sent. */
export function callText({ tool, arguments: given }: Call): readonly TextPart[] {
  return joined([`${tool} `, ...jsonText(given)]);
}

function jsonText(value: JsonValue): readonly TextPart[] {
  if (typeof value !== 'object' || value === null) return [visibleJson(quote(value))];
  if (isHole(value)) return ['"', value, '"'];
  if (isList(value)) return listText(value.map(jsonText), '[', ']');
  const fields = Object.entries(value).map(([key, one]) => [`${visibleJson(quote(key))}:`, ...jsonText(one)]);
  return listText(fields, '{', '}');
}

function listText(items: readonly (readonly TextPart[])[], open: string, close: string): readonly TextPart[] {
  return [open, ...items.flatMap((item, i) => (i === 0 ? item : [',', ...item])), close];
}

/** Joins adjacent texts, so that the stored reply stays readable. */
export function joined(parts: readonly TextPart[]): TextPart[] {
  const text: TextPart[] = [];
  for (const part of parts) {
    const last = text.at(-1);
    if (typeof part === 'string' && typeof last === 'string') text[text.length - 1] = last + part;
    else text.push(part);
  }
  return text;
}
