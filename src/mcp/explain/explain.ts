import type { InvalidFile } from '../../app/catalog/catalog.ts';
import type { ResumeRefusal } from '../../app/resume/resume-session.ts';
import type { AdvanceRefusal } from '../../app/run/advance.ts';
import type { CheckpointRefusal } from '../../app/run/checkpoint.ts';
import type { RehydrateRefusal } from '../../app/run/rehydrate.ts';
import type { StartSessionRefusal } from '../../app/run/start-session.ts';
import type { StartRefusal } from '../../app/run/start-workflow.ts';
import { byCode } from '../../core/assert.ts';
import { isObject, type JsonObject, quote } from '../../core/json/json-value.ts';
import type { ErrorEnvelope, Retry } from '../../core/log/error-envelope.ts';
import { explainWorkspace, NO_WORKFLOWS } from '../../core/prompt/reply-warnings.ts';
import { nearest } from '../../core/text/spelling.ts';
import { andList } from '../../core/text/words.ts';
import type { ArgumentRefusal } from '../arguments/read-arguments.ts';
import {
  callToList,
  callToSave,
  callWithFittingToken,
  fittedCall,
  recentTokens,
  type Words,
  type WordsFor,
  withRetryToken,
} from './corrected-call.ts';
import { explainArguments } from './explain-arguments.ts';
import { INPUT_WORDS, type InputRefusal } from './explain-input.ts';
import { SESSION_WORDS, SPACE_FULL_WORDS, STORE_WORDS } from './explain-store.ts';
import { TOKEN_WORDS } from './explain-token.ts';
import type { Situation } from './situation.ts';

/** Everything a call may be refused for. */
export type Refusal =
  | StartRefusal
  | AdvanceRefusal
  | RehydrateRefusal
  | CheckpointRefusal
  | ResumeRefusal
  | StartSessionRefusal
  | InputRefusal
  | ArgumentRefusal
  | { readonly code: 'tool_unknown'; readonly tools: readonly string[] }
  | { readonly code: 'token_missing' }
  /** Something to record came with a token that only shows. */
  | { readonly code: 'payload_without_ack' }
  /** The caller may look at everything in this space, but not change it. */
  | { readonly code: 'role_too_small' }
  /** A fault of our own. What it was stands in the log, not in the reply. */
  | { readonly code: 'our_fault' };

/** The words for a refusal, with what to do next and, if a call would fix it, that call. */
export function explain(refusal: Refusal, situation: Situation): ErrorEnvelope {
  const { call, code = 'VALIDATION_ERROR', message, suggestion, ...words } = byCode(WORDS, refusal, situation);
  const { retry = NOT_RETRYABLE, ...more } = words;
  const isPassing = retry.kind !== 'not_retryable';
  const next =
    withRetryToken(call, situation) ?? (isPassing ? { tool: situation.tool, arguments: situation.sent } : undefined);
  const fitted = next === undefined ? undefined : fittedCall(next);
  const { repeat = [] } = fitted ?? {};
  const again = repeat.length === 0 ? [] : [`Add ${andList(repeat)} again; it is too long to repeat here.`];
  const [run] = situation.tokens;
  const details = {
    ...more.details,
    ...(run === undefined ? {} : { run: { tag: run.tag, workflowId: run.workflowId } }),
    ...(repeat.length === 0 ? {} : { repeat }),
  };
  return {
    code,
    message,
    suggestion: [suggestion, ...again].join(' '),
    retry,
    ...more,
    ...(Object.keys(details).length === 0 ? {} : { details }),
    ...(fitted === undefined ? {} : { nextCall: fitted.call }),
  };
}

/** How many problems fit in one error. */
const PROBLEMS_SHOWN_MAX = 5;

const PATH_WRONG = 'belongs to a project, send your call again with a correct workspacePath.';
const OF_PROJECT = "belongs to a project, send the project's absolute path as workspacePath.";

const TOKEN_WANTED =
  'From the last reply, send the ackToken to report the step, or the stateToken to see the step again. If you have neither, call resume_session.';

