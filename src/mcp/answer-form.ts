import type { ElicitRequestFormParams } from '@modelcontextprotocol/server';
import type { PersonAnswer, WaitingDraft } from '../app/run/answer-gate.ts';
import { quote } from '../core/json/json-value.ts';
import { runTag } from '../core/log/ids.ts';
import { visibleText } from '../core/text/visible-text.ts';

const MESSAGE_LENGTH_MAX = 2_000;
const COMMENT_LENGTH_MAX = 1_000;
/** Room for the lines around the draft. */
const DRAFT_LENGTH_MAX = 1_300;

/** The form that a person fills in. It has no default: only an explicit decision counts. */
export function answerForm(waiting: WaitingDraft): ElicitRequestFormParams {
  const { step, runId, code, question, contextKey } = waiting;
  const { text, isWhole } = shownDraft(waiting);
  const lines = [
    'WorkRail needs your decision.',
    `Step "${visibleText(step.title)}" · run ${runTag(runId)}`,
    ...(question === step.title ? [] : [visibleText(question)]),
    `The agent reports (draft ${code}${isWhole ? '' : ', the beginning'}):`,
    ...text.split('\n').map((line) => `| ${line}`),
    ...(isWhole ? [] : [`To see all of it: workrail answer ${runTag(runId)}`]),
  ];
  const comment = { type: 'string', title: 'Comment for the agent', maxLength: COMMENT_LENGTH_MAX } as const;
  return {
    mode: 'form',
    message: lines.join('\n').slice(0, MESSAGE_LENGTH_MAX),
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

/** What is approved, as much of it as fits. */
function shownDraft({ draft }: WaitingDraft): { readonly text: string; readonly isWhole: boolean } {
  const artifacts = draft.artifacts.map(({ kind, value }) => `${kind ?? 'artifact'}: ${quote(value)}`);
  const whole = visibleText([draft.notesMarkdown ?? '(no notes)', ...artifacts].join('\n'));
  const isWhole = whole.length <= DRAFT_LENGTH_MAX;
  return { text: isWhole ? whole : whole.slice(0, DRAFT_LENGTH_MAX).toWellFormed(), isWhole };
}

/** What an accepted form says; `undefined` where it holds no decision. */
export function readAnswer(
  waiting: WaitingDraft,
  content: { readonly [name: string]: unknown },
): PersonAnswer['statement'] | undefined {
  const { decision, value, comment } = content;
  const shown = shownDraft(waiting).isWhole ? ('whole' as const) : ('part' as const);
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
