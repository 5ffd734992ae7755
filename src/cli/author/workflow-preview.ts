import { safeTry } from 'neverthrow';
import { findTargetWorkflow } from '../../app/author/find-targets.ts';
import { previewStep } from '../../app/author/preview-step.ts';
import { type JsonObject, quote } from '../../core/json/json-value.ts';
import { utf8Length } from '../../core/text/utf8.ts';
import { shellWord, sizeOf } from '../../core/text/words.ts';
import type { CompiledWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';
import { sealWorkflow } from '../../core/workflow/compiled/sealed-workflow.ts';
import { workflowOutline } from '../../core/workflow/outline/workflow-outline.ts';
import { command, done } from '../command.ts';
import { dim, type Line, notable, strong } from '../output/line.ts';
import { columnsOf } from '../output/text-width.ts';
import {
  conditionLines,
  conditionsData,
  outlineData,
  outlineLines,
  type WorkflowPreviewData,
  workflowPreviewData,
} from './workflow-data.ts';
import {
  authorProblem,
  CONTEXT_OPTION,
  MODE_OPTION,
  oneWorkflow,
  readContext,
  readMode,
  WORKFLOW,
} from './workflow-words.ts';

export const workflowPreview = command({
  operands: [WORKFLOW],
  options: [{ flags: '--step <step>', help: 'the id of the step to show' }, CONTEXT_OPTION, MODE_OPTION],
  example: 'workrail workflow preview wr.first_steps --step look',
  data: workflowPreviewData,
  run: ({ program, say }, { operands, options }) =>
    safeTry(async function* () {
      const asked = yield* oneWorkflow(operands, 'workrail workflow preview ID --step STEP');
      const context = yield* readContext(options['context']);
      const mode = (yield* readMode(options['mode'])) ?? 'guided';
      const author = await program.author();
      const { listed, catalog } = yield* (await findTargetWorkflow(author, asked)).mapErr(authorProblem);
      const { id, workflow, bindingProblems } = listed;
      for (const { line, message } of bindingProblems?.diagnostics ?? []) {
        say([`${bindingProblems?.file.path}:${line}: ${message}`]);
      }
      const head: WorkflowPreviewData = {
        id,
        hash: sealWorkflow(workflow, author.tools.sha256).hash,
        steps: outlineData(workflowOutline(workflow)),
        conditions: conditionsData(workflow),
      };
      const stepId = options['step'];
      if (typeof stepId !== 'string') {
        return done({
          data: head,
          lines: [
            [strong(id)],
            ...outlineLines(head.steps, { isFull: true, width: columnsOf(program) }),
            ...conditionLines(head.conditions, columnsOf(program)),
          ],
          next: `workrail workflow preview ${shellWord(asked)} --step ${workflow.steps[0]?.stepId ?? ''}`,
        });
      }
      const places = { workspace: author.workspace, file: listed.file.path };
      const request = { stepId, context: context ?? {}, mode, places };
      const shown = await previewStep(await author.services(catalog), workflow, request);
      const { reply, failing } = yield* shown.mapErr(authorProblem);
      const text = [reply.text, ...(reply.furtherTexts ?? [])].join('\n\n');
      const bytes = utf8Length(text);
      return done({
        data: { ...head, step: { stepId, text, bytes, failing } },
        lines: [
          ...text.split('\n').map((line): Line => [line]),
          [],
          [dim(`${sizeOf(bytes)}, as an agent reads it in ${mode} mode; tokens are placeholders.`)],
          ...unsetWords(workflow, stepId, context ?? {}).map((words): Line => [dim(words)]),
          ...failing.map(
            (words): Line => [
              notable(
                `With ${context === undefined ? 'an empty context' : 'this context'} the step is skipped: it runs only when ${words}.`,
              ),
            ],
          ),
        ],
        next: `workrail workflow dry-run ${shellWord(asked)}`,
      });
    }),
});

/** The name that a loop gives to its items is unset in a preview without that list, which no agent ever sees. */
function unsetWords({ loops }: CompiledWorkflow, stepId: string, context: JsonObject): readonly string[] {
  const loop = loops.find(({ body }) => body.some((entry) => entry.kind === 'step' && entry.stepId === stepId));
  const items = loop?.control.kind === 'for_each' ? loop.control.items : undefined;
  if (loop === undefined || items?.kind !== 'context' || context[items.variable] !== undefined) return [];
  const example = shellWord(`{${quote(items.variable)}: ["…"]}`);
  return [`${loop.variables.item} is a value of the loop. To see it filled in, add --context ${example}.`];
}
