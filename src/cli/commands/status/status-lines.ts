import { asTyped } from '../../output/as-typed.ts';
import type { Line, LineSpan } from '../../output/line.ts';
import { clipText, padText } from '../../output/text-width.ts';
import { ago } from '../../output/times.ts';
import { plural } from '../../output/wording.ts';
import { placeWords, STATE_MARKS } from '../../sessions/run-words.ts';
import type { OpenRunData, StatusData, StatusPlaceData } from '../../shapes/status/status-shape.ts';

type Layout = {
  readonly nowMs: number;
  readonly width: number;
  readonly stored: number;
  readonly program: { readonly calledAs: () => string };
};

/** What is open, here first; what needs somebody stands on top. */
export function statusLines(data: StatusData, layout: Layout): readonly Line[] {
  if (layout.stored === 0) return [['No sessions yet: nothing is running, blocked or waiting.']];
  return [
    ...placeLines(`Here, in ${data.folder}`, data.here, layout),
    ...(data.elsewhere.total === 0
      ? []
      : [[''], ...placeLines('Elsewhere', data.elsewhere, { ...layout, hasFolder: true })]),
    ...othersLines(data),
  ];
}

type PlaceLayout = Layout & { readonly hasFolder?: boolean };

function placeLines(title: string, { runs, total }: StatusPlaceData, layout: PlaceLayout): readonly Line[] {
  const sessions = new Set(runs.map(({ sessionId }) => sessionId)).size;
  const more = total - sessions;
  const count = ({ sessionId }: OpenRunData) => runs.filter((run) => run.sessionId === sessionId).length;
  return [
    [{ text: clipText(title, layout.width), style: 'strong' }],
    ...(runs.length === 0 ? [[{ text: '  nothing is open', style: 'dim' } as const]] : []),
    ...runs.flatMap((run) => runLines(run, { ...layout, isOne: count(run) === 1 })),
    ...(more > 0
      ? [
          [
            {
              text: asTyped(
                `  … and ${plural(more, 'more session')}: workrail session list --state running,blocked`,
                layout.program,
              ),
              style: 'dim',
            } as const,
          ],
        ]
      : []),
  ];
}

const MARKS: { readonly [standing in OpenRunData['standing']]: LineSpan } = {
  running: STATE_MARKS.running,
  blocked: STATE_MARKS.blocked,
  waiting: { text: '?', style: 'notable' },
};

/** `isOne` says that no other run of its session is open: then the session's id names it. */
type RunLayout = PlaceLayout & { readonly isOne: boolean };

function runLines({ shortId, standing, run, workspace }: OpenRunData, layout: RunLayout): readonly Line[] {
  const { nowMs, width, hasFolder = false, isOne } = layout;
  const when = run.lastAt === undefined ? '' : ago(run.lastAt, nowMs);
  const words = standing === 'waiting' ? 'waits for you' : standing;
  const title = run.goal ?? run.workflowName ?? run.workflowId;
  const room = Math.max(16, width - shortId.length - STANDING_WIDTH - when.length - 10);
  const folder = hasFolder && workspace !== undefined ? `  ${workspace}` : '';
  const [blocker] = run.blockers;
  return [
    [
      '  ',
      MARKS[standing],
      ` ${shortId}  `,
      padText(clipText(title, room), room),
      '  ',
      { text: padText(words, STANDING_WIDTH), style: standing === 'running' ? 'strong' : 'notable' },
      { text: `  ${when}`, style: 'dim' },
    ],
    [
      {
        text: `      ${clipText(`${isOne ? '' : `run ${run.tag} `}at ${placeWords(run.place)}${of(run)}${folder}`, width - 6)}`,
        style: 'dim',
      },
    ],
    ...(blocker === undefined ? [] : [[`      ${clipText(`← ${blocker.message}`, width - 6)}`]]),
  ];
}

const STANDING_WIDTH = 'waits for you'.length;

function of({ place, stepsTotal }: OpenRunData['run']): string {
  return place.kind === 'step' && stepsTotal !== undefined ? ` (of ${stepsTotal})` : '';
}

/** Sessions that are over; what there is none of is left out. */
function othersLines({ others }: StatusData): readonly Line[] {
  const { complete, withGaps, closed, salvaged, damaged } = others;
  const parts: readonly (readonly LineSpan[])[] = [
    ...(complete > 0 ? [[dim(`${complete} complete`), ...gapsSpans(complete, withGaps)]] : []),
    ...(closed > 0 ? [[dim(`${closed} closed`)]] : []),
    ...(salvaged > 0 ? [[dim(`${salvaged} salvaged`)]] : []),
    ...(damaged > 0 ? [[{ text: `${damaged} damaged`, style: 'bad' } as const]] : []),
  ];
  if (parts.length === 0) return [];
  return [[''], [dim('Besides: '), ...parts.flatMap((part, i) => (i === 0 ? part : [dim(', '), ...part])), dim('.')]];
}

function gapsSpans(complete: number, withGaps: number): readonly LineSpan[] {
  if (withGaps === 0) return [];
  const which = withGaps === complete ? '' : `${withGaps} of them `;
  return [{ text: ` (${which}with gaps open)`, style: 'notable' }];
}

function dim(text: string): LineSpan {
  return { text, style: 'dim' };
}
