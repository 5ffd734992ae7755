import type { JsonObject } from '../../json/json-value.ts';
import type { Call } from '../../log/error-envelope.ts';
import { runTag } from '../../log/ids.ts';
import { hole } from '../../log/operation/stored-reply.ts';
import { utf8Length, utf8Prefix } from '../../text/utf8.ts';
import type { ReplyParts } from '../reply-parts.ts';
import type { ReplyWarning } from '../reply-warnings.ts';
import { NEXT_CALL, oneLine } from '../reserved-lines.ts';
import { callText, type TextPart } from './call-text.ts';
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
  const place = `Run ${runTag(runId)} · ${workflowId} · ${facts.preferences.autonomy} · ${ending.standing}`;
  const again = { tool: 'continue_workflow', arguments: { stateToken: hole('stateToken') } };
  const save = { tool: 'checkpoint_workflow', arguments: { checkpointToken: hole('checkpointToken'), output: SAVED } };
  return [
    `---\n${place}\n`,
    ...ending.warnings.flatMap(warningLine),
    ...ending.gaps.map((gap) => `Gap recorded: ${gapLine(gap, index)}\n`),
    ...stepContextLines(parts).map((line) => `${line}\n`),
    `${ending.advice}\n`,
    ...(ending.nextCall === undefined ? [] : [...nextCallLine(ending.nextCall), '\n']),
    'To see the goal and earlier notes: ',
    ...callText(again),
    '\nTo save notes: ',
    ...callText(save),
  ];
}

const SAVED = { notesMarkdown: 'Progress so far.' };

/** The one line by which a reader finds the call to make. */
export function nextCallLine(call: Call): readonly TextPart[] {
  return [`${NEXT_CALL} `, ...callText(call)];
}

function warningLine({ message, suggestedCall }: ReplyWarning): readonly TextPart[] {
  return [
    `Warning: ${oneLine(message)}`,
    ...(suggestedCall === undefined ? [] : [' ', ...callText(suggestedCall)]),
    '\n',
  ];
}

/** The footer has to stay short whatever an author writes; the data holds the full names. */
const TITLE_BYTES_MAX = 36;
const ID_BYTES_MAX = 36;

export function shortTitle(title: string): string {
  return shortened(title, TITLE_BYTES_MAX);
}

function shortened(text: string, bytesMax: number): string {
  return utf8Length(text) <= bytesMax ? text : `${utf8Prefix(text, bytesMax - 3)}…`;
}

type Told = Pick<ReplyParts, 'assessments'>;
type Accepted = NonNullable<ReplyParts['assessments']>['accepted'][number];

/** Facts about the step just done; absent when it recorded none. */
export function stepContextData({ assessments }: Told): { readonly stepContext?: JsonObject } {
  if (assessments === undefined) return {};
  const [first, ...others] = assessments.accepted.map(assessmentData);
  if (first === undefined) return {};
  return { stepContext: { assessments: assessments.isOneOfSeveral ? [first, ...others] : first } };
}

function stepContextLines({ assessments }: Told): readonly string[] {
  return (assessments?.accepted ?? []).map(({ assessmentId, dimensions, normalizationNotes }) => {
    const levels = dimensions.map(({ dimensionId, level }) => `${dimensionId} ${level}`).join(', ');
    return oneLine([`Accepted assessment ${assessmentId}: ${levels}.`, ...normalizationNotes].join(' '));
  });
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
