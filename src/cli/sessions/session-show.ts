import { err } from 'neverthrow';
import * as z from 'zod';
import { defined } from '../../core/json/json-value.ts';
import { isAtLeast } from '../../core/log/autonomy.ts';
import { acceptCommand, originWords, shownOrigin, shownOriginSchema } from '../../core/log/origin.ts';
import { SETTERS } from '../../core/prompt/reply-parts.ts';
import { titleOf } from '../../core/sessions/board-rows.ts';
import { runData } from '../../core/sessions/describe-session.ts';
import { authorWords, plural } from '../../core/text/words.ts';
import { commandText } from '../../core/views/attestations.ts';
import { gradeOf, gradeWords } from '../../core/views/line-checks.ts';
import { authorIn, currentObservation, isAgentsDecision } from '../../core/views/node-facts.ts';
import type { SessionView } from '../../core/views/session-view.ts';
import { moment } from '../../core/wire/list-shapes.ts';
import { type RunData, runShape, sessionHead } from '../../core/wire/session-shapes.ts';
import { command, done } from '../command.ts';
import { dim, type Line, type LineSpan, notable, strong } from '../output/line.ts';
import { clipText, padText, wrapText } from '../output/text-width.ts';
import { ago, clockTime } from '../output/times.ts';
import { loadSession, nextFor, ONE_SESSION, type ShownSession } from './load-session.ts';
import {
  answerText,
  bannerOf,
  endSpans,
  gapWords,
  isAnsweredByPerson,
  numberedPlace,
  runState,
  runStateWords,
  shownTexts,
} from './run-words.ts';

const sessionShowData = z.strictObject({
  ...sessionHead,
  /** The goal of its first run, or else that run's workflow; if a run was named, of that run. */
  title: z.string().exactOptional(),
  isKept: z.boolean(),
  /** Absent for a session that was started here. */
  origin: shownOriginSchema.exactOptional(),
  /** The identity in the git settings when it was started, as claimed. */
  author: z.string().exactOptional(),
  lastAt: moment.exactOptional(),
  events: z.int().min(0),
  /** The last observed workspace. */
  workspace: z.strictObject({
    root: z.string().exactOptional(),
    branch: z.string().exactOptional(),
    commit: z.string().exactOptional(),
  }),
  /** In the order they were started. */
  runs: z.array(runShape),
});
type SessionShowData = z.infer<typeof sessionShowData>;

export const sessionShow = command({
  operands: [ONE_SESSION],
  example: 'workrail session show 7f3a',
  data: sessionShowData,
  run: async (context, { operands }) => {
    const opened = await loadSession(context, operands[0], 'standing');
    if (opened.isErr()) return err(opened.error);
    const data = dataOf(opened.value);
    const { looked, nowMs, width } = opened.value;
    return done({
      data,
      lines: [...bannerOf(looked, width), ...showLines(data, { nowMs, width })],
      next: nextFor(opened.value),
    });
  },
});

type Layout = { readonly nowMs: number; readonly width: number };

const LABEL_WIDTH = 11;

const GAPS_SHOWN = 8;

const SHA_SHOWN = 10;

function showLines(data: SessionShowData, layout: Layout): readonly Line[] {
  const head = endSpans(data.state, data.runs);
  return [
    ...wrapText(data.title ?? '', layout.width - TITLE_INDENT.length)
      .slice(0, TITLE_LINES)
      .map((text, i): Line => [i === 0 ? '' : TITLE_INDENT, strong(text)]),
    [head.mark, ' ', head.words, `  ${factsOf(data, layout).join('  ·  ')}`],
    ...originLines(data, layout),
    ...workspaceLines(data, layout),
    ...(data.author === undefined
      ? []
      : labelled('author', `${authorWords(data.author)} (not verified)`, layout.width)),
    ...data.runs.flatMap((run, i) => [
      [''],
      ...runLines(run, { ...layout, number: i + 1, runs: data.runs.length, isImported: data.origin !== undefined }),
    ]),
  ];
}

