import type { ElicitRequestFormParams } from '@modelcontextprotocol/server';
import type { PersonAnswer, WaitingDraft } from '../app/run/answer-gate.ts';
import { quote } from '../core/json/json-value.ts';
import { runTag } from '../core/log/ids.ts';
import { visibleLine, visibleText } from '../core/text/visible-text.ts';

const MESSAGE_LENGTH_MAX = 2_000;
const COMMENT_LENGTH_MAX = 1_000;
/** So that room is left for the draft. */
const TITLE_LENGTH_MAX = 200;
const QUESTION_LENGTH_MAX = 600;

/** The form that a person fills in. It has no default: only an explicit decision counts. */
export function answerForm(waiting: WaitingDraft): ElicitRequestFormParams {
  const { contextKey } = waiting;
  const comment = { type: 'string', title: 'Comment for the agent', maxLength: COMMENT_LENGTH_MAX } as const;
  return {
    mode: 'form',
    message: shownMessage(waiting).text,
    requestedSchema:
      contextKey === undefined
        ? {
            type: 'object',
            properties: { decision: { type: 'string', title: 'Decision', enum: ['approve', 'reject'] }, comment },
            required: ['decision'],
          }
        : {
            type: 'object',
            properties: {
              value: { type: 'string', title: 'Your answer', minLength: 1, maxLength: COMMENT_LENGTH_MAX },
              comment,
            },
            required: ['value'],
          },
  };
}

/** What is approved, as much of it as fits, and whether that is all. */
function shownMessage(waiting: WaitingDraft): { readonly text: string; readonly isWhole: boolean } {
  const { step, runId, code, question } = waiting;
  const asked = visibleText(question);
  const head = [
    'WorkRail needs your decision.',
    `Step "${cut(visibleLine(step.title), TITLE_LENGTH_MAX)}" · run ${runTag(runId)}`,
    ...(question === step.title ? [] : [cut(asked, QUESTION_LENGTH_MAX)]),
  ];
  const draft = draftTexts(waiting)
    .flatMap((text) => visibleText(text).split('\n'))
    .map((line) => `| ${line}`)
    .join('\n');
  const whole = [...head, `The agent reports (draft ${code}):`, draft].join('\n');
  if (whole.length <= MESSAGE_LENGTH_MAX && asked.length <= QUESTION_LENGTH_MAX) return { text: whole, isWhole: true };
  const tail = `To see all of it: workrail answer ${runTag(runId)}`;
  const top = [...head, `The agent reports (draft ${code}, the beginning):`].join('\n');
  const room = MESSAGE_LENGTH_MAX - top.length - tail.length - 2;
  return { text: [top, cut(draft, room), tail].join('\n'), isWhole: false };
}

function cut(text: string, lengthMax: number): string {
  return text.length <= lengthMax ? text : `${text.slice(0, lengthMax - 1).toWellFormed()}…`;
}

/** Everything that an answer is about. */
function draftTexts({ draft }: WaitingDraft): readonly string[] {
  const context = Object.entries(draft.context).map(([key, value]) => `context ${quote(key)}: ${quote(value ?? null)}`);
  const artifacts = draft.artifacts.map(({ kind, value }) => `${kind ?? 'artifact'}: ${quote(value)}`);
  return [draft.notesMarkdown ?? '(no notes)', ...context, ...artifacts];
}

/** What an accepted form says; `undefined` where it holds no decision. */
export function readAnswer(
  waiting: WaitingDraft,
  content: { readonly [name: string]: unknown },
): PersonAnswer['statement'] | undefined {
  const { decision, value, comment } = content;
  const shown = shownMessage(waiting).isWhole ? ('whole' as const) : ('part' as const);
  const said =
    typeof comment === 'string' && comment.trim() !== ''
      ? { comment: comment.trim().toWellFormed().slice(0, COMMENT_LENGTH_MAX) }
      : {};
  if (waiting.contextKey !== undefined) {
    if (typeof value !== 'string' || value.trim() === '') return undefined;
    return { kind: 'answered', shown, value: value.trim().toWellFormed().slice(0, COMMENT_LENGTH_MAX), ...said };
  }
  if (decision !== 'approve' && decision !== 'reject') return undefined;
  return { kind: decision === 'approve' ? 'approved' : 'rejected', shown, ...said };
}
