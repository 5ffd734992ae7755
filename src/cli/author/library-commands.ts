import { err } from 'neverthrow';
import { authorCatalog } from '../../app/author/author-catalog.ts';
import { findTargetWorkflow } from '../../app/author/find-targets.ts';
import { type CurrentWorkflow, workflowUses } from '../../app/catalog/workflow-uses.ts';
import { plural, shellWord } from '../../core/text/words.ts';
import { builtinsData, type WorkflowUsesData, workflowUsesData } from '../../core/wire/workflow-shapes.ts';
import { builtinList } from '../../core/workflow/builtins/catalogue.ts';
import { sealWorkflow } from '../../core/workflow/compiled/sealed-workflow.ts';
import { command, done } from '../command.ts';
import { dim, type Line, notable, strong } from '../output/line.ts';
import { columnsOf, hangText } from '../output/text-width.ts';
import { refusalProblem } from '../refusal-problem.ts';
import { shortIds } from '../session-ids.ts';
import { authorProblem, oneWorkflow, WORKFLOW } from './workflow-words.ts';

export const workflowUsesCommand = command({
  operands: [WORKFLOW],
  example: 'workrail workflow uses wr.first_steps',
  data: workflowUsesData,
  run: async ({ program }, { operands }) => {
    const asked = oneWorkflow(operands, 'workrail workflow uses ID');
    if (asked.isErr()) return err(asked.error);
    const author = await program.author();
    const found = await findTargetWorkflow(author, asked.value);
    const listed = found.isOk() ? found.value.listed : undefined;
    const current: CurrentWorkflow | undefined = listed && {
      hash: listed.stored?.hash ?? sealWorkflow(listed.workflow, author.tools.sha256).hash,
      sourceHash: listed.sourceHash(),
    };
    const [{ sessions }, { sessionIndex }] = await Promise.all([program.store(), program.sessionListAccess()]);
    const id = listed?.id ?? asked.value;
    const uses = await workflowUses({ sessions, sessionIndex, shortIds }, id, current);
    if (uses.isErr()) return err(refusalProblem(uses.error, await program.dataDir()));
    // Runs of a workflow that was removed are still shown.
    if (found.isErr() && uses.value.versions.length === 0) return err(authorProblem(found.error));
    const [version] = uses.value.versions;
    return done({
      data: uses.value,
      lines: usesLines(uses.value),
      next:
        version === undefined
          ? `workrail workflow show ${id}`
          : `workrail workflow diff ${version.hash} ${shellWord(id)}`,
    });
  },
});

const DRIFT_WORDS: { readonly [drift in WorkflowUsesData['versions'][number]['drift']]: string } = {
  current: 'what a new run uses',
  compiler: 'made from the same files by another version of WorkRail',
  changed: 'the files have changed since',
  gone: 'the workflow is gone',
  unknown: 'whether the files have changed is unknown',
};

function usesLines({ versions }: WorkflowUsesData): readonly Line[] {
  if (versions.length === 0) return [['No run here uses it.']];
  return versions.flatMap(({ hash, drift, runs }): readonly Line[] => [
    [
      strong(hash),
      '  ',
      drift === 'changed' || drift === 'gone' ? notable(DRIFT_WORDS[drift]) : dim(DRIFT_WORDS[drift]),
    ],
    ...runs.map(
      ({ shortId, tag, state, title }): Line => [`  ${tag}  ${state.padEnd(8)}  ${title}`, dim(`  ${shortId}`)],
    ),
  ]);
}

export const workflowBuiltins = command({
  operands: [{ syntax: '[words...]', help: 'words that occur in the name, the purpose or the text' }],
  example: 'workrail workflow builtins review',
  data: builtinsData,
  run: async ({ program, switches }, { operands }) => {
    const { all } = await authorCatalog(await program.author());
    const users = all.workflows.map(({ id, kind, name, description, workflow, origin }) => {
      return { id, kind, name, description, workflow, called: [...origin.routines.keys()] };
    });
    const words = operands.map((word) => word.toLowerCase());
    const builtins = builtinList(users).filter(({ kind, id, purpose, text = '' }) => {
      const whole = `${kind} ${id} ${purpose} ${text}`.toLowerCase();
      return words.every((word) => whole.includes(word));
    });
    const width = columnsOf(program);
    return done({
      data: { builtins: [...builtins] },
      lines: [
        ...builtins.flatMap(({ kind, id, purpose, usedBy, text }): readonly Line[] => [
          [strong(id), dim(`  ${kind}, used by ${plural(usedBy.length, 'workflow')}`)],
          ...hangText(purpose, { first: '', rest: 2, width }).map((line): Line => [line]),
          ...(switches.isVerbose && text !== undefined
            ? text.split('\n').map((line): Line => [dim(`    ${line}`)])
            : []),
        ]),
        [dim(plural(builtins.length, 'built-in'))],
      ],
      next: 'workrail workflow new',
    });
  },
});