const TITLE_LINES = 3;
/** No further line of a title can be taken for a line of ours. */
const TITLE_INDENT = '    ';

function factsOf({ sessionId, lastAt, events, isKept }: SessionShowData, { nowMs }: Layout): readonly string[] {
  return [
    sessionId,
    ...(lastAt === undefined ? [] : [`last active ${ago(lastAt, nowMs)}`]),
    plural(events, 'event'),
    ...(isKept ? ['kept'] : []),
  ];
}

function originLines({ origin, sessionId }: SessionShowData, { width }: Layout): readonly Line[] {
  if (origin === undefined) return [];
  const isAccepted = origin.kind === 'imported' && origin.acceptedAt !== undefined;
  return [
    ...labelled('origin', isAccepted ? originWords(origin) : notable(originWords(origin)), width),
    ...(isAccepted ? [] : labelled('', `To let agents resume it: ${acceptCommand({ sessionId })}`, width)),
  ];
}

function workspaceLines({ workspace: { root, branch, commit } }: SessionShowData, { width }: Layout): readonly Line[] {
  if (root === undefined && branch === undefined) return [];
  const parts = [
    ...(branch === undefined ? [] : [`branch ${branch}`]),
    ...(commit === undefined ? [] : [`commit ${commit.replace('sha256:', '').slice(0, SHA_SHOWN)}`]),
  ];
  return labelled('workspace', [root ?? '', ...parts].filter((part) => part !== '').join('  ·  '), width);
}

type RunLayout = Layout & {
  readonly number: number;
  readonly runs: number;
  /** The source of the workflow is then part of what a person decides on. */
  readonly isImported: boolean;
};

/** Each run has its own heading, so that runs are easy to tell apart. */
function runLines(run: RunData, layout: RunLayout): readonly Line[] {
  const { nowMs, width, number, runs } = layout;
  const name = `${run.workflowName ?? run.workflowId}${run.workflowName === undefined ? '' : ` (${run.workflowId})`}`;
  const of = runs > 1 ? `run ${number} of ${runs}` : 'run';
  const { mark, words } = endSpans(runState(run), [run], runStateWords(run));
  const heading: Line = [
    mark,
    strong(` ${of} · ${run.tag}`),
    `  ${clipText(name, Math.max(8, width - of.length - 32))}  `,
    words,
  ];
  return [
    heading,
    ...(runs > 1 && run.goal !== undefined ? labelled('goal', run.goal, width) : []),
    ...(layout.isImported && run.source !== undefined ? labelled('source', run.source, width) : []),
    ...labelled('step', stepWords(run), width),
    ...(run.answer === undefined ? blockerLines(run, width) : labelled('answer', answerText(run.answer), width)),
    ...shownTexts(run).flatMap((text) => labelled('checked', text, width)),
    ...labelled('mode', modeWords(run), width),
    ...(run.branches > 0 ? labelled('branch', branchText(run), width) : []),
    ...(run.checkpoints > 0 ? labelled('saved', plural(run.checkpoints, 'checkpoint'), width) : []),
    ...(run.dueChecks ?? []).flatMap(({ minimum, command: typed }, i) =>
      labelled(i === 0 ? 'to check' : '', `${typed}  (required evidence: "${minimum}" or stronger)`, width),
    ),
    ...(run.answers ?? []).flatMap(({ about, words }, i) =>
      labelled(i === 0 ? 'answers' : '', `at step "${about}": ${words}`, width),
    ),
    ...checkLines(run, width),
    ...gapLines(run, width),
    ...timeLines(run, { nowMs, width }),
  ];
}

function modeWords({ preferences: { autonomy, riskPolicy }, setBy }: RunData): string {
  return `${autonomy}${setBy === undefined ? '' : ` (${SETTERS[setBy]})`}, risk policy ${riskPolicy}`;
}

function branchText({ branch = 'main', branches }: RunData): string {
  return `${branch}; ${branches} ${branches === 1 ? 'other branch' : 'other branches'}`;
}

