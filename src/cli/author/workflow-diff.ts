import { err, ok, type Result } from 'neverthrow';
import type { AuthorServices } from '../../app/author/author-services.ts';
import { findTargetWorkflow, type WorkflowRefusal } from '../../app/author/find-targets.ts';
import { quote } from '../../core/json/quote.ts';
import { lineDiff } from '../../core/text/line-diff.ts';
import { plural, shellWord } from '../../core/text/words.ts';
import { type CompiledWorkflow, sealWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';
import { type FieldChange, type PartChange, workflowDiff } from '../../core/workflow/outline/workflow-diff.ts';
import { type CommandContext, type CommandProblem, exitCodeOf, type RunCommand } from '../command.ts';
import { findSessions } from '../ids.ts';
import type { Line } from '../output/line.ts';
import { type CommandRefusal, explainRefusal } from '../words.ts';
import { benchProblem, wrongUse } from './workflow-words.ts';
import type { WorkflowDiffData } from './written-workflow.ts';

/** One side of a comparison: a workflow as it is now, or as the last run of a session was pinned to it. */
type Side = { readonly label: string; readonly workflow: CompiledWorkflow; readonly isPinned: boolean };

/** What a word stands for: a file, a workflow, or else a session. */
async function findSide(
  context: CommandContext,
  bench: AuthorServices,
  asked: string,
): Promise<Result<Side, CommandProblem>> {
  const found = await findTargetWorkflow(bench, asked);
  if (found.isOk()) return ok({ label: asked, workflow: found.value.listed.workflow, isPinned: false });
  if (found.error.code !== 'target_unknown') return err(benchProblem(found.error));
  return pinnedSide(context, asked, found.error);
}

async function pinnedSide(
  { program }: CommandContext,
  asked: string,
  unknown: WorkflowRefusal,
): Promise<Result<Side, CommandProblem>> {
  const dataDir = await program.dataDir();
  const refused = (refusal: CommandRefusal): CommandProblem => {
    const error = explainRefusal(refusal, dataDir);
    return { error, exitCode: exitCodeOf(error.code) };
  };
  const { sessions, sessionIndex } = await program.store();
  const matched = await findSessions({ sessions, sessionIndex }, [asked]);
  const [sessionId] = matched.unwrapOr([]);
  if (matched.isErr() && matched.error.code !== 'session_unmatched') return err(refused(matched.error));
  if (sessionId === undefined) return err(benchProblem(unknown));
  const session = await sessions.loadValidPrefix(sessionId);
  if (session.isErr()) return err(refused(session.error));
  const run = [...session.value.view.graph.runs.values()].at(-1);
  if (run === undefined) return err(wrongUse(`${sessionId} has no run.`, 'Name another session.'));
  const { services } = await program.exchange();
  const pinned = await services.pinnedWorkflows.get(run.pinned.workflowHash);
  if (pinned.isErr()) {
    const { error } = pinned;
    return err(error.code === 'other_workflow_stored' ? OTHER_STORED : refused(error));
  }
  return ok({ label: `${run.pinned.workflowId} as pinned by ${asked}`, workflow: pinned.value, isPinned: true });
}

const OTHER_STORED = wrongUse(
  'The workflow that this run is pinned to is stored under a wrong name.',
  'Type "workrail session verify" to see what is damaged.',
);

export const workflowDiffCommand: RunCommand = async (context, { operands }) => {
  const [first, second, ...more] = operands;
  if (first === undefined || more.length > 0) {
    return err(
      wrongUse('Two workflows are compared.', 'Type workrail workflow diff A B, or workrail workflow diff SESSION'),
    );
  }
  const bench = await context.program.bench();
  const before = await findSide(context, bench, first);
  if (before.isErr()) return err(before.error);
  if (second === undefined && !before.value.isPinned) {
    return err(
      wrongUse(`"${first}" is to be compared with what?`, 'Name a second file or id, or the session of a run.'),
    );
  }
  // A session alone is compared with the source as it is now.
  const after = await findSide(context, bench, second ?? before.value.workflow.workflowId);
  if (after.isErr()) return err(after.error);
  const { sha256 } = bench.tools;
  const side = ({ label, workflow }: Side) => ({
    label,
    workflowId: workflow.workflowId,
    hash: sealWorkflow(workflow, sha256).hash,
  });
  const { parts, isReordered } = workflowDiff(before.value.workflow, after.value.workflow);
  const data: WorkflowDiffData = {
    before: side(before.value),
    after: side(after.value),
    isSame: parts.length === 0 && !isReordered,
    isReordered,
    parts: parts.map((part) => ({ ...part, changes: part.changes.map(written) })),
  };
  return ok({
    kind: 'done',
    data,
    lines: [...headLines(data), ...parts.flatMap(partLines), countLine(data)],
    next: `workrail workflow preview ${shellWord(after.value.isPinned ? data.after.workflowId : after.value.label)}`,
  });
};

function written({ field, before, after }: FieldChange) {
  return { field, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
}

function headLines({ before, after, isReordered }: WorkflowDiffData): readonly Line[] {
  return [
    [{ text: `- ${before.label}`, style: 'bad' }],
    [{ text: `+ ${after.label}`, style: 'good' }],
    ...(isReordered ? [[{ text: 'Steps come in another order.', style: 'notable' } as const]] : []),
  ];
}

const MARKS = { added: '+', removed: '-', changed: '~' } as const;
const STYLES = { added: 'good', removed: 'bad', changed: 'notable' } as const;

function partLines({ part, id, kind, changes }: PartChange): readonly Line[] {
  return [
    [],
    [
      { text: `${MARKS[kind]} ${part} `, style: STYLES[kind] },
      { text: id, style: 'strong' },
    ],
    ...changes.flatMap(changeLines),
  ];
}

/** Texts are compared line by line, everything else is shown whole. */
function changeLines({ field, before, after }: FieldChange): readonly Line[] {
  if (typeof before === 'string' && typeof after === 'string' && (before.includes('\n') || after.includes('\n'))) {
    const lines = lineDiff(before, after).filter(({ kind }) => kind !== 'same');
    return [
      [{ text: `    ${field}`, style: 'dim' }],
      ...lines.map(({ kind, text }): Line => {
        const isAdded = kind === 'added';
        return [{ text: `    ${isAdded ? '+' : '-'} ${text}`, style: isAdded ? 'good' : 'bad' }];
      }),
    ];
  }
  return [
    [{ text: `    ${field}`, style: 'dim' }],
    ...(before === undefined ? [] : [[{ text: `    - ${quote(before)}`, style: 'bad' } as const]]),
    ...(after === undefined ? [] : [[{ text: `    + ${quote(after)}`, style: 'good' } as const]]),
  ];
}

function countLine({ isSame, parts }: WorkflowDiffData): Line {
  if (isSame) return [{ text: '✓ ', style: 'good' }, 'They do the same.'];
  const of = (kind: PartChange['kind']) => parts.filter((part) => part.kind === kind).length;
  return [
    { text: `${plural(of('changed'), 'part')} changed, ${of('added')} added, ${of('removed')} removed`, style: 'dim' },
  ];
}
