import type { Line } from '../../../../output/line.ts';
import { clipText, padText, textWidth } from '../../../../output/text-width.ts';
import { ago } from '../../../../output/times.ts';
import { plural } from '../../../../output/wording.ts';
import { endSpans, lacksSomething } from '../../../../sessions/run-words.ts';
import type { ListedSessionData, SessionListData } from '../../../../shapes/session/look/session-list-shape.ts';

type Layout = {
  /** How many sessions there are in all. */
  readonly stored: number;
  readonly isHere: boolean;
  readonly nowMs: number;
  readonly width: number;
};

/** From this width on the folder of each session is shown too. */
const WIDTH_WITH_FOLDER = 100;
const TITLE_WIDTH_MIN = 16;
const WORKFLOW_WIDTH_MAX = { narrow: 16, wide: 24 };
const FOLDER_WIDTH_MAX = 16;

/** A table, newest first, and a line that says how much of it is not shown. */
export function listLines(data: SessionListData, layout: Layout): readonly Line[] {
  if (data.sessions.length === 0) return [[nothingWords(data, layout)]];
  const more = data.total - data.sessions.length;
  return [
    ...sessionRows(data.sessions, { ...layout, hasFolder: !layout.isHere && layout.width >= WIDTH_WITH_FOLDER }),
    ...(more > 0 ? [[{ text: `… and ${more} more; --all shows them.`, style: 'dim' } as const]] : []),
  ];
}

function nothingWords({ dataDir }: SessionListData, { stored, isHere }: Layout): string {
  if (stored === 0) return `No sessions yet in ${dataDir}.`;
  return `None of ${plural(stored, 'session')} fits${isHere ? ' and belongs to this folder' : ''}.`;
}

type Rows = { readonly nowMs: number; readonly width: number; readonly hasFolder: boolean };

/** One line for each session. */
function sessionRows(sessions: readonly ListedSessionData[], { nowMs, width, hasFolder }: Rows): readonly Line[] {
  const workflowMax = WORKFLOW_WIDTH_MAX[width < WIDTH_WITH_FOLDER ? 'narrow' : 'wide'];
  const cells = sessions.map((session) => ({
    session,
    id: session.shortId,
    workflow: clipText(workflowWords(session), workflowMax),
    state: stateWords(session),
    when: session.lastAt === undefined ? '' : ago(session.lastAt, nowMs),
    folder: hasFolder ? clipText(folderName(session), FOLDER_WIDTH_MAX) : '',
  }));
  const widest = (of: 'id' | 'workflow' | 'state' | 'when' | 'folder') =>
    Math.max(0, ...cells.map((cell) => textWidth(cell[of])));
  const [id, workflow, state, when] = [widest('id'), widest('workflow'), widest('state'), widest('when')];
  const folder = widest('folder') + (hasFolder ? GAP : 0);
  // The mark and a blank come first, then five gaps.
  const title = Math.max(TITLE_WIDTH_MIN, width - 2 - id - workflow - state - when - folder - 4 * GAP);
  return cells.map(({ session, ...cell }): Line => {
    const name = clipText(session.title ?? UNTOLD, title);
    const end = endSpans(session.state, session.runs, padText(cell.state, state + GAP));
    return [
      end.mark,
      ` ${padText(cell.id, id + GAP)}`,
      session.isHere ? { text: padText(name, title), style: 'strong' } : padText(name, title),
      blanks(GAP),
      { text: padText(cell.workflow, workflow + GAP), style: 'dim' },
      end.words,
      { text: hasFolder ? padText(cell.when, when + GAP) : cell.when, style: 'dim' },
      { text: cell.folder, style: 'dim' },
    ];
  });
}

const GAP = 2;
const UNTOLD = '(nothing of it can be read)';

function blanks(count: number): string {
  return ' '.repeat(count);
}

function stateWords({ state, runs, isKept }: ListedSessionData): string {
  return `${state}${state === 'complete' && lacksSomething(runs) ? ', gaps open' : ''}${isKept ? ', kept' : ''}`;
}

function workflowWords({ runs }: ListedSessionData): string {
  const first = runs[0]?.workflowId ?? '';
  return runs.length > 1 ? `${first} +${runs.length - 1}` : first;
}

function folderName({ workspace = '' }: ListedSessionData): string {
  return (
    workspace
      .replace(/[\\/]+$/, '')
      .split(/[\\/]/)
      .at(-1) ?? ''
  );
}