const WORDS: WordsFor<Refusal> = {
  ...TOKEN_WORDS,
  ...INPUT_WORDS,
  ...STORE_WORDS,
  ...SESSION_WORDS,
  arguments_wrong: explainArguments,
  tool_unknown: ({ tools }, { tool, sent }) => {
    const near = nearest(tool, tools) ?? onlyOneAbout(tool, tools);
    const instead = near === undefined ? undefined : firstCallFor(near, { tools, sent });
    const missing = instead === undefined ? '' : ` ${instead.words}`;
    return {
      message: `Unknown tool ${quote(tool)}.`,
      suggestion: near === undefined ? `Call one of: ${tools.join(', ')}.` : `Did you mean ${near}?${missing}`,
      call: near === undefined ? undefined : instead === undefined ? { tool: near, arguments: sent } : instead.call,
    };
  },
  token_missing: (_, situation) => {
    const { recent, tool } = situation;
    const runs = recent.map(({ tag, workflowId }) => `run ${tag} (${workflowId})`);
    const call = callWithFittingToken(situation);
    return {
      message: `${tool} was called without a token.${runs.length === 0 ? '' : ` Runs recently used on this server: ${runs.join(', ')}.`}`,
      suggestion: call === undefined ? tokenWanted(situation) : 'If this is the run you mean, send the corrected call.',
      ...(recent.length === 0 ? {} : { details: { runs: recent } }),
      call,
    };
  },
  payload_without_ack: (_, situation) => payloadWithoutAck(situation),
  nothing_to_keep: ({ tag, workflowId }, situation) => ({
    message: `There is nothing to save in run ${tag} (${workflowId}).`,
    suggestion: 'Send the call again with your notes so far in `output.notesMarkdown`.',
    call: callToSave(situation),
  }),
  notes_not_replaceable: ({ reason, lacking, tag, workflowId }, { tool, sent }) => ({
    ...NOT_REPLACEABLE[reason](`run ${tag} (${workflowId})`, lacking),
    ...(reason === 'no_notes' ? { call: { tool, arguments: withoutReplacing(sent) } } : {}),
  }),
  form_unfilled: ({ fields }) => ({
    message: `You sent the form unfilled: ${fields.slice(0, PROBLEMS_SHOWN_MAX).join(', ')}. Nothing was stored.`,
    suggestion: 'Fill in every `<fill: …>` with your own words, or leave the field out. Then send the call again.',
    details: { fields },
  }),
  attempts_used_up: ({ attemptsMax }) => ({
    message: `This step was tried ${attemptsMax} times, the maximum for a step.`,
    suggestion: 'Continue from its last blocked attempt or from an earlier step, or call start_workflow.',
  }),
  notes_too_long: ({ length, lengthMax }) => ({
    message: `The notes have ${length} characters. The rules of this step can be checked on at most ${lengthMax}. Nothing was recorded.`,
    suggestion: 'Shorten the notes, put long output in a file and give its path, and send the call again.',
    details: { measured: length, max: lengthMax, method: 'characters (UTF-16 units)' },
  }),
  config_broken: ({ problem }) => ({
    message: `A WorkRail setting is invalid, so no run was started. ${problem}`,
    suggestion: 'Ask the user to fix it, then send the same call again.',
  }),
  role_too_small: () => ({
    code: 'FORBIDDEN',
    message: 'You are signed in as a reader of this space. Nothing was recorded.',
    suggestion:
      'Ask the user to have an admin of the space give you the role agent. You can still look at workflows and runs.',
  }),
  not_owner: ({ owner }) => ({
    code: 'FORBIDDEN',
    message: `In this space only ${owner} may continue this run. Nothing was recorded.`,
    suggestion: `Ask the user to have ${owner} or an admin of the space hand it over (workrail session hand-over). You can still look at it.`,
  }),
  space_full: ({ limit, max }) => ({
    code: 'STORE_IO',
    ...SPACE_FULL_WORDS[limit](max),
    details: { limit, max },
  }),
  our_fault: () => ({
    code: 'INTERNAL',
    message: 'Internal error in WorkRail. What was recorded before is safe.',
    suggestion:
      'Send the same call again. If it fails again, ask the user to report it with the output of the server log.',
    retry: { kind: 'retryable_immediate' },
  }),
  workflow_not_found: ({ workflowId, known, meant, waiting, workspaceProblem }, situation) => {
    // Other workflows would make one of a source look like a typing mistake, and an agent would start them.
    if (waiting !== undefined) {
      return {
        code: 'WORKFLOW_NOT_FOUND',
        message: `Unknown workflow ${quote(workflowId)}. It may be in a source that the user has not accepted yet.`,
        suggestion: `Do not start another workflow instead. Show this to the user, and send the same call again when the user has decided. ${waiting.join('\n')}`,
      };
    }
    const { tool, sent } = situation;
    const { workspacePath: _bad, ...withoutPath } = sent;
    const usable = workspaceProblem === undefined ? situation : { ...situation, sent: withoutPath };
    const workspace = workspaceProblem === undefined ? '' : ` ${explainWorkspace(workspaceProblem)}`;
    const { id: near, choices } = meant;
    const choice = choices.length === 0 ? known : choices;
    const none = choice.length === 0 ? NO_WORKFLOWS : `Choose one of: ${choice.join(', ')}.`;
    const other = near === undefined ? none : `Did you mean ${quote(near)}?`;
    const ofProject = sent['workspacePath'] === undefined ? ` If ${quote(workflowId)} ${OF_PROJECT}` : '';
    return {
      code: 'WORKFLOW_NOT_FOUND',
      message: `Unknown workflow ${quote(workflowId)}.${workspace}`,
      suggestion: `${other}${workspaceProblem === undefined ? ofProject : ` If ${quote(workflowId)} ${PATH_WRONG}`}`,
      call: near === undefined ? callToList(usable) : { tool, arguments: { ...usable.sent, workflowId: near } },
    };
  },
  workflow_invalid: ({ workflowId, invalid }, situation) => ({
    code: 'WORKFLOW_INVALID',
    message: `The file of workflow "${workflowId}" is invalid: ${invalid.file.ref}. ${problems(invalid)}`,
    suggestion: 'Fix the file and send the call again, or choose another workflow from the list.',
    call: callToList(situation),
  }),
};

