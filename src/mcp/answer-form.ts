import type { ElicitRequestFormParams } from '@modelcontextprotocol/server';
import { boundFileLines, type PersonAnswer, type WaitingDraft } from '../app/run/answer-gate.ts';
import { type JsonValue, quote } from '../core/json/json-value.ts';
import { runTag } from '../core/log/ids.ts';
import { voidedWords } from '../core/run/gate-facts.ts';
import { utf8Length } from '../core/text/utf8.ts';
import { visibleLine, visibleText } from '../core/text/visible-text.ts';

const MESSAGE_LENGTH_MAX = 2_000;
const COMMENT_LENGTH_MAX = 1_000;
/** Bounds of the lines around the draft, so that most of the form is left for the draft itself. */
const GOAL_LENGTH_MAX = 160;
const QUESTION_LENGTH_MAX = 400;
const PLACE_LENGTH_MAX = 120;
const VOIDED_LENGTH_MAX = 250;
const FILES_LENGTH_MAX = 500;
/** The least room for the beginning of the draft itself. */
const DRAFT_LENGTH_MIN = 500;
const STANDING_MAX = 5;
const STANDING_LENGTH_MAX = 160;

/**
 * The form that a person fills in. It has no default: only an explicit decision counts. `command` is what to type for
 * `workrail` here, with the data folder.
 */
export function answerForm(waiting: WaitingDraft, command?: string): ElicitRequestFormParams {
  const { contextKey } = waiting;
  const comment = { type: 'string', title: 'Comment for the agent', maxLength: COMMENT_LENGTH_MAX } as const;
  return {
    mode: 'form',
    message: shownMessage(waiting, command).text,
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

/** What is approved and what it is about, as much of the draft as fits. */
function shownMessage(
  waiting: WaitingDraft,
  command = 'workrail',
): { readonly text: string; readonly isWhole: boolean } {
  const { step, runId, code, question, goal, workflow, root, voided } = waiting;
  const head = [
    'WorkRail needs your decision.',
    `Step "${short(step.title, PLACE_LENGTH_MAX)}" · run ${runTag(runId)}`,
    ...(goal === undefined ? [] : [`Goal: ${short(goal, GOAL_LENGTH_MAX)}`]),
    `Workflow: ${short(workflow, PLACE_LENGTH_MAX)}`,
    ...(root === undefined ? [] : [`Folder: ${short(root, PLACE_LENGTH_MAX)}`]),
    ...(voided === undefined ? [] : [short(voidedWords(voided), VOIDED_LENGTH_MAX)]),
    ...(question === step.title ? [] : [marked(cut(visibleText(question), QUESTION_LENGTH_MAX), '> ')]),
  ];
  const standing = shownStanding(waiting);
  const files = shownFiles(waiting);
  const report = draftTexts(waiting)
    .map((text) => marked(visibleText(text), '| '))
    .join('\n');
  const whole = [...head, `The agent reports (draft ${code}):`, report, ...standing, ...files].join('\n');
  const isAsked = question.length <= QUESTION_LENGTH_MAX;
  if (whole.length <= MESSAGE_LENGTH_MAX && isAsked) return { text: whole, isWhole: true };
  const start = [...head, `The agent reports (draft ${code}, the beginning):`].join('\n');
  const see = `To see all of it: ${command} answer ${runTag(runId)}`;
  const spare = MESSAGE_LENGTH_MAX - DRAFT_LENGTH_MIN - start.length - see.length - 3;
  const end = [...fitting([...standing, ...partNames(waiting), ...files], spare), see].join('\n');
  const room = Math.max(0, MESSAGE_LENGTH_MAX - start.length - end.length - 2);
  return { text: [start, cut(report, room), end].join('\n'), isWhole: false };
}

/** As many lines as there is room for. The command in the last line of the form shows all of them. */
function fitting(lines: readonly string[], room: number): readonly string[] {
  let left = room;
  const end = lines.findIndex((line) => {
    left -= line.length + 1;
    return left < 2;
  });
  return end === -1 ? lines : [...lines.slice(0, end), '…'];
}

/** Every line with a mark in front, so that none of a draft or of a workflow can be taken for one of the form. */
function marked(text: string, mark: string): string {
  return text
    .split('\n')
    .map((line) => `${mark}${line}`)
    .join('\n');
}

/** What a draft has besides its notes, by name: the form may be too short to show it. */
function partNames({ draft }: WaitingDraft): readonly string[] {
  const context = Object.entries(draft.context).map(([key, value]) => `${quote(key)} ${sizeOf(value ?? null)}`);
  const artifacts = draft.artifacts.map(({ kind, value }) => `${quote(kind ?? 'without kind')} ${sizeOf(value)}`);
  return [
    ...named('context', context),
    ...named(artifacts.length === 1 ? '1 artifact' : `${artifacts.length} artifacts`, artifacts),
  ].map((line) => `Also in this draft: ${cut(line, PARTS_LENGTH_MAX)}`);
}

function named(what: string, parts: readonly string[]): readonly string[] {
  if (parts.length === 0) return [];
  const shown = parts.slice(0, NAMED_MAX).map((part) => short(part, PART_LENGTH_MAX));
  const more = parts.length - shown.length;
  return [`${what}: ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`];
}

const NAMED_MAX = 5;
const PART_LENGTH_MAX = 60;
const PARTS_LENGTH_MAX = 200;

function sizeOf(value: JsonValue): string {
  return `(${utf8Length(quote(value))} bytes)`;
}

function short(text: string, lengthMax: number): string {
  return cut(visibleLine(text), lengthMax);
}

function cut(text: string, lengthMax: number): string {
  return text.length <= lengthMax ? text : `${text.slice(0, Math.max(0, lengthMax - 1)).toWellFormed()}…`;
}

/** Everything that an answer is about. */
function draftTexts({ draft }: WaitingDraft): readonly string[] {
  const context = Object.entries(draft.context).map(([key, value]) => `context ${quote(key)}: ${quote(value ?? null)}`);
  const artifacts = draft.artifacts.map(({ kind, value }) => `${kind ?? 'artifact'}: ${quote(value)}`);
  return [draft.notesMarkdown ?? '(no notes)', ...context, ...artifacts];
}

/** Grades and gaps have their place, however long the draft is. */
function shownStanding({ standingBrief: standing }: WaitingDraft): readonly string[] {
  const more = standing.length - STANDING_MAX;
  return [
    ...standing.slice(0, STANDING_MAX).map((line) => short(line, STANDING_LENGTH_MAX)),
    ...(more > 0 ? [`and ${more} more about checks and gaps`] : []),
  ];
}

function shownFiles(waiting: WaitingDraft): readonly string[] {
  const lines = boundFileLines(waiting).map((line) =>
    line.startsWith(' ') ? `  ${short(line.trimStart(), 80)}` : line,
  );
  while (lines.join('\n').length > FILES_LENGTH_MAX) lines.splice(-2, 2, '  …');
  return lines;
}

/** What an accepted form says; `undefined` where it holds no decision. */
export function readAnswer(
  waiting: WaitingDraft,
  content: { readonly [name: string]: unknown },
  command?: string,
): PersonAnswer['statement'] | undefined {
  const { decision, value, comment } = content;
  const shown = shownMessage(waiting, command).isWhole ? ('whole' as const) : ('part' as const);
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
