import { err, ok } from 'neverthrow';
import { quote } from '../../core/json/quote.ts';
import { lineDiff } from '../../core/text/line-diff.ts';
import { shellWord } from '../../core/text/shell-word.ts';
import { sealWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';
import { type FieldChange, type PartChange, workflowDiff } from '../../core/workflow/outline/workflow-diff.ts';
import type { RunCommand } from '../command.ts';
import { findSide, type Side } from '../commands/workflow/compare/find-side.ts';
import type { Line } from '../output/line.ts';
import { plural } from '../output/wording.ts';
import type { WorkflowDiffData } from '../shapes/workflow/write-shapes.ts';
import { wrongUse } from './workflow-words.ts';

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
