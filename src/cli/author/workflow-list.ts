import { authorCatalog } from '../../app/author/author-catalog.ts';
import { filterWorkflows, type ListedWorkflow, waitingSources, waitsForUser } from '../../app/catalog/catalog.ts';
import { sessionBoard } from '../../app/sessions/session-board.ts';
import { defined } from '../../core/json/json-value.ts';
import { explainWorkspace } from '../../core/prompt/reply-warnings.ts';
import { type WorkflowUse, workflowUse } from '../../core/sessions/workflow-use.ts';
import { plural } from '../../core/text/words.ts';
import { type ListedData, type WorkflowListData, workflowListData } from '../../core/wire/workflow-shapes.ts';
import { syntaxIn } from '../../core/workflow/format/read-workflow.ts';
import { command, done } from '../command.ts';
import { bad, dim, type Line, strong } from '../output/line.ts';
import { columnsOf, hangText, textWidth } from '../output/text-width.ts';
import { duration } from '../output/times.ts';
import type { SessionListAccess } from '../program.ts';
import { listedWorkflowData, sourceText } from './workflow-data.ts';
import { pathFrom, waitingLines } from './workflow-words.ts';

export const workflowList = command({
  operands: [{ syntax: '[words...]', help: 'words that occur in the id, name, description or tags' }],
  options: [
    { flags: '--tag <tag>', help: 'only workflows with this tag' },
    { flags: '--use', help: 'also show versions, steps, and how the sessions here used each workflow' },
  ],
  example: 'workrail workflow list review',
  data: workflowListData,
  run: async ({ program, switches, say }, { operands, options }) => {
    const author = await program.author();
    const { all } = await authorCatalog(author);
    if (all.workspaceProblem !== undefined) say([explainWorkspace(all.workspaceProblem)]);
    const tags = typeof options['tag'] === 'string' ? [options['tag']] : [];
    const query = operands.length === 0 ? {} : { query: operands.join(' ') };
    const found = filterWorkflows(all.workflows, { ...query, tags });
    const use = options['use'] === true ? await findUse(await program.sessionListAccess()) : undefined;
    const waiting = waitingSources(all.invalid);
    const data: WorkflowListData = {
      workflows: found.map((listed) => ({ ...listedWorkflowData(listed), ...(use && usedData(listed, use)) })),
      ...(waiting.length === 0 ? {} : { waiting }),
      invalid: all.invalid
        .filter((one) => !waitsForUser(one))
        .map(({ file, id, diagnostics }) => {
          const errors = diagnostics.filter(({ severity }) => severity === 'error');
          const [first] = errors;
          return {
            path: file.path,
            ...defined({ id }),
            errors: errors.length,
            first: first === undefined ? '' : `${first.line}:${first.column} ${first.message}`,
          };
        }),
    };
    const total = all.workflows.length;
    const [one] = data.workflows;
    return done({
      data,
      lines: [
        ...linesOf(data, {
          workspace: author.workspace,
          isVerbose: switches.isVerbose,
          width: columnsOf(program),
          isSearch: operands.length > 0 || tags.length > 0,
        }),
        [dim(found.length === total ? plural(total, 'workflow') : `${found.length} of ${plural(total, 'workflow')}`)],
      ],
      next: one === undefined ? 'workrail workflow list' : `workrail workflow show ${one.id}`,
    });
  },
});

async function findUse(access: SessionListAccess): Promise<ReadonlyMap<string, WorkflowUse>> {
  return workflowUse((await sessionBoard(access)).map(({ rows }) => rows).unwrapOr([]));
}

function usedData(
  { id, workflow, origin }: ListedWorkflow,
  use: ReadonlyMap<string, WorkflowUse>,
): Pick<ListedData, 'version' | 'steps' | 'use'> {
  const version = syntaxIn(origin.text)?.version;
  return { ...defined({ version }), steps: workflow.steps.length, use: use.get(id) ?? { runs: 0, done: 0, open: 0 } };
}

/** The blanks around an id, and the room that a readable description needs. */
const BESIDE_ID = 34;

type Layout = {
  readonly workspace: string;
  readonly isVerbose: boolean;
  readonly width: number;
  readonly isSearch: boolean;
};

/** A folder may hold hundreds of files that are no workflows. */
const INVALID_SHOWN_MAX = 20;

function linesOf({ workflows, invalid, waiting = [] }: WorkflowListData, layout: Layout): readonly Line[] {
  const widest = Math.max(0, ...workflows.map(({ id }) => id.length));
  // If ids leave too little room, each has a line of its own.
  const width = widest + BESIDE_ID > layout.width ? 2 : widest;
  const shown = layout.isSearch ? [] : invalid.slice(0, INVALID_SHOWN_MAX);
  const omitted = invalid.length - shown.length;
  const kinds = [
    { title: 'Workflows', of: workflows.filter(({ kind }) => kind === 'workflow') },
    { title: 'Routines', of: workflows.filter(({ kind }) => kind === 'routine') },
  ];
  return [
    ...kinds.flatMap(({ title, of }) =>
      of.length === 0 ? [] : [[strong(title)], ...of.flatMap((one) => oneOf(one, width, layout))],
    ),
    ...waitingLines(waiting),
    ...shown.flatMap(({ path, errors, first }): readonly Line[] => [
      [bad('✗ '), `${pathFrom(path, layout.workspace)} is not used (${plural(errors, 'error')})`],
      ...hangText(first, { first: '', rest: 4, width: layout.width }).map((text): Line => [dim(text)]),
    ]),
    ...(omitted === 0
      ? []
      : [
          [
            bad('✗ '),
            `${plural(omitted, 'invalid file is', 'invalid files are')} not shown: workrail workflow check --all`,
          ],
        ]),
  ];
}

function oneOf(one: ListedData, width: number, layout: Layout): readonly Line[] {
  const { id, description, source, shadows, suggestedId, use } = one;
  const rest = width + 4;
  const below = (words: string) =>
    hangText(words, { first: '', rest, width: layout.width }).map((text): Line => [dim(text)]);
  const from = source === 'bundled' && !layout.isVerbose ? '' : `  ${sourceText(one)}`;
  const described = hangText(description, { first: `  ${id}`, rest, width: layout.width });
  const last = described.at(-1) ?? '';
  const isBeside = textWidth(last + from) <= layout.width;
  return [
    ...described.slice(0, -1).map((text): Line => [text]),
    ...(isBeside ? [[last, dim(from)]] : [[last], ...below(from.trim())]),
    ...(use === undefined ? [] : below(usageText(one))),
    ...shadows.flatMap((path) => below(`overrides ${pathFrom(path, layout.workspace)}`)),
    ...(suggestedId === undefined
      ? []
      : below(`old-style id; to change it: workrail workflow migrate-id ${id} ${suggestedId}`)),
  ];
}

/** `4 runs, 3 finished, 10 min at the median, mostly blocked at "Judge it"`. */
function usageText({ steps = 0, version, use }: ListedData): string {
  const { runs = 0, done: finished = 0, medianMs, mostBlocked } = use ?? {};
  return [
    ...(version === undefined ? [] : [version]),
    plural(steps, 'step'),
    runs === 0 ? 'no runs' : `${plural(runs, 'run')}, ${finished} finished`,
    ...(medianMs === undefined ? [] : [`${duration(medianMs)} at the median`]),
    ...(mostBlocked === undefined ? [] : [`mostly blocked at "${mostBlocked.title}"`]),
  ].join(', ');
}
