import { unreachable } from '../assert.ts';
import { canonicalLength } from '../json/canonical-json.ts';
import { type JsonObject, type JsonValue, quote } from '../json/json-value.ts';
import type { RiskPolicy } from '../log/autonomy.ts';
import type { Capability } from '../log/blockers.ts';
import { NOTE_BYTES_MAX, SUGGESTED_CALL_BYTES_MAX } from '../log/budgets.ts';
import { hole } from '../log/operation/stored-reply.ts';
import type { PreferenceWarning } from '../run/decide/drafts.ts';
import { blank, choiceBlank, sendWords } from '../run/form/blank.ts';
import { ignoredText } from '../settings/settings-words.ts';
import { clip, truncate } from '../text/utf8.ts';
import { shortList } from '../text/words.ts';
import type { ReplyWarning, WarningFact, WorkspaceProblem } from './warning-facts.ts';

const ODD_CHARACTERS = {
  half_character:
    'Your notes contain halves of characters (lone surrogates), which cannot be stored; each was replaced by "\uFFFD". Check the text you copied.',
  nul: 'Your notes contain the character NUL. It is stored, but shown as an escape. Leave it out next time.',
};

/** The only place that puts a warning into words. The risk policy changes how much advice comes with it, nothing else. */
export function replyWarning(fact: WarningFact, riskPolicy: RiskPolicy): ReplyWarning {
  const { code } = fact;
  switch (code) {
    case 'replay_ignored_new_output':
      return {
        code,
        message: 'This token was already used with other content. What you sent now was not recorded.',
      };
    case 'unset_value':
      return {
        code,
        message: `The prompt uses values that are not in context: ${listed(fact.names)}. Find these values, for example in earlier notes, and send them in "context" with the next call.${(fact.lists ?? []).map(listForm).join('')}`,
        details: { names: fact.names },
      };
    case 'skipped_for_unset_value':
      return skipped(fact);
    case 'note_cut':
    case 'notes_characters':
    case 'text_cut':
    case 'blank_left_out':
      return notAllOfIt(fact);
    case 'unknown_artifact_kind': {
      const kinds = fact.kinds.map((kind) => truncate(kind, 128));
      return { code, message: unknownKinds(fact.kinds), details: { kinds } };
    }
    case 'secret_in_context':
    case 'person_value_ignored':
      return aboutKeys(fact);
    case 'unreadable_artifact':
      return unreadable(fact);
    case 'capability_degraded':
      return { code, message: degraded(fact.capability, riskPolicy), details: { capability: fact.capability } };
    case 'exceeds_recommended_autonomy':
    case 'exceeds_recommended_risk_policy':
      return exceeded(fact, riskPolicy);
    case 'mode_capped':
    case 'approvers_missing':
    case 'setting_ignored':
    case 'workflow_overrides':
    case 'workflow_file_problem':
      return limited(fact);
    case 'workflow_changed':
      return changed(fact);
    case 'work_below':
      return workBelow(fact);
    case 'session_damaged':
      return damagedSessions(fact.sessionIds);
    case 'workflow_gone':
      return {
        code,
        message: `The file of ${fact.workflowId} no longer exists. The run continues with the version it started with.`,
      };
    case 'reference_unresolved':
    case 'reference_outside':
      return { code, message: documentProblem(fact), details: { titles: fact.titles } };
    case 'legacy_id':
    case 'renamed_id':
      return otherId(fact);
    case 'run_closed':
      return { code, message: closedRun(fact), details: { isReopened: fact.isReopened } };
    case 'workspace_not_used':
    case 'other_workspace':
      return aboutWorkspace(fact);
    default:
      return unreachable(code);
  }
}

function listForm({ name, prefix }: { readonly name: string; readonly prefix: string }): string {
  return ` Send ${name} as a list of strings that begin with ${prefix}1:, ${prefix}2:, and so on.`;
}

function documentProblem({ code, titles }: Extract<WarningFact, { titles: unknown }>): string {
  const isOne = titles.length === 1;
  const what = `${isOne ? 'This document' : 'These documents'} of the workflow`;
  const them = isOne ? 'it' : 'them';
  const names = listed(titles.map(shortQuote));
  return code === 'reference_unresolved'
    ? `${what} cannot be found on this machine: ${names}. Continue without ${them}, or ask the user for ${them}.`
    : `${what} ${isOne ? 'is' : 'are'} outside the workspace: ${names}. Somebody else wrote this workflow; ask the user before you read or follow ${them}.`;
}

