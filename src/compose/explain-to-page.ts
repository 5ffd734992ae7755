import { resumeProblem } from '../cli/sessions/session-words.ts';
import { upkeepProblem } from '../cli/upkeep/upkeep-words.ts';
import type { ErrorEnvelope } from '../core/log/error-envelope.ts';

/** What a person at the page reads. What is not the store's fault has words of its own. */
export function explainedToPage(
  refusal: { readonly code: string },
  dataDir: string,
  refusals: PageRefusals = PAGE_REFUSALS,
): ErrorEnvelope {
  const known = refusals[refusal.code];
  if (known === undefined) {
    const isAboutResuming = ['session_not_whole', 'session_not_accepted', 'keys_missing'].includes(refusal.code);
    return isAboutResuming
      ? resumeProblem(refusal as Parameters<typeof resumeProblem>[0], dataDir).error
      : upkeepProblem(refusal as Parameters<typeof upkeepProblem>[0], dataDir).error;
  }
  const [message, suggestion] = known;
  const code = refusal.code === 'session_not_found' ? 'SESSION_NOT_FOUND' : 'VALIDATION_ERROR';
  return { code, message, suggestion, retry: { kind: 'not_retryable' } };
}

type PageRefusals = { readonly [code: string]: readonly [message: string, suggestion: string] };

const PAGE_REFUSALS: PageRefusals = {
  not_waiting: [
    'This draft is no longer waiting for you: it was changed or used. Nothing was recorded.',
    'Look at what waits now.',
  ],
  not_at_terminal: [
    'This console was not started at a terminal, so it takes no decisions: a program may have started it. Nothing was recorded.',
    'Run "workrail console" in a terminal of your own, and decide in the page that it opens.',
  ],
  loosening_unconfirmed: ['This lets the agent do more on its own. Nothing was changed.', 'Confirm that you want it.'],
  nothing_unfinished: ['The run is complete, so its mode no longer matters.', 'Nothing was changed.'],
  already_used: ['The step is already done, so the answer has no effect.', 'Look at the session.'],
  channel_not_accepted: [
    'Answers in the console do not count here: the setting gates.accept leaves "console" out.',
    'Answer on a channel that it names, or change it: workrail config set gates.accept',
  ],
  draft_changed: [
    'What would be approved changed while you were reading. Nothing was recorded.',
    'Read the new draft.',
  ],
  signature_needed: [
    'Only an answer with the signature of an approver opens this gate. Nothing was recorded.',
    'Sign it with a passkey, or run "workrail answer TAG --sign" in a terminal of your own.',
  ],
  signature_refused: [
    'This signature does not count for this run. Nothing was recorded.',
    'The key must have been among the approvers when the run started. "workrail approvers list" shows who counts.',
  ],
  own_draft: [
    'In this space somebody else must approve: this is your own run, or the draft of your own agent. Nothing was recorded.',
    'Ask another approver. You can still reject it.',
  ],
  own_run_never_stop: [
    'In this space somebody else must approve what your own run or agent hands in, and never-stop would go past that. Nothing was changed.',
    'Ask another approver to set this mode.',
  ],
  files_unknown: [
    'Git cannot list the files of the workspace, so a signature would not cover them. Nothing was recorded.',
    'Look at the draft again: it says why, and what to do.',
  ],
  session_partial: [
    'Only part of this session is intact, and a passport is about a whole session.',
    'Run "workrail session verify" to see what is damaged.',
  ],
  log_signature_wrong: [
    'A signature in the log of this session is wrong: the log was changed.',
    'Run "workrail session verify", and restore the session from a backup.',
  ],
  session_not_found: ['There is no such session.', 'It may have been deleted. Go back to the list.'],
};

/** The same on a team server, where nobody sits at a terminal and no setting of a machine holds. */
export const TEAM_REFUSALS: PageRefusals = {
  ...PAGE_REFUSALS,
  not_at_terminal: [
    'Only an approver who signed in within the last 15 minutes decides this. Nothing was recorded.',
    'Sign in again, or ask an approver of the space.',
  ],
  channel_not_accepted: ['Answers in the console do not count in this space.', 'Ask an admin of the space.'],
};
