import type { JsonObject } from '../json/json-value.ts';
import type { Capability } from '../log/blockers.ts';
import type { Call } from '../log/error-envelope.ts';
import type { PreferenceWarning } from '../run/decide/drafts.ts';
import type { UnsetSkip } from '../run/walk/walk.ts';
import type { IgnoredSetting } from '../settings/resolve-settings.ts';
import type { ModeCap } from '../settings/settings-in-effect.ts';

/** What there is to warn about, as facts. */
export type WarningFact =
  | { readonly code: 'note_cut' }
  | { readonly code: 'replay_ignored_new_output' }
  | {
      readonly code: 'unset_value';
      readonly names: readonly string[];
      /** Those of the names that are lists whose entries have ids. */
      readonly lists?: readonly { readonly name: string; readonly prefix: string }[];
    }
  | {
      readonly code: 'skipped_for_unset_value';
      readonly skipped: readonly UnsetSkip[];
      /** A token for another attempt at the step before them; a new run has none. */
      readonly again?: JsonObject;
    }
  /** What was cut, named so that a reader knows where to look for the rest. */
  | { readonly code: 'text_cut'; readonly parts: readonly string[] }
  /** The notes contain halves of characters, or NUL. */
  | { readonly code: 'notes_characters'; readonly found: readonly ('half_character' | 'nul')[] }
  /** Keys of context that look like something secret, which is stored as it is. */
  | { readonly code: 'secret_in_context'; readonly keys: readonly string[] }
  /** Keys of context that only a person may set. */
  | { readonly code: 'person_value_ignored'; readonly keys: readonly string[] }
  /** What was sent as a blank although nothing requires it. */
  | { readonly code: 'blank_left_out'; readonly units: readonly string[] }
  | { readonly code: 'unknown_artifact_kind'; readonly kinds: readonly string[] }
  /** `corrected`: what to send instead. */
  | { readonly code: 'unreadable_artifact'; readonly message: string; readonly corrected?: JsonObject | undefined }
  | { readonly code: 'capability_degraded'; readonly capability: Capability }
  | PreferenceWarning
  /** What lowered the mode, and where that is set. */
  | ({ readonly code: 'mode_capped' } & ModeCap)
  /** Fewer people than needed can sign what this run needs signed. */
  | { readonly code: 'approvers_missing'; readonly known: number; readonly needed: number }
  /** Settings of the project or the environment that would loosen what applies. */
  | { readonly code: 'setting_ignored'; readonly settings: readonly IgnoredSetting[] }
  /** The workflow is used instead of others with the same id. */
  | { readonly code: 'workflow_overrides'; readonly used: string; readonly paths: readonly string[] }
  /** What has no effect in a file that the workflow comes from. */
  | { readonly code: 'workflow_file_problem'; readonly path: string; readonly problems: readonly string[] }
  | {
      readonly code: 'workflow_changed';
      readonly workflowId: string;
      readonly nextCall: NonNullable<ReplyWarning['suggestedCall']>;
    }
  /** Where a report of this step was blocked. */
  | { readonly code: 'work_below'; readonly stateToken: string }
  | { readonly code: 'session_damaged'; readonly sessionIds: readonly string[] }
  | { readonly code: 'workflow_gone'; readonly workflowId: string }
  | { readonly code: 'reference_unresolved' | 'reference_outside'; readonly titles: readonly string[] }
  | { readonly code: 'legacy_id'; readonly workflowId: string; readonly suggestedId: string }
  | { readonly code: 'renamed_id'; readonly workflowId: string; readonly canonicalId: string }
  /** Whether this call reopened the run, and whether the run is complete. */
  | { readonly code: 'run_closed'; readonly isReopened: boolean; readonly isOver?: boolean }
  /** The run joined a session that works in another folder: the checks and approvals of the run are about that one. */
  | { readonly code: 'other_workspace'; readonly root: string; readonly own: string }
  /** `isNeededForChecks`: the workflow has checks, and the run has no workspace to run them in. */
  | { readonly code: 'workspace_not_used'; readonly problem: WorkspaceProblem; readonly isNeededForChecks?: boolean };

/** Why the workspace folder of a call was not searched. */
export type WorkspaceProblem = {
  readonly path: string;
  readonly reason:
    | { readonly code: 'not_absolute' | 'not_there' | 'not_a_folder' }
    | { readonly code: 'io_failed'; readonly cause: string };
};

/** Everything a reply may warn about. None of it stops a run. */
export const REPLY_WARNING_CODES = [
  /** The notes are longer than the limit. */
  'note_cut',
  /** This token was already used with other content; the new content was not recorded. */
  'replay_ignored_new_output',
  /** A prompt uses a value that is not in context. */
  'unset_value',
  /** A step was skipped because context does not have what its condition asks for. */
  'skipped_for_unset_value',
  'unknown_artifact_kind',
  /** An invalid artifact that the engine would otherwise have used. */
  'unreadable_artifact',
  /** A preferred capability is not available. */
  'capability_degraded',
  'exceeds_recommended_autonomy',
  'exceeds_recommended_risk_policy',
  /** The settings allow no mode as loose as the one that was asked for. */
  'mode_capped',
  /** A step needs a signed answer, and nobody, or only one of two, can sign it. */
  'approvers_missing',
  /** A project or the environment tried to loosen a setting. */
  'setting_ignored',
  /** The workflow is used instead of another file with the same id. */
  'workflow_overrides',
  /** Something in the file of the workflow, or in the bindings of the project, has no effect. */
  'workflow_file_problem',
  /** The file of the workflow has changed or is gone; the run continues with the version it pinned. */
  'workflow_changed',
  'workflow_gone',
  /** A report of this step was blocked at another place, and continuing there keeps what it sent. */
  'work_below',
  /** A stored session cannot be read, so its runs were not offered. */
  'session_damaged',
  'reference_unresolved',
  /** A file that the user did not write refers to a document outside of the workspace. */
  'reference_outside',
  'legacy_id',
  /** A bundled workflow was requested by an old id. */
  'renamed_id',
  /** A blank that nothing requires was sent back as it was. */
  'blank_left_out',
  /** What became of the question to the person at the client; only a live reply has it. */
  'person_asked',
  /** The workspace path is not a folder, so the project's own workflows were not searched. */
  'workspace_not_used',
  /** The run joined a session that works in another folder, where its checks and approvals belong. */
  'other_workspace',
  /** The user has closed the run; continuing reopens it. */
  'run_closed',
  /** A value in context looks like a secret; it is stored as it is. */
  'secret_in_context',
  /** The agent sent a value that only a person may set; it was not taken. */
  'person_value_ignored',
  /** Notes contain characters that cannot be stored, or not be shown, as they are. */
  'notes_characters',
  /** Something shown in the reply was cut to its budget. */
  'text_cut',
] as const;

/** Something the agent should know about the call it just made. */
export type ReplyWarning = {
  readonly code: (typeof REPLY_WARNING_CODES)[number];
  readonly message: string;
  readonly details?: JsonObject;
  /** A call that would fix it; the run continues without it. */
  readonly suggestedCall?: Call;
};