/** What is not shown, or was not taken, in full. */
function notAllOfIt(
  fact: Extract<WarningFact, { code: 'note_cut' | 'notes_characters' | 'text_cut' | 'blank_left_out' }>,
): ReplyWarning {
  const { code } = fact;
  if (code === 'note_cut') {
    const message = `Your notes are longer than ${NOTE_BYTES_MAX} bytes; only the beginning was stored. Write shorter notes, or send the rest with the next step.`;
    return { code, message };
  }
  if (code === 'notes_characters') {
    return { code, message: fact.found.map((what) => ODD_CHARACTERS[what]).join(' '), details: { found: fact.found } };
  }
  if (code === 'text_cut') {
    return {
      code,
      message: `Too long to show in full: ${listed(fact.parts)}. A text that was cut ends in [TRUNCATED].`,
      details: { parts: fact.parts },
    };
  }
  return {
    code,
    message: `Not filled in, so it was left out: ${fact.units.join(', ')}. It is optional: send it filled in with the next call, or leave it out.`,
    details: { units: fact.units },
  };
}

/** What the user's settings or another file did not let through. */
function limited(
  fact: Extract<
    WarningFact,
    { code: 'mode_capped' | 'approvers_missing' | 'setting_ignored' | 'workflow_overrides' | 'workflow_file_problem' }
  >,
): ReplyWarning {
  const { code } = fact;
  switch (code) {
    case 'mode_capped': {
      const { asked, effective, cause } = fact;
      const message = `The mode is ${effective}, not ${asked}: ${cause} allows no more. Only the user can change that.`;
      return { code, message, details: { asked, effective } };
    }
    case 'approvers_missing': {
      const { known, needed } = fact;
      const who = needed === 1 ? 'an approver' : 'two approvers';
      const message = `A step of this run needs the signature of ${who}, and ${known === 0 ? 'nobody' : 'only one'} can sign. Tell the user now: the key of an approver is added with \`workrail approvers add\`, and a key that is added later counts only for runs that start after it.`;
      return { code, message, details: { known, needed } };
    }
    case 'setting_ignored':
      return {
        code,
        message: `${fact.settings.map(ignoredText).join(' ')} Tell the user.`,
        details: { keys: fact.settings.map(({ key }) => key) },
      };
    case 'workflow_overrides':
      return {
        code,
        message: `This workflow comes from ${fact.used} and overrides ${listed(fact.paths)}. Tell the user if that is not expected.`,
        details: { used: fact.used, paths: fact.paths.slice(0, LISTED_MAX) },
      };
    case 'workflow_file_problem': {
      const { path, problems } = fact;
      const shown = problems.slice(0, PROBLEMS_MAX).map((one) => clip(one, PROBLEM_BYTES_MAX));
      const more = problems.length > shown.length ? ` And ${problems.length - shown.length} more.` : '';
      const message = `${path} has parts without effect. ${shown.join(' ')}${more} Tell the user.`;
      return { code, message, details: { path, count: problems.length } };
    }
    default:
      return unreachable(code);
  }
}

/** Values are never repeated. */
function aboutKeys(fact: Extract<WarningFact, { code: 'secret_in_context' | 'person_value_ignored' }>): ReplyWarning {
  const { code, keys } = fact;
  const names = listed(keys.map(shortQuote));
  const message =
    code === 'secret_in_context'
      ? `These context values look like secrets: ${names}. They are stored as plain text. Do not send secrets: put them where your tools read them, such as an environment variable, and set these keys to null. Tell the user to replace any real secret.`
      : `Only a person may set ${names}, so the value you sent was ignored. What the person answers is used.`;
  return { code, message, details: { keys: keys.slice(0, LISTED_MAX).map((key) => truncate(key, 128)) } };
}

/** What was sent is kept as it is; sending it again as a checkpoint makes it count. */
function unreadable({ code, message, corrected }: Extract<WarningFact, { code: 'unreadable_artifact' }>): ReplyWarning {
  if (corrected === undefined) return { code, message };
  return {
    code,
    message: `${message} It was stored without effect. To make it count, ${sendWords(corrected)}:`,
    suggestedCall: {
      tool: 'checkpoint_workflow',
      arguments: { checkpointToken: hole('checkpointToken'), output: { artifacts: [corrected] } },
    },
  };
}

