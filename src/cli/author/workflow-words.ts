import { err, ok, type Result } from 'neverthrow';
import * as z from 'zod';
import type { ScriptRefusal } from '../../app/author/dry-run.ts';
import type { FileUnread } from '../../app/author/edit-files.ts';
import type { NothingOwn, TargetRefusal, WorkflowRefusal } from '../../app/author/find-targets.ts';
import type { MigrateRefusal } from '../../app/author/migrate-id.ts';
import type { CopyRefusal, Destination, PlaceRefusal } from '../../app/author/new-workflow.ts';
import type { PreviewRefusal } from '../../app/author/preview-step.ts';
import type { ScenarioRefusal } from '../../app/author/test-workflows.ts';
import type { FileFailure } from '../../app/ports/author-files.ts';
import { type ByCode, byCode } from '../../core/assert.ts';
import { type JsonObject, parseJson } from '../../core/json/json-value.ts';
import { AUTONOMY, type Autonomy } from '../../core/log/autonomy.ts';
import { jsonObjectSchema } from '../../core/log/document-schema.ts';
import { nearest } from '../../core/text/spelling.ts';
import { visibleLine } from '../../core/text/visible-text.ts';
import { shellWord, shortList } from '../../core/text/words.ts';
import { dim, type Line, notable } from '../output/line.ts';
import { type CommandProblem, EXIT, errorProblem, problem, unknownWord, usageProblem } from '../problem.ts';

/** Operands and options that several of the commands have. */
export const WORKFLOW = { syntax: '<id>', help: 'a workflow id or file' };
export const CONTEXT_OPTION = { flags: '--context <json>', help: 'the context of the run, as a JSON object' };
export const MODE_OPTION = {
  flags: '--mode <mode>',
  help: 'guided (the default; the agent asks you), full_auto_stop_on_user_deps (it asks only for what you must provide) or full_auto_never_stop (it does not ask)',
};
export const ALL = { flags: '--all', help: 'include every workflow: bundled ones and all sources' };
export const TO = { flags: '--to <place>', help: 'where to write it: project (default) or user' };

/** Everything that authoring commands may refuse. */
type AuthorRefusal =
  | TargetRefusal
  | NothingOwn
  | ScenarioRefusal
  | FileFailure
  | WorkflowRefusal
  | PreviewRefusal
  | ScriptRefusal
  | PlaceRefusal
  | CopyRefusal
  | MigrateRefusal
  | FileUnread
  | { readonly code: 'run_not_finished' };

export function authorProblem(refusal: AuthorRefusal): CommandProblem {
  return byCode(AUTHOR_PROBLEMS, refusal);
}

const AUTHOR_PROBLEMS: ByCode<AuthorRefusal, CommandProblem> = {
  target_unknown: ({ asked, known, meant: { id, choices }, waiting }) => {
    const unknown = `No file, folder or workflow "${asked}".`;
    // Similar ids would make a workflow of a source look like a typing mistake.
    if (waiting !== undefined) return notFound(unknown, waiting.join('\n'));
    const all = `Give an id or a path. The workflows are ${shortList(known)}.`;
    const some = choices.length === 0 ? all : `Did you mean one of these? ${shortList(choices)}`;
    return notFound(unknown, id === undefined ? some : `Did you mean ${id}?`);
  },
  workflow_broken: ({ invalid: { file, diagnostics } }) => {
    const [first] = diagnostics.filter(({ severity }) => severity === 'error');
    const where = first === undefined ? file.path : `${file.path}:${first.line}:${first.column}`;
    return checkProblem(
      `${where} is invalid: ${first?.message ?? 'it does not compile.'}`,
      `Run "workrail workflow check ${shellWord(file.path)}" to see every error.`,
    );
  },
  step_unknown: (refusal) => {
    const { message, suggestion } = unknownStep(refusal);
    return problem(EXIT.notFound, message, suggestion);
  },
  script_invalid: ({ path, problems: [first] }) =>
    usageProblem(
      `${path}:${first?.line ?? 1}:${first?.column ?? 1} ${first?.message ?? 'The script cannot be read.'}`,
      'A script can have "mode", "goal", "context" and "steps", like a test scenario.',
    ),
  folder_empty: ({ path }) =>
    notFound(
      `${path} contains no workflow file.`,
      'Choose another folder, or create a workflow with "workrail workflow new".',
    ),
  nothing_own: ({ folders }) =>
    notFound(
      `You have no workflows of your own: ${folders.join(', ')} contain none.`,
      'Create one with "workrail workflow new", name a file or an id, or add --all to include every workflow.',
    ),
  no_scenarios: ({ path }) =>
    notFound(
      `There are no test scenarios: ${path} does not exist.`,
      'Write that file: a "workflowId" and a list of "scenarios", each with a name and its expectations.',
    ),
  file_absent: ({ path }) => problem(EXIT.notFound, `${path} does not exist.`, 'Check the path.'),
  file_exists: ({ path }) =>
    problem(EXIT.failed, `${path} already exists and was not changed.`, 'Choose another id, or remove that file.'),
  file_changed: ({ path }) =>
    problem(EXIT.failed, `${path} was changed by another program, so nothing was written.`, 'Run the command again.'),
  file_failed: ({ path, cause }) =>
    errorProblem({
      code: 'STORE_IO',
      message: `${path} failed: ${cause}.`,
      suggestion: 'Check the path and its permissions.',
    }),
  id_legacy: ({ id }) =>
    usageProblem(
      `"${id}" has no namespace, and new workflows need one.`,
      `Add a namespace, for example team.${id.replace(/^[^a-z]+/, '')}`,
    ),
  id_reserved: ({ id }) =>
    usageProblem(
      `"${id}" begins with "wr.", which is reserved for the bundled workflows.`,
      `Choose another namespace, for example team.${id.slice('wr.'.length)}`,
    ),
  id_malformed: ({ id }) =>
    usageProblem(
      `Invalid id "${id}".`,
      'Use namespace.name. Each part begins with a letter and contains only lower-case letters, digits, "_" and "-".',
    ),
  id_taken: ({ id, path }) =>
    problem(EXIT.failed, `A workflow "${id}" already exists in ${path}.`, 'Choose another id.'),
  run_not_finished: () =>
    problem(
      EXIT.failed,
      'This run is not complete, so there is no workflow to make from it.',
      'Choose a session with a finished run: workrail session list',
    ),
  file_unread: ({ path, why }) =>
    problem(
      EXIT.failed,
      `${path} is left as it is. ${why}`,
      'Do that outside of the console, and open the file again.',
    ),
  not_editable: ({ id, path }) =>
    problem(
      EXIT.failed,
      `"${id}" is not in a folder of yours: it is in ${path}.`,
      `Copy it under an id of your own: workrail workflow copy ${shellWord(id)}`,
    ),
};

