import { type ByKind, byKind } from '../../core/assert.ts';
import { defined, quote } from '../../core/json/json-value.ts';
import type { Call } from '../../core/log/error-envelope.ts';
import { TOKEN_SLOTS } from '../../core/token/token.ts';
import { type ArgumentProblem, isCorrected, type ShapeName } from '../arguments/argument.ts';
import type { ArgumentRefusal } from '../arguments/read-arguments.ts';
import { callToList, callToSave, callWithFittingToken, recentTokens, type Words } from './corrected-call.ts';
import type { Situation } from './situation.ts';

/** The words for invalid arguments, with the corrected call if the intention is clear. */
export function explainArguments(refusal: ArgumentRefusal, situation: Situation): Words {
  const { problems } = refusal;
  const isUnknown = problems.some((problem) => problem.kind === 'unknown' && problem.meant === undefined);
  const takes = isUnknown ? ` The arguments are ${refusal.takes.join(', ')}.` : '';
  const call = correctedCall(refusal, situation);
  const isTokenMissing = call === undefined && problems.some((problem) => isMissing(problem, TOKEN_NAMES));
  const { suggestion = '', details } = (isTokenMissing ? recentTokens(situation) : undefined) ?? {};
  return {
    message: `Invalid call to ${situation.tool}. ${problems.map((problem) => byKind(PROBLEM_WORDS, problem)).join(' ')}${takes}`,
    suggestion: `${suggestionFor(call, situation)} ${suggestion}`.trim(),
    ...defined({ details }),
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

const PROBLEM_WORDS: ByKind<ArgumentProblem, string> = {
  unknown: ({ name, meant }) => `Unknown argument ${quote(name)}.${didYouMean(meant)}`,
  missing: ({ name, isEmpty = false }) => `${quote(name)} is ${isEmpty ? 'empty' : 'missing'}.`,
  twice: ({ name, meant }) =>
    `${quote(name)} and ${quote(meant)} are the same argument with different values; send one of them.`,
  wrong_shape: ({ name, wanted, found }) => `${quote(name)} must be ${a(wanted)}, not ${a(found)}.`,
  misplaced: ({ name, meant }) =>
    meant?.startsWith(`${name}.`)
      ? `${quote(name)} must be an object. Put its content into ${quote(meant)}.`
      : `${quote(name)} belongs in ${quote(meant)}.`,
  broken_json: ({ name, isTooLarge }) =>
    isTooLarge
      ? `${quote(name)} is JSON in a text, with too many values to be read. Send it as an object, and less of it.`
      : `${quote(name)} is not valid JSON; it may be cut off.`,
  inexact_number: ({ name, number }) =>
    `${quote(name)} is ${number}, a number that would be rounded; send it as text: "${number}".`,
  too_many: ({ name, found, max }) =>
    name === ''
      ? `The call has ${found} arguments; the maximum is ${max}.`
      : `${quote(name)} has ${found} entries; the maximum is ${max}.`,
  too_long: ({ name, bytes, bytesMax }) => `${quote(name)} has ${bytes} bytes; the maximum is ${bytesMax}.`,
  no_choice: ({ name, found, values, meant }) =>
    `Invalid value ${quote(found)} for ${quote(name)}. Choose one of: ${values.join(', ')}.${didYouMean(meant)}`,
  words_around_token: ({ name }) => `${quote(name)} has other text around its token.`,
};

function didYouMean(meant: string | undefined): string {
  return meant === undefined ? '' : ` Did you mean ${quote(meant)}?`;
}

function a(shape: ShapeName): string {
  return shape === 'object' ? 'an object' : `a ${shape}`;
}
