/** All limits of what is stored or shown, with their reasons. Limits of texts are in UTF-8 bytes. */

/** A blocked reply must fit on one screen of an agent's context. */
export const BLOCKERS_MAX = 10;
/** One sentence that names the problem; a longer one would hide it. */
export const BLOCKER_MESSAGE_BYTES_MAX = 512;
/** Room for a corrected example call. */
export const BLOCKER_FIX_BYTES_MAX = 1024;

/** The facts of a blocker or a gap, as canonical JSON: the numbers and names in its sentence. */
export const DETAILS_BYTES_MAX = 4096;
/** Room for a sentence with a list of names in it, and for a fix with an example. */
export const ERROR_TEXT_BYTES_MAX = 4096;
/** Room for a whole report of blockers, each with its details. */
export const ERROR_DETAILS_BYTES_MAX = 262_144;

/** A corrected call repeats what was sent, so that it can be sent unchanged; more would fill the agent's context. */
export const REPEATED_CALL_BYTES_MAX = 16 * 1024;

/** A gap, divergence or trace summary is one or two sentences. */
export const SUMMARY_BYTES_MAX = 512;

/** A trace explains one decision; more entries go into another event. */
export const TRACE_ENTRIES_MAX = 25;
/** Enough for nested loops with their iterations. */
export const TRACE_REFS_MAX = 10;
/** Traces are never needed for correctness, so they must not slow down loading. */
export const TRACE_BYTES_MAX = 8192;

/** Large, because cutting a note loses the agent's work. */
export const NOTE_BYTES_MAX = 65_536;
/** Notes that an example fills up to meet a required length; the agent must write longer ones itself. */
export const EXAMPLE_NOTES_BYTES_MAX = 4096;
/** The recap of the work so far for an agent that returns: enough to continue without filling its context. */
export const RECAP_BYTES_MAX = 6 * 1024;
/** Renderings of accepted artifacts with the prompt of a later step: two of the longest. */
export const PROMPT_ARTIFACTS_BYTES_MAX = 1024;
/** What a person wrote with an answer, as later replies show it; the whole comment is stored. */
export const SHOWN_COMMENT_BYTES_MAX = 400;
/** One long note must not crowd out the others in a recap; the note itself is stored whole. */
export const RECAP_ENTRY_BYTES_MAX = 4096;
/** Branches below a node that are listed on return: users rarely make more, and the newest is shown in full. */
export const BRANCH_CHILDREN_MAX = 5;
/** Enough to distinguish branches. */
export const BRANCH_SUMMARY_BYTES_MAX = 256;
/** Notes of checkpoints in a session summary, newest first: a summary must not grow with the history. */
export const SEARCHED_CHECKPOINTS_BYTES_MAX = 16 * 1024;
/** One or two sentences about the purpose of the work, not the method. */
export const GOAL_BYTES_MAX = 1024;
/** Runs that are offered to a caller without a token; a longer list would need a search. */
export const RESUME_CANDIDATES_MAX = 5;
/** Enough of the notes to recognize a run. */
export const RESUME_SNIPPET_BYTES_MAX = 2048;
/** The reply that resumes a run, as text and as data: it goes into a context that was just cleared. */
export const RESUME_REPLY_BYTES_MAX = 8_000;
/** A goal in a summary serves to recognize the session; the context has all of it. */
export const GOAL_SUMMARY_BYTES_MAX = 256;
/** A value in its place in a sentence; a longer one is shown apart, or nobody could read the sentence. */
export const INLINE_VALUE_BYTES_MAX = 200;
/** A context value in a prompt serves to recognize it; the agent works with the files that it names. */
export const SHOWN_VALUE_BYTES_MAX = 2048;
/** All values in the texts of one step together: a stored reply contains the prompt twice and must fit into a plan. */
export const SHOWN_VALUES_BYTES_MAX = 131_072;
/** A call that a warning suggests must not distract from the step. */
export const SUGGESTED_CALL_BYTES_MAX = 2048;
/** Definitions of functions in one prompt: two long ones, or a dozen of the usual length. */
export const FUNCTIONS_BYTES_MAX = 8192;
/** Artifacts are small structured results, not documents. */
export const ARTIFACT_BYTES_MAX = 262_144;
/** A call with more artifacts is almost certainly a mistake. */
export const ARTIFACTS_PER_CALL_MAX = 32;