function notFound(message: string, suggestion: string): CommandProblem {
  return errorProblem({ code: 'WORKFLOW_NOT_FOUND', message, suggestion });
}

/** A check that found the workflow invalid. */
export function checkProblem(message: string, suggestion: string): CommandProblem {
  return errorProblem({ code: 'WORKFLOW_INVALID', message, suggestion }, EXIT.checkFailed);
}

/** The words for a step that the workflow does not have. */
export function unknownStep({ stepId, known }: { readonly stepId: string; readonly known: readonly string[] }) {
  const meant = nearest(stepId, known);
  return {
    message: `Unknown step "${stepId}".`,
    suggestion: meant === undefined ? `The steps are ${known.join(', ')}.` : `Did you mean ${meant}?`,
  };
}

export function oneWorkflow(operands: readonly string[], usage: string): Result<string, CommandProblem> {
  const [only, ...more] = operands;
  if (only !== undefined && only.trim() !== '' && more.length === 0) return ok(only);
  return err(
    usageProblem(only === undefined ? 'A workflow is missing.' : 'Give one workflow at a time.', `Run: ${usage}`),
  );
}

/** The user pressed Ctrl-C at a question. */
export const INTERRUPTED = problem(
  EXIT.interrupted,
  'Interrupted. Nothing was written.',
  'Run the command again to continue.',
);

/** A path as a user in that folder would type it. */
export function pathFrom(path: string, folder: string): string {
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path;
}

export function readContext(option: unknown): Result<JsonObject | undefined, CommandProblem> {
  if (option === undefined) return ok(undefined);
  const parsed = parseJson(String(option)).map((value) => jsonObjectSchema.safeParse(value));
  if (parsed.isOk() && parsed.value.success) return ok(parsed.value.data);
  return err(usageProblem('--context needs a JSON object.', `Put it in quotes: --context '{"taskSize":"small"}'`));
}

export function readMode(option: unknown): Result<Autonomy | undefined, CommandProblem> {
  if (option === undefined) return ok(undefined);
  const mode = AUTONOMY.find((name) => name === option);
  return mode === undefined ? err(unknownWord('mode', option, AUTONOMY)) : ok(mode);
}

export function readDestination(option: unknown): Result<Destination, CommandProblem> {
  if (option === undefined) return ok('project');
  if (option === 'project' || option === 'user') return ok(option);
  return err(unknownWord('--to', option, ['project', 'user']));
}

/** The folders that were searched because nothing was named: those of the project, or else of the user. */
export const ownScope = z.strictObject({ kind: z.enum(['project', 'user']), folders: z.array(z.string()).readonly() });

type Scope = { readonly kind: 'named' } | { readonly kind: 'all' } | z.infer<typeof ownScope>;

/** The sources that nobody accepted yet are not a mistake in a file. */
export function waitingLines(sources: readonly string[]): readonly Line[] {
  return sources.map((name) => [
    notable('• '),
    `The source ${visibleLine(name)} waits until you accept it: workrail source accept`,
  ]);
}

/** Says which workflows were checked or tested, unless the user named them. */
export function scopeLines(
  scope: Scope,
  { workspace, verb }: { readonly workspace: string; readonly verb: string },
): readonly Line[] {
  if (scope.kind === 'named') return [];
  if (scope.kind === 'all') {
    return [[dim(`${verb} every workflow, including bundled ones and all sources.`)]];
  }
  const where = scope.folders.map((folder) => pathFrom(folder, workspace)).join(', ');
  const whose = scope.kind === 'project' ? 'the workflows of this project' : 'your own workflows';
  return [[dim(`${verb} ${whose} (${where}). Add --all to include every workflow.`)]];
}
