import type { Line, LineSpan } from '../../../../output/line.ts';
import { clipText, padText, wrapText } from '../../../../output/text-width.ts';
import { ago, clockTime } from '../../../../output/times.ts';
import { plural } from '../../../../output/wording.ts';
import { endSpans, gapWords, placeWords, runState, runStateWords } from '../../../../sessions/run-words.ts';
import type { RunData } from '../../../../sessions/session-shapes.ts';
import type { SessionShowData } from '../../../../shapes/session/look/session-show-shape.ts';

type Layout = { readonly nowMs: number; readonly width: number };

const LABEL_WIDTH = 11;
const GAPS_SHOWN = 8;
const SHA_SHOWN = 10;

/** A session at a glance: what it is about, where each run stands, what is in the way. */
export function showLines(data: SessionShowData, layout: Layout): readonly Line[] {
  const head = endSpans(data.state, data.runs);
  return [
    ...wrapText(data.title ?? '', layout.width)
      .slice(0, TITLE_LINES)
      .map((text): Line => [{ text, style: 'strong' }]),
    [head.mark, ' ', head.words, `  ${factsOf(data, layout).join('  ·  ')}`],
    ...workspaceLines(data, layout),
    ...data.runs.flatMap((run, i) => [[''], ...runLines(run, { ...layout, number: i + 1, runs: data.runs.length })]),
  ];
}

const TITLE_LINES = 3;

function factsOf({ sessionId, lastAt, events, isKept }: SessionShowData, { nowMs }: Layout): readonly string[] {
  return [
    sessionId,
    ...(lastAt === undefined ? [] : [`last active ${ago(lastAt, nowMs)}`]),
    plural(events, 'event'),
    ...(isKept ? ['kept'] : []),
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

type RunLayout = Layout & { readonly number: number; readonly runs: number };

/** Where one run ends and the next begins must be plain, so each has a heading of its own. */
function runLines(run: RunData, layout: RunLayout): readonly Line[] {
  const { nowMs, width, number, runs } = layout;
  const name = `${run.workflowName ?? run.workflowId}${run.workflowName === undefined ? '' : ` (${run.workflowId})`}`;
  const of = runs > 1 ? `run ${number} of ${runs}` : 'run';
  const { mark, words } = endSpans(runState(run), [run], runStateWords(run));
  const heading: Line = [
    mark,
    { text: ` ${of} · ${run.tag}`, style: 'strong' },
    `  ${clipText(name, Math.max(8, width - of.length - 32))}  `,
    words,
  ];
  return [
    heading,
    ...(runs > 1 && run.goal !== undefined ? labelled('goal', run.goal, width) : []),
    ...labelled('step', stepWords(run), width),
    ...blockerLines(run, width),
    ...labelled('mode', `${run.preferences.autonomy}, risk policy ${run.preferences.riskPolicy}`, width),
    ...(run.branches > 0 ? labelled('branches', `${run.branches} besides the line that goes on`, width) : []),
    ...(run.checkpoints > 0 ? labelled('saved', plural(run.checkpoints, 'checkpoint'), width) : []),
    ...gapLines(run, width),
    ...timeLines(run, { nowMs, width }),
  ];
}

function stepWords({ place, stepsTotal, attempts }: RunData): string {
  const of = place.kind === 'step' && stepsTotal !== undefined ? `  (of ${stepsTotal})` : '';
  const tried = attempts > 0 ? `, turned down ${attempts === 1 ? 'once' : `${attempts} times`}` : '';
  return `${placeWords(place)}${of}${tried}`;
}

function blockerLines({ blockers }: RunData, width: number): readonly Line[] {
  return blockers.flatMap(({ message, suggestedFix }) => [
    ...labelled('needs', { text: message, style: 'notable' }, width),
    ...(suggestedFix === undefined ? [] : labelled('', `Fix: ${suggestedFix}`, width)),
  ]);
}

function gapLines({ gaps }: RunData, width: number): readonly Line[] {
  const more = gaps.length - GAPS_SHOWN;
  const shown = gaps.slice(0, GAPS_SHOWN).flatMap((gap, i) => {
    const text = gapWords(gap);
    return labelled(i === 0 ? 'open gaps' : '', gap.severity === 'critical' ? { text, style: 'notable' } : text, width);
  });
  return [...shown, ...(more > 0 ? labelled('', `and ${more} more`, width) : [])];
}

function timeLines({ startedAt, lastAt }: RunData, { nowMs, width }: Layout): readonly Line[] {
  if (startedAt === undefined) return [];
  const last = lastAt === undefined ? '' : `, last active ${clockTime(lastAt, nowMs)}`;
  return labelled('started', `${clockTime(startedAt, nowMs)}${last}`, width);
}

/** A fact behind its name; what does not fit goes on below. */
function labelled(label: string, fact: LineSpan, width: number): readonly Line[] {
  const styled = (text: string): LineSpan => (typeof fact === 'string' ? text : { ...fact, text });
  const lines = wrapText(typeof fact === 'string' ? fact : fact.text, width - LABEL_WIDTH - 2);
  return lines.map((line, i): Line => {
    const name: LineSpan = { text: `  ${padText(i === 0 ? label : '', LABEL_WIDTH)}`, style: 'dim' };
    return [name, styled(line)];
  });
}
