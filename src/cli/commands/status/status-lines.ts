import type { Line, Span } from '../../output/line.ts';
import { ago } from '../../output/moment.ts';
import { clipText, padText } from '../../output/text-width.ts';
import { plural } from '../../output/wording.ts';
import type { OpenRunData, StatusData, StatusPlaceData } from '../../shapes/status/status-shape.ts';
import { placeWords, STATE_MARKS } from '../session/look/run-words.ts';

type Layout = { readonly nowMs: number; readonly width: number; readonly stored: number };

/** What is open, here first; what needs somebody stands on top. */
export function statusLines(data: StatusData, layout: Layout): readonly Line[] {
  if (layout.stored === 0) return [['No sessions yet: nothing is running, blocked or waiting.']];
  return [
    ...placeLines(`Here, in ${data.folder}`, data.here, layout),
    [''],
    ...placeLines('Elsewhere', data.elsewhere, { ...layout, hasFolder: true }),
    [''],
    othersLine(data),
  ];
}

type PlaceLayout = Layout & { readonly hasFolder?: boolean };

function placeLines(title: string, { runs, total }: StatusPlaceData, layout: PlaceLayout): readonly Line[] {
  const sessions = new Set(runs.map(({ sessionId }) => sessionId)).size;
  const more = total - sessions;
  return [
    [{ text: clipText(title, layout.width), style: 'strong' }],
    ...(runs.length === 0 ? [[{ text: '  nothing is open', style: 'dim' } as const]] : []),
    ...runs.flatMap((run) => runLines(run, layout)),
    ...(more > 0
      ? [
          [
            {
              text: `  … and ${plural(more, 'more session')}: workrail session list --state running,blocked`,
              style: 'dim',
            } as const,
          ],
        ]
      : []),
  ];
}

const MARKS: { readonly [standing in OpenRunData['standing']]: Span } = {
  running: STATE_MARKS.running,
  blocked: STATE_MARKS.blocked,
  waiting: { text: '?', style: 'notable' },
};

function runLines({ shortId, standing, run, workspace }: OpenRunData, layout: PlaceLayout): readonly Line[] {
  const { nowMs, width, hasFolder = false } = layout;
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
    [{ text: `      ${clipText(`at ${placeWords(run.place)}${of(run)}${folder}`, width - 6)}`, style: 'dim' }],
    ...(blocker === undefined ? [] : [[`      ${clipText(`← ${blocker.message}`, width - 6)}`]]),
  ];
}

const STANDING_WIDTH = 'waits for you'.length;

function of({ place, stepsTotal }: OpenRunData['run']): string {
  return place.kind === 'step' && stepsTotal !== undefined ? ` (of ${stepsTotal})` : '';
}

function othersLine({ others: { complete, closed, damaged } }: StatusData): Line {
  const parts = [`${complete} complete`, `${closed} closed`];
  return [
    { text: `Besides: ${parts.join(', ')}`, style: 'dim' },
    ...(damaged > 0 ? [', ', { text: `${damaged} damaged`, style: 'bad' } as const] : []),
    { text: '.', style: 'dim' },
  ];
}
