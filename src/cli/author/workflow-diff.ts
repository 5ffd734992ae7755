import { err, ok, type Result, safeTry } from 'neverthrow';
import type { AuthorServices } from '../../app/author/author-services.ts';
import { findTargetWorkflow, type WorkflowRefusal } from '../../app/author/find-targets.ts';
import { defined, quote } from '../../core/json/json-value.ts';
import type { WorkflowHash } from '../../core/log/ids.ts';
import { lineDiff } from '../../core/text/line-diff.ts';
import { plural, shellWord } from '../../core/text/words.ts';
import { type WorkflowDiffData, workflowDiffData } from '../../core/wire/workflow-shapes.ts';
import type { CompiledWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';
import { sealWorkflow } from '../../core/workflow/compiled/sealed-workflow.ts';
import { type FieldChange, type PartChange, workflowDiff } from '../../core/workflow/outline/workflow-diff.ts';
import { type CommandContext, command, done } from '../command.ts';
import { bad, dim, good, type Line, notable, strong } from '../output/line.ts';
import { type CommandProblem, usageProblem } from '../problem.ts';
import { type CommandRefusal, refusalProblem } from '../refusal-problem.ts';
import { findSessions } from '../session-ids.ts';
import { authorProblem } from './workflow-words.ts';

export const workflowDiffCommand = command({
  operands: [
    {
      syntax: '<workflow-or-session>',
      help: 'a workflow id or file, a session, or the hash of a version used by runs',
    },
    { syntax: '[other]', help: 'what to compare it with (default for a session: its workflow as it is now)' },
  ],
  example: 'workrail workflow diff wr.first_steps team.first_steps',
  data: workflowDiffData,
  run: async (context, { operands }) => {
    const [first = '', second] = operands;
    const author = await context.program.author();
    const before = await findSide(context, author, first);
    if (before.isErr()) return err(before.error);
    if (second === undefined && !before.value.isPinned) {
      return err(
        usageProblem(
          `Give a second workflow to compare "${first}" with.`,
          'Add a file or an id, or give the session of a run instead.',
        ),
      );
    }
    // One session alone is compared with the workflow as it is now.
    const after = await findSide(context, author, second ?? before.value.workflow.workflowId);
    if (after.isErr()) return err(after.error);
    const { sha256 } = author.tools;
    const shown = ({ label, workflow }: Side) => ({
      label,
      workflowId: workflow.workflowId,
      hash: sealWorkflow(workflow, sha256).hash,
    });
    const { parts, isReordered } = workflowDiff(before.value.workflow, after.value.workflow);
    const data: WorkflowDiffData = {
      before: shown(before.value),
      after: shown(after.value),
      isSame: parts.length === 0 && !isReordered,
      isReordered,
      parts: parts.map((part) => ({
        ...part,
        changes: part.changes.map(({ field, before: old, after: now }) => defined({ field, before: old, after: now })),
      })),
    };
    return done({
      data,
      lines: [...headLines(data), ...parts.flatMap(partLines), countLine(data)],
      next: `workrail workflow preview ${shellWord(after.value.isPinned ? data.after.workflowId : after.value.label)}`,
    });
  },
});

/** One side of the comparison: a workflow as it is now, or as the last run of a session was started with it. */
type Side = { readonly label: string; readonly workflow: CompiledWorkflow; readonly isPinned: boolean };

/** An operand names a file, a workflow, or else a session. */
async function findSide(
  context: CommandContext,
  author: AuthorServices,
  asked: string,
): Promise<Result<Side, CommandProblem>> {
  const found = await findTargetWorkflow(author, asked);
  if (found.isOk()) return ok({ label: asked, workflow: found.value.listed.workflow, isPinned: false });
  if (found.error.code !== 'target_unknown') return err(authorProblem(found.error));
  return PINNED_HASH.test(asked) ? hashSide(context, asked) : pinnedSide(context, asked, found.error);
}

const PINNED_HASH = /^sha256:[0-9a-f]{64}$/;
const HASH_SHOWN = 15;

/** A version that runs are pinned to, as "workflow uses" lists it. */
async function hashSide({ program }: CommandContext, asked: string): Promise<Result<Side, CommandProblem>> {
  const { services } = await program.bundleAccess();
  const stored = await services.pinnedWorkflows.get(asked as WorkflowHash);
  if (stored.isErr()) {
    return err(
      stored.error.code === 'other_workflow_stored'
        ? OTHER_STORED
        : refusalProblem(stored.error, await program.dataDir()),
    );
  }
  const { workflowId } = stored.value;
  return ok({ label: `${workflowId} ${asked.slice(0, HASH_SHOWN)}`, workflow: stored.value, isPinned: true });
}

async function pinnedSide(
  { program }: CommandContext,
  asked: string,
  unknown: WorkflowRefusal,
): Promise<Result<Side, CommandProblem>> {
  return safeTry(async function* () {
    const dataDir = await program.dataDir();
    const refused = (refusal: CommandRefusal) => refusalProblem(refusal, dataDir);
    const { sessions, sessionIndex } = await program.store();
    const matched = await findSessions({ sessions, sessionIndex }, [asked]);
    if (matched.isErr() && matched.error.code === 'session_unmatched') return err(authorProblem(unknown));
    const [sessionId] = yield* matched.mapErr(refused);
    if (sessionId === undefined) return err(authorProblem(unknown));
    const { view } = yield* (await sessions.loadValidPrefix(sessionId)).mapErr(refused);
    const run = [...view.graph.runs.values()].at(-1);
    if (run === undefined) return err(usageProblem(`${sessionId} has no run.`, 'Choose another session.'));
    const { services } = await program.bundleAccess();
    const { workflowHash, workflowId } = run.pinned;
    const workflow = yield* (await services.pinnedWorkflows.get(workflowHash)).mapErr((refusal) =>
      refusal.code === 'other_workflow_stored' ? OTHER_STORED : refused(refusal),
    );
    return ok({ label: `${workflowId} as used by ${asked}`, workflow, isPinned: true });
  });
}

const OTHER_STORED = usageProblem(
  'The stored workflow of this run is not the one the run was started with.',
  'Run "workrail session verify" to see what is damaged.',
);

function headLines({ before, after, isReordered }: WorkflowDiffData): readonly Line[] {
  return [
    [bad(`- ${before.label}`)],
    [good(`+ ${after.label}`)],
    ...(isReordered ? [[notable('The order of steps differs.')]] : []),
  ];
}

const MARKS = { added: '+', removed: '-', changed: '~' } as const;

const STYLES = { added: 'good', removed: 'bad', changed: 'notable' } as const;

function partLines({ part, id, kind, changes }: PartChange): readonly Line[] {
  return [[], [{ text: `${MARKS[kind]} ${part} `, style: STYLES[kind] }, strong(id)], ...changes.flatMap(changeLines)];
}

/** Text is compared line by line; other values are shown in full. */
function changeLines({ field, before, after }: FieldChange): readonly Line[] {
  if (typeof before === 'string' && typeof after === 'string' && (before.includes('\n') || after.includes('\n'))) {
    const lines = lineDiff(before, after).filter(({ kind }) => kind !== 'same');
    return [
      [dim(`    ${field}`)],
      ...lines.map(({ kind, text }): Line => {
        const isAdded = kind === 'added';
        return [{ text: `    ${isAdded ? '+' : '-'} ${text}`, style: isAdded ? 'good' : 'bad' }];
      }),
    ];
  }
  return [
    [dim(`    ${field}`)],
    ...(before === undefined ? [] : [[bad(`    - ${quote(before)}`)]]),
    ...(after === undefined ? [] : [[good(`    + ${quote(after)}`)]]),
  ];
}

function countLine({ isSame, parts }: WorkflowDiffData): Line {
  if (isSame) return [good('✓ '), 'No differences.'];
  const of = (kind: PartChange['kind']) => parts.filter((part) => part.kind === kind).length;
  return [dim(`${plural(of('changed'), 'part')} changed, ${of('added')} added, ${of('removed')} removed`)];
}