const NOT_RETRYABLE: Retry = { kind: 'not_retryable' };

/** The first errors; more than that nobody fixes at once. */
function problems({ diagnostics }: InvalidFile): string {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const shown = errors.slice(0, PROBLEMS_SHOWN_MAX);
  const more = errors.length - shown.length;
  const words = shown.map(({ line, column, message }) => `Line ${line}, column ${column}: ${message}`);
  return [...words, ...(more > 0 ? [`And ${more} more; list_workflows shows them.`] : [])].join(' ');
}

function tokenWanted(situation: Situation): string {
  return [TOKEN_WANTED, recentTokens(situation)?.suggestion ?? ''].join(' ').trim();
}

/** The call that leads to what a tool cannot do without; `undefined` if it has that, or needs nothing. */
function firstCallFor(
  tool: string,
  { tools, sent }: { readonly tools: readonly string[]; readonly sent: JsonObject },
): { readonly words: string; readonly call: NonNullable<Words['call']> } | undefined {
  const [keys, words, first] = NEEDED[tool] ?? [];
  if (keys === undefined || first === undefined || !tools.includes(first)) return undefined;
  return keys.some((key) => sent[key] !== undefined)
    ? undefined
    : { words: words ?? '', call: { tool: first, arguments: {} } };
}

const FROM_TOKEN = [['ackToken', 'stateToken'], TOKEN_WANTED, 'resume_session'] as const;
const FROM_ID = [['workflowId'], 'It needs a workflowId, which list_workflows shows.', 'list_workflows'] as const;
const NEEDED: { readonly [tool: string]: readonly [keys: readonly string[], words: string, first: string] } = {
  continue_workflow: FROM_TOKEN,
  checkpoint_workflow: FROM_TOKEN,
  start_workflow: FROM_ID,
  inspect_workflow: FROM_ID,
};

/** Clients prefix a tool with the name of the server, and agents shorten it. */
function onlyOneAbout(name: string, tools: readonly string[]): string | undefined {
  const [found, ...more] = tools.filter((tool) => name.includes(tool) || (name !== '' && tool.startsWith(name)));
  return more.length === 0 ? found : undefined;
}

function payloadWithoutAck(situation: Situation): Words {
  const [token] = situation.tokens;
  const call = callWithFittingToken(situation);
  if (token !== undefined && token.ackToken === undefined && !situation.isShared) {
    return {
      call,
      message: `Run ${token.tag} (${token.workflowId}) is complete, so there is no step to report.`,
      suggestion: 'Tell the user that it is done. The call below shows how it ended; start_workflow starts a new run.',
    };
  }
  return {
    call,
    message: 'A stateToken only shows its step again, so nothing you sent with it was recorded.',
    suggestion:
      token?.ackToken === undefined
        ? 'Send the stateToken alone to see the step. Then send this again with the ackToken of that reply.'
        : 'Send the corrected call. It has the ackToken of that step and everything you sent.',
  };
}

type NotReplaceable = Extract<CheckpointRefusal, { code: 'notes_not_replaceable' }>['reason'];

const NOT_REPLACEABLE: {
  readonly [reason in NotReplaceable]: (
    run: string,
    lacking?: readonly string[],
  ) => Pick<Words, 'message' | 'suggestion'>;
} = {
  answered: (run) => ({
    message: `A person answered with these notes of ${run} in view, so they stay as they are. Nothing was stored.`,
    suggestion:
      'Save what is wrong with them as a further note, without `replacesNotes`. To change what was answered, do that step again from its stateToken: then the person is asked again.',
  }),
  notes_lacking: (run, lacking = []) => ({
    message: `The new notes do not have what the finished step of ${run} required. Nothing was stored. ${lacking.join(' ')}`,
    suggestion: 'Send the complete corrected notes, with what is missing.',
  }),
  no_notes: (run) => ({
    message: `There are no notes to replace at this place of ${run}: no step was finished here. Nothing was stored.`,
    suggestion: 'To save the notes, send the call without `replacesNotes`.',
  }),
  still_a_draft: (run) => ({
    message: `The step of ${run} was blocked, so its notes are still a draft. Nothing was stored.`,
    suggestion: 'Send the corrected notes with continue_workflow and the ackToken of the blocked reply.',
  }),
  run_continued: (run) => ({
    message: `${run.replace('run', 'Run')} continued from that step, so its notes stay as they are. Nothing was stored.`,
    suggestion:
      'Save what is wrong with them as a note of the current step: use the checkpointToken of the last reply, without `replacesNotes`.',
  }),
};

function withoutReplacing(sent: JsonObject): JsonObject {
  const { output } = sent;
  if (!isObject(output)) return sent;
  const { replacesNotes: _, ...kept } = output;
  return { ...sent, output: kept };
}