/** The reply is about a step whose report was blocked before, at another place. */
function workBelow({ code, stateToken }: Extract<WarningFact, { code: 'work_below' }>): ReplyWarning {
  const message =
    'An earlier report of this step was blocked; what you sent with it is kept. To continue from there and send only what is missing:';
  return { code, message, suggestedCall: { tool: 'continue_workflow', arguments: { stateToken } } };
}

/** The command that shows why sessions cannot be read. */
export function verifyCommand(sessionIds: readonly string[]): string {
  const [first = '', ...more] = sessionIds;
  return `workrail session verify${more.length === 0 ? ` ${first}` : ''}`;
}

function damagedSessions(sessionIds: readonly string[]): ReplyWarning {
  const [first = '', ...more] = sessionIds;
  const command = verifyCommand(sessionIds);
  const what =
    more.length === 0
      ? `Session ${first} cannot be read and was`
      : `${sessionIds.length} sessions cannot be read and were`;
  return {
    code: 'session_damaged',
    message: `${what} left out. This command shows why: ${command}`,
    details: { sessionIds: sessionIds.slice(0, LISTED_MAX), command },
  };
}

function closedRun({ isReopened, isOver = false }: Extract<WarningFact, { code: 'run_closed' }>): string {
  if (isReopened) {
    return 'The user had closed this run, and your call reopened it. Unless the user asked for that, stop here and tell the user.';
  }
  return `The user has closed this run. ${isOver ? 'Save notes in it' : 'Do its step'} only if the user asks for it; that reopens the run.`;
}

function otherId(fact: Extract<WarningFact, { code: 'legacy_id' | 'renamed_id' }>): ReplyWarning {
  const { code, workflowId } = fact;
  if (code === 'renamed_id') {
    const { canonicalId } = fact;
    const message = `"${workflowId}" is now called "${canonicalId}". The old id still works; use the new one.`;
    return { code, message, details: { canonicalId } };
  }
  const { suggestedId } = fact;
  const message = `The id "${workflowId}" has no namespace. It still works; rename it to "${suggestedId}" when you can.`;
  return { code, message, details: { suggestedId } };
}

/** Only the user changes the mode, so the agent is never asked to. */
function exceeded({ code, recommended, effective }: PreferenceWarning, riskPolicy: RiskPolicy): ReplyWarning {
  const what = code === 'exceeds_recommended_autonomy' ? 'mode' : 'risk policy';
  const message = `The ${what} is ${effective}; this workflow recommends a more cautious one, ${recommended}.${EXCEEDED_ADVICE[riskPolicy]}`;
  return { code, message, details: { recommended, effective } };
}

const EXCEEDED_ADVICE: { readonly [policy in RiskPolicy]: string } = {
  conservative: ' Tell the user.',
  balanced: ' Tell the user if it affects the result.',
  aggressive: '',
};

/** The call repeats the goal and the context; a context that is too long is named instead. */
function changed({ code, workflowId, nextCall }: Extract<WarningFact, { code: 'workflow_changed' }>): ReplyWarning {
  const { context, ...others } = nextCall.arguments;
  const isLong = canonicalLength(nextCall.arguments) > SUGGESTED_CALL_BYTES_MAX;
  const keys = isLong && typeof context === 'object' && context !== null ? Object.keys(context) : [];
  const again = keys.length === 0 ? '' : `, with the context you still need of ${listed(keys.map(shortQuote))}`;
  return {
    code,
    message: `The file of ${workflowId} changed after this run started. The run continues with the version it started with. To switch, start the new version${again}:`,
    suggestedCall: keys.length === 0 ? nextCall : { tool: nextCall.tool, arguments: others },
  };
}