function stepWords({ place, attempts }: RunData): string {
  const tried = attempts > 0 ? `, blocked ${attempts === 1 ? 'once' : `${attempts} times`}` : '';
  return `${numberedPlace(place)}${tried}`;
}

function blockerLines({ blockers }: RunData, width: number): readonly Line[] {
  return blockers.flatMap(({ message, suggestedFix, details }) => [
    ...labelled('needs', notable(message), width),
    // What the agent should say to the person is not for the person; the command to answer with stands at the end.
    ...(suggestedFix === undefined || isAnsweredByPerson({ details })
      ? []
      : labelled('', `Fix: ${suggestedFix}`, width)),
  ]);
}

/** How well each check is known to have passed. */
function checkLines({ checks = [] }: RunData, width: number): readonly Line[] {
  return checks.flatMap((check, i) => {
    const evidence = check.run === undefined ? gradeWords(check) : `${gradeOf(check)}, ${check.run}`;
    const words = `"${check.checkId}" of step id "${check.stepId}": ${evidence}`;
    const isEnough = isAtLeast(check.grade, check.minimum);
    return [...labelled(i === 0 ? 'checks' : '', isEnough ? words : notable(words), width), ...ranLines(check.command)];
  });
}

/** A command that does not fit into a sentence, line by line and with its spaces. */
function ranLines(command: string | undefined): readonly Line[] {
  if (command === undefined || commandText(command).startsWith('`')) return [];
  return command.split('\n').map((line, i): Line => [dim(i === 0 ? '    $ ' : '    > '), line]);
}

function gapLines({ gaps }: RunData, width: number): readonly Line[] {
  const decided = gaps.filter(isAgentsDecision);
  const open = gaps.filter((gap) => !isAgentsDecision(gap));
  return [...listedGaps('open gaps', open, width), ...listedGaps('decided', decided, width)];
}

function listedGaps(label: string, gaps: RunData['gaps'], width: number): readonly Line[] {
  const more = gaps.length - GAPS_SHOWN;
  const shown = gaps.slice(0, GAPS_SHOWN).flatMap((gap, i) => {
    const text = gapWords(gap);
    return labelled(i === 0 ? label : '', gap.severity === 'critical' ? notable(text) : text, width);
  });
  return [...shown, ...(more > 0 ? labelled('', `and ${more} more`, width) : [])];
}

function timeLines({ startedAt, lastAt }: RunData, { nowMs, width }: Layout): readonly Line[] {
  if (startedAt === undefined) return [];
  const last = lastAt === undefined ? '' : `, last active ${clockTime(lastAt, nowMs)}`;
  return labelled('started', `${clockTime(startedAt, nowMs)}${last}`, width);
}

/** A label and its text, which wraps under itself. */
function labelled(label: string, fact: LineSpan, width: number): readonly Line[] {
  const styled = (text: string): LineSpan => (typeof fact === 'string' ? text : { ...fact, text });
  const lines = wrapText(typeof fact === 'string' ? fact : fact.text, width - LABEL_WIDTH - 2);
  return lines.map((line, i): Line => {
    const name: LineSpan = dim(`  ${padText(i === 0 ? label : '', LABEL_WIDTH)}`);
    return [name, styled(line)];
  });
}

function dataOf({ looked: { view, isKept, origin }, head, runs }: ShownSession): SessionShowData {
  const title = titleOf(runs.map(runData));
  return {
    ...head,
    ...defined({ title, lastAt: view.lastAt, author: authorIn(view.observations) }),
    isKept,
    ...(origin === undefined ? {} : { origin: shownOrigin(origin) }),
    events: view.nextEventIndex,
    workspace: workspaceOf(view),
    runs: runs.map(runData),
  };
}

function workspaceOf({ observations }: SessionView): SessionShowData['workspace'] {
  const seen = (key: Parameters<typeof currentObservation>[1]) =>
    currentObservation(observations, key)?.data.value.value;
  return defined({ root: seen('repo_root'), branch: seen('git_branch'), commit: seen('git_head_sha') });
}
