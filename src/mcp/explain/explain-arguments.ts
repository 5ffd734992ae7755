import { unreachable } from '../../core/assert.ts';
import { quote } from '../../core/json/json-value.ts';
import type { Call } from '../../core/log/error-envelope.ts';
import { TOKEN_SLOTS } from '../../core/token/token.ts';
import { type ArgumentProblem, isCorrected, type ShapeName } from '../arguments/argument.ts';
import type { ArgumentRefusal } from '../arguments/read-arguments.ts';
import { callToList, callToSave, callWithFittingToken, type Words } from './corrected-call.ts';
import type { Situation } from './situation.ts';

/** The words for invalid arguments, with the corrected call if the intention is clear. */
export function explainArguments(refusal: ArgumentRefusal, situation: Situation): Words {
  const { problems } = refusal;
  const isUnknown = problems.some((problem) => problem.kind === 'unknown' && problem.meant === undefined);
  const takes = isUnknown ? ` The arguments are ${refusal.takes.join(', ')}.` : '';
  const call = correctedCall(refusal, situation);
  return {
    message: `Invalid call to ${situation.tool}. ${problems.map(wordsFor).join(' ')}${takes}`,
    suggestion: suggestionFor(call, situation),
    call,
  };
}

function suggestionFor(call: Call | undefined, { tool }: Situation): string {
  if (call === undefined) return 'Fix this and send the call again. Nothing was recorded.';
  return call.tool === tool
    ? 'Send the corrected call. Nothing was recorded.'
    : `Call ${call.tool} first to see what to send.`;
}

/** The tokens may also be misplaced or missing, and the corrected call must fix that too. */
function correctedCall({ meant, problems }: ArgumentRefusal, situation: Situation): Call | undefined {
  const { tool, tokens } = situation;
  if (meant !== undefined) {
    return (tokens.length === 0 ? undefined : callWithFittingToken(situation)) ?? { tool, arguments: meant };
  }
  if (problems.every((problem) => isCorrected(problem) || isMissing(problem, TOKEN_NAMES))) {
    return callWithFittingToken(situation);
  }
  if (tool === 'checkpoint_workflow' && problems.every((problem) => isMissing(problem, [...TOKEN_NAMES, 'output']))) {
    return callToSave(situation);
  }
  return problems.every((problem) => isMissing(problem, ['workflowId'])) ? callToList(situation) : undefined;
}

const TOKEN_NAMES = Object.keys(TOKEN_SLOTS);

function isMissing({ kind, name }: ArgumentProblem, names: readonly string[]): boolean {
  return kind === 'missing' && names.includes(name);
}

function wordsFor(problem: ArgumentProblem): string {
  const name = quote(problem.name);
  switch (problem.kind) {
    case 'unknown':
      return problem.meant === undefined
        ? `Unknown argument ${name}.`
        : `Unknown argument ${name}. Did you mean ${quote(problem.meant)}?`;
    case 'missing':
      return `${name} is missing.`;
    case 'twice':
      return `${name} and ${quote(problem.meant)} are the same argument with different values; send one of them.`;
    case 'wrong_shape':
      return `${name} must be ${a(problem.wanted)}, not ${a(problem.found)}.`;
    case 'misplaced':
      return `${name} belongs in ${quote(problem.meant)}.`;
    case 'broken_json':
      return `${name} is not valid JSON; it may be cut off.`;
    case 'no_choice': {
      const meant = problem.meant === undefined ? '' : ` Did you mean ${quote(problem.meant)}?`;
      return `Invalid value ${quote(problem.found)} for ${name}. Choose one of: ${problem.values.join(', ')}.${meant}`;
    }
    case 'words_around_token':
      return `${name} has other text around its token.`;
    default:
      return unreachable(problem);
  }
}

function a(shape: ShapeName): string {
  return shape === 'object' ? 'an object' : `a ${shape}`;
}