/** One warning for all of them. The blanks name values that would make the first step due; only the agent knows them. */
function skipped({
  code,
  skipped: all,
  again,
}: Extract<WarningFact, { code: 'skipped_for_unset_value' }>): ReplyWarning {
  const keys = [...new Set(all.flatMap((one) => one.keys))];
  const known: JsonObject = Object.assign({}, ...all.map((one) => one.context).reverse());
  const context = Object.fromEntries(keys.slice(0, SET_MAX).map((key) => [key, valueBlank(key, known[key])]));
  const steps = all.map(({ stepId }) => stepId);
  const what = `Skipped because context does not have ${listed(keys.map(shortQuote), SET_MAX)}: ${listed(steps, SKIPPED_MAX)}.`;
  const toRun = steps.length === 1 ? 'To run that step' : 'To run those steps';
  const details = { steps: steps.slice(0, LISTED_MAX), keys: keys.slice(0, LISTED_MAX) };
  if (again === undefined) {
    return { code, message: `${what} ${toRun}, start again with context like ${quote(context)}.`, details };
  }
  const message = `${what} ${toRun}, send your last output again with the right values:`;
  return {
    code,
    message,
    details,
    suggestedCall: { tool: 'continue_workflow', arguments: { ackToken: again, context } },
  };
}

function valueBlank(key: string, known: JsonValue | undefined): string {
  return known === undefined || known === null ? blank(`value of ${key}`) : choiceBlank([known]);
}

function unknownKinds(kinds: readonly string[]): string {
  const names = listed(kinds.map(shortQuote));
  return kinds.length === 1
    ? `Unknown artifact kind ${names}. It is stored but meets no requirement. Check the spelling of "kind".`
    : `Unknown artifact kinds ${names}. They are stored but meet no requirement. Check the spelling of "kind".`;
}

function degraded(capability: Capability, riskPolicy: RiskPolicy): string {
  const what = capability === 'delegation' ? 'delegate' : 'browse the web';
  const advice = riskPolicy === 'conservative' ? ' Write in your notes what was left unchecked because of that.' : '';
  return `You cannot ${what} here, so do the work ${capability === 'delegation' ? 'yourself' : 'without it'}.${advice}`;
}

const LISTED_MAX = 20;
const PROBLEMS_MAX = 3;
const PROBLEM_BYTES_MAX = 160;
const SKIPPED_MAX = 3;
const SET_MAX = 5;

/** A text that an agent sent, on one line and shortened. */
function shortQuote(text: string): string {
  return quote(text.length > 64 ? `${text.slice(0, 64)}…` : text);
}

/** Without any workflow, what was delivered with the program is gone. */
export const NO_WORKFLOWS =
  'There are no workflows: those that belong to WorkRail are missing. Ask the user to install WorkRail again.';

function aboutWorkspace(fact: Extract<WarningFact, { code: 'workspace_not_used' | 'other_workspace' }>): ReplyWarning {
  if (fact.code === 'workspace_not_used') return unusedWorkspace(fact);
  const { code, root, own } = fact;
  const message = `attachTo joined a session that works in ${quote(root)}: the checks of this run run there, and its approvals are about the files there. To work in ${quote(own)}, call start_workflow again without attachTo, and do not continue this run.`;
  return { code, message, details: { root, own } };
}

function unusedWorkspace(fact: Extract<WarningFact, { code: 'workspace_not_used' }>): ReplyWarning {
  const { code, problem, isNeededForChecks = false } = fact;
  const checks = isNeededForChecks
    ? ' This workflow has checks, which need a workspace, and this run has none. Call start_workflow again with the full path of the project as workspacePath. Do not continue this run.'
    : '';
  return { code, message: `${explainWorkspace(problem)}${checks}`, details: { path: problem.path } };
}

/** Why the project's own workflows are missing, and which workflows are listed. */
export function explainWorkspace({ path, reason }: WorkspaceProblem): string {
  return `workspacePath was not used: ${wordsFor(quote(path), reason)} Only the bundled workflows and the user's own were searched.`;
}

function wordsFor(path: string, reason: WorkspaceProblem['reason']): string {
  switch (reason.code) {
    case 'not_absolute':
      return `${path} is not an absolute path. Send the full path of the project folder.`;
    case 'not_there':
      return `the folder ${path} does not exist.`;
    case 'not_a_folder':
      return `${path} is not a folder.`;
    case 'io_failed':
      return `reading ${path} failed (${reason.cause}).`;
    default:
      return unreachable(reason);
  }
}

function listed(names: readonly string[], max = LISTED_MAX): string {
  return shortList(names, max);
}
