import { err, ok } from 'neverthrow';
import { findTargetWorkflow } from '../../app/author/find-targets.ts';
import { previewStep } from '../../app/author/preview-step.ts';
import { utf8Length } from '../../core/text/utf8.ts';
import { shellWord, sizeOf } from '../../core/text/words.ts';
import { sealWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';
import { workflowOutline } from '../../core/workflow/outline/workflow-outline.ts';
import type { RunCommand } from '../command.ts';
import type { Line } from '../output/line.ts';
import { columnsOf } from '../output/text-width.ts';
import {
  conditionLines,
  conditionsData,
  outlineData,
  outlineLines,
  type WorkflowPreviewData,
} from './workflow-data.ts';
import { benchProblem, oneOperand, readContext, readMode } from './workflow-words.ts';

export const workflowPreview: RunCommand = async ({ program }, { operands, options }) => {
  const asked = oneOperand(operands, 'workrail workflow preview ID --step STEP');
  if (asked.isErr()) return err(asked.error);
  const context = readContext(options['context']);
  if (context.isErr()) return err(context.error);
  const mode = readMode(options['mode']);
  if (mode.isErr()) return err(mode.error);
  const bench = await program.bench();
  const found = await findTargetWorkflow(bench, asked.value);
  if (found.isErr()) return err(benchProblem(found.error));
  const { listed, catalog } = found.value;
  const { id, workflow } = listed;
  const head = {
    id,
    hash: sealWorkflow(workflow, bench.tools.sha256).hash,
    steps: outlineData(workflowOutline(workflow)),
    conditions: conditionsData(workflow),
  };
  const stepId = options['step'];
  if (typeof stepId !== 'string') {
    const [first] = workflow.steps;
    const lines: readonly Line[] = [
      [{ text: id, style: 'strong' }],
      ...outlineLines(head.steps, { isFull: true, width: columnsOf(program) }),
      ...conditionLines(head.conditions, columnsOf(program)),
    ];
    const next = `workrail workflow preview ${shellWord(asked.value)} --step ${first?.stepId ?? ''}`;
    return ok({ kind: 'done', data: head satisfies WorkflowPreviewData, lines, next });
  }
  const request = { stepId, context: context.value ?? {}, mode: mode.value ?? 'guided' };
  const shown = await previewStep(bench.services(catalog), workflow, request);
  if (shown.isErr()) return err(benchProblem(shown.error));
  const { reply, failing } = shown.value;
  const bytes = utf8Length(reply.text);
  const data: WorkflowPreviewData = { ...head, step: { stepId, text: reply.text, bytes, failing } };
  return ok({
    kind: 'done',
    data,
    lines: [
      ...reply.text.split('\n').map((line): Line => [line]),
      [],
      [{ text: `${sizeOf(bytes)}, as an agent reads it in ${request.mode} mode; tokens are stand-ins.`, style: 'dim' }],
      ...failing.map(
        (words): Line => [
          { text: `In this context the step is passed over: it is due when ${words}.`, style: 'notable' },
        ],
      ),
    ],
    next: `workrail workflow dry-run ${shellWord(asked.value)}`,
  });
};
