import { err, ok, type Result } from 'neverthrow';
import type { ScriptRefusal } from '../../app/author/dry-run.ts';
import type { NothingOwn, TargetRefusal, WorkflowRefusal } from '../../app/author/find-targets.ts';
import type { PreviewRefusal } from '../../app/author/preview-step.ts';
import type { ScenarioRefusal } from '../../app/author/test-workflows.ts';
import type { FileFailure } from '../../app/ports/author-files.ts';
import { unreachable } from '../../core/assert.ts';
import { type JsonObject, parseJson } from '../../core/json/json-value.ts';
import { AUTONOMY, type Autonomy } from '../../core/log/autonomy.ts';
import type { ErrorEnvelope } from '../../core/log/error-envelope.ts';
import { jsonObjectSchema } from '../../core/log/field-schemas.ts';
import { nearest, nearestId } from '../../core/text/spelling.ts';
import { shellWord, shortList } from '../../core/text/words.ts';
import { type CommandProblem, EXIT, type ExitCode } from '../command.ts';

/** Everything the bench may refuse before it looks into a workflow. */
export type BenchRefusal =
  | TargetRefusal
  | NothingOwn
  | ScenarioRefusal
  | FileFailure
  | WorkflowRefusal
  | PreviewRefusal
  | ScriptRefusal;

export function benchProblem(refusal: BenchRefusal): CommandProblem {
  switch (refusal.code) {
    case 'target_unknown': {
      const meant = nearestId(refusal.asked, refusal.known);
      return problem(EXIT.notFound, {
        code: 'WORKFLOW_NOT_FOUND',
        message: `There is no file, folder or workflow "${refusal.asked}".`,
        suggestion:
          meant === undefined
            ? `Type an id or a path. Workflows: ${shortList(refusal.known)}.`
            : `Did you mean ${meant}?`,
      });
    }
    case 'workflow_broken': {
      const { file, diagnostics } = refusal.invalid;
      const [first] = diagnostics.filter(({ severity }) => severity === 'error');
      const where = first === undefined ? file.path : `${file.path}:${first.line}:${first.column}`;
      return problem(EXIT.checkFailed, {
        code: 'WORKFLOW_INVALID',
        message: `${where} cannot be used: ${first?.message ?? 'it does not compile.'}`,
        suggestion: `Type "workrail workflow check ${shellWord(file.path)}" to see all that is wrong.`,
      });
    }
    case 'step_unknown': {
      const { message, suggestion } = unknownStep(refusal);
      return problem(EXIT.notFound, { code: 'VALIDATION_ERROR', message, suggestion });
    }
    case 'script_invalid': {
      const [first] = refusal.problems;
      return problem(EXIT.usage, {
        code: 'VALIDATION_ERROR',
        message: `${refusal.path}:${first?.line ?? 1}:${first?.column ?? 1} ${first?.message ?? 'It cannot be read.'}`,
        suggestion: 'A script may have "mode", "goal", "context" and "steps", as a scenario has them.',
      });
    }
    case 'folder_empty':
      return problem(EXIT.notFound, {
        code: 'WORKFLOW_NOT_FOUND',
        message: `There is no workflow file in ${refusal.path}.`,
        suggestion: 'Name another folder, or write one with "workrail workflow new".',
      });
    case 'nothing_own':
      return problem(EXIT.notFound, {
        code: 'WORKFLOW_NOT_FOUND',
        message: `There is no workflow of yours: nothing is in ${refusal.folders.join(', ')}.`,
        suggestion:
          'Write one with "workrail workflow new", name a file or an id, or add --all for every workflow there is.',
      });
    case 'no_scenarios':
      return problem(EXIT.notFound, {
        code: 'WORKFLOW_NOT_FOUND',
        message: `There are no scenarios: ${refusal.path} does not exist.`,
        suggestion: 'Write that file: a "workflowId" and a list of "scenarios", each with a name and what it expects.',
      });
    case 'file_absent':
    case 'file_exists':
    case 'file_failed':
      return fileProblem(refusal);
    default:
      return unreachable(refusal);
  }
}

function fileProblem(refusal: FileFailure): CommandProblem {
  switch (refusal.code) {
    case 'file_absent':
      return problem(EXIT.notFound, {
        code: 'VALIDATION_ERROR',
        message: `There is no file ${refusal.path}.`,
        suggestion: 'Check the path.',
      });
    case 'file_exists':
      return problem(EXIT.failed, {
        code: 'VALIDATION_ERROR',
        message: `${refusal.path} is there already, and was left as it is.`,
        suggestion: 'Choose another id, or remove that file.',
      });
    case 'file_failed':
      return problem(EXIT.failed, {
        code: 'STORE_IO',
        message: `${refusal.path}: the system says ${refusal.cause}.`,
        suggestion: 'Check the path and its permissions.',
      });
    default:
      return unreachable(refusal);
  }
}

type Words = Pick<ErrorEnvelope, 'code' | 'message' | 'suggestion'> & Pick<Partial<ErrorEnvelope>, 'details'>;

/** The words for a step that a workflow does not have. */
export function unknownStep({ stepId, known }: { readonly stepId: string; readonly known: readonly string[] }) {
  const meant = nearest(stepId, known);
  return {
    message: `There is no step "${stepId}".`,
    suggestion: meant === undefined ? `The steps are ${known.join(', ')}.` : `Did you mean ${meant}?`,
  };
}

export function problem(exitCode: ExitCode, words: Words): CommandProblem {
  return { exitCode, error: { ...words, retry: { kind: 'not_retryable' } } };
}

/** The one thing that a command is about. */
export function oneOperand(operands: readonly string[], usage: string): Result<string, CommandProblem> {
  const [only, ...more] = operands;
  if (only !== undefined && only.trim() !== '' && more.length === 0) return ok(only);
  return err(wrongUse(only === undefined ? 'A workflow is missing.' : 'One workflow at a time.', `Type ${usage}`));
}

/** The person pressed Ctrl-C at a question. */
export const BROKEN_OFF = problem(EXIT.interrupted, {
  code: 'VALIDATION_ERROR',
  message: 'Broken off; nothing was written.',
  suggestion: 'Type the command again when you like.',
});

/** A command line that does not say what it should. */
export function wrongUse(message: string, suggestion: string): CommandProblem {
  return problem(EXIT.usage, { code: 'VALIDATION_ERROR', message, suggestion });
}

/** A path as somebody in a folder would type it. */
export function pathFrom(path: string, folder: string): string {
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path;
}

/** The context that was typed as JSON. */
export function readContext(option: unknown): Result<JsonObject | undefined, CommandProblem> {
  if (option === undefined) return ok(undefined);
  const parsed = parseJson(String(option)).map((value) => jsonObjectSchema.safeParse(value));
  if (parsed.isOk() && parsed.value.success) return ok(parsed.value.data);
  return err(wrongUse('--context is no JSON object.', `Type it in quotes, like --context '{"taskSize":"small"}'.`));
}

export function readMode(option: unknown): Result<Autonomy | undefined, CommandProblem> {
  if (option === undefined) return ok(undefined);
  const mode = AUTONOMY.find((name) => name === option);
  if (mode !== undefined) return ok(mode);
  const meant = nearest(String(option), AUTONOMY);
  const choice = meant === undefined ? `It may be ${AUTONOMY.join(', ')}.` : `Did you mean ${meant}?`;
  return err(wrongUse(`There is no mode "${String(option)}".`, choice));
}