/** As long as the longest registered media type with parameters. */
export const CONTENT_TYPE_LENGTH_MAX = 127;

/** For the argument and for the resulting context, as canonical JSON: context is for inputs, not documents. */
export const CONTEXT_BYTES_MAX = 262_144;
/** Context is read with dotted paths; deeper nesting is not intended. */
export const CONTEXT_DEPTH_MAX = 48;

/** A branch name or another label of the workspace. */
export const OBSERVATION_LABEL_BYTES_MAX = 80;
/** A path may be longer than a label. */
export const OBSERVATION_PATH_BYTES_MAX = 512;

/** Every snapshot inside a forEach loop contains the items of the loop. */
export const LOOP_ITEMS_BYTES_MAX = 65_536;
/** Steps and loops that one walk may skip inside loops before a loop with nothing to do is stopped. */
export const WALK_PASSED_MAX = 500;

/** An authored id with those of the routines it was expanded from; ten of them fit into one entry of a trace. */
export const STEP_ID_LENGTH_MAX = 256;
/** The name of a built-in template. */
export const TEMPLATE_ID_BYTES_MAX = 128;
/** People type the namespace and name. */
export const WORKFLOW_ID_LENGTH_MAX = 128;
/** No file system allows a longer path, and no common browser a longer address. */
export const WORKFLOW_SOURCE_REF_BYTES_MAX = 4096;

/** What a client calls itself, and its version. */
export const CLIENT_NAME_BYTES_MAX = 128;
/** An account or a git identity. */
export const PRINCIPAL_BYTES_MAX = 256;
/** Distinguishes one launch of the program from the next. */
export const LAUNCH_BYTES_MAX = 64;
/** More people than this do not share a machine or a repository's gates. */
export const APPROVERS_MAX = 500;
/** A signature with an RSA key of 16,384 bits, and the key. */
export const SIGNATURE_LENGTH_MAX = 8_192;
/** A person explains a decision in a few sentences. */
export const COMMENT_BYTES_MAX = 4096;
/** A value that a person answers with, as canonical JSON. */
export const ANSWER_BYTES_MAX = 16_384;
/** People type the id of a check. */
export const CHECK_ID_BYTES_MAX = 64;
/** The longest path that systems accept. */
export const CHECK_FOLDER_BYTES_MAX = 4096;
/** A command of a check as it is run, with the values of the context in it. */
export const RUN_COMMAND_BYTES_MAX = 16_384;
/** Checks of one step: each is a command that an agent waits for. */
export const CHECKS_MAX = 8;

/** Keys are looked up and stored with every event. */
export const DEDUPE_KEY_LENGTH_MAX = 256;

/** One plan is one segment, read and verified as a whole. */
export const PLAN_EVENTS_MAX = 1_000;
/** Steps and loops of one workflow. Real workflows have a few dozen; a checklist that a program made has thousands. */
export const WORKFLOW_ENTRIES_MAX = 5_000;
/** Events about skipped steps in one plan, so that it has room for everything else. Beyond that, one event covers several. */
export const SKIPPED_EVENTS_MAX = 800;
/** The ids of nested loops together: every event about a step inside them contains them. */
export const LOOP_IDS_LENGTH_MAX = 1_024;
/** A step with everything it may show, as canonical JSON: a stored reply contains it twice and must fit into a plan. */
export const STEP_BYTES_MAX = 262_144;
/** Gaps that one attempt may open; the last one counts the rest. A step rarely has ten requirements. */
export const GAPS_OPENED_MAX = 50;
/** Gaps that one attempt may close, the oldest first: one output may meet what a long loop lacked. */
export const GAPS_CLOSED_MAX = 200;
/** Trace events of one decision. A reader can follow this many, not more. */
export const TRACE_EVENTS_MAX = 40;
/** The rationales that the reply to an assessment repeats: the agent just wrote them, and every reply is stored. */
export const RATIONALES_BYTES_MAX = 16 * 1024;
/** Gaps that a reply lists: every reply is stored in a plan, and nobody reads more of them. */
export const GAPS_LISTED_MAX = 500;
/** A segment is read in one piece of moderate size. */
export const PLAN_BYTES_MAX = 8 * 1024 * 1024;

/** A token has 16 bits for the attempt. */
export const ATTEMPT_MAX = 0xffff;
/** A token has 32 bits for the event that created its node. */
export const EVENT_INDEX_MAX = 0xffff_ffff;
