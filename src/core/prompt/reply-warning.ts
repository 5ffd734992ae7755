import type { JsonObject } from '../json/json-value.ts';

/** Everything a reply may warn about. None of it stops a run. */
export const REPLY_WARNING_CODES = [
  /** The notes were longer than a note may be. */
  'note_cut',
  /** This token was used before, with other content; what came now was not recorded. */
  'replay_ignored_new_output',
  /** A prompt names a value that context does not have. */
  'unset_value',
  /** A step was skipped because context does not have what its condition asks for. */
  'skipped_for_unset_value',
  'unknown_artifact_kind',
  /** An artifact that the engine would have acted on, had it been right. */
  'unreadable_artifact',
  /** A preferred capability is not available. */
  'capability_degraded',
  'exceeds_recommended_autonomy',
  'exceeds_recommended_risk_policy',
  /** The file that the run was started from has changed, or is gone; the run goes on with what it pinned. */
  'workflow_changed',
  'workflow_gone',
  'reference_unresolved',
  'legacy_id',
  /** A bundled workflow was asked for by an id that it used to have. */
  'renamed_id',
  /** The folder that the call names is none, so the project's own workflows were not looked at. */
  'workspace_not_used',
  /** Somebody has closed the run; going on opens it again. */
  'run_closed',
  /** Something shown in the reply was cut to its budget. */
  'text_cut',
] as const;

/** Something the agent should know about the call it just made. */
export type ReplyWarning = {
  readonly code: (typeof REPLY_WARNING_CODES)[number];
  readonly message: string;
  readonly details?: JsonObject;
  /** A call that would be a way out; the run goes on without it. */
  readonly suggestedCall?: { readonly tool: string; readonly arguments: JsonObject };
};
