/**
 * Every limit of what is stored or shown, with its reason. Text limits are UTF-8 bytes.
 */

/** A blocked reply must fit on one screen of an agent's context. */
export const BLOCKERS_MAX = 10;
/** One sentence that names the offence; longer ones hide it. */
export const BLOCKER_MESSAGE_BYTES_MAX = 512;
/** Room for a corrected example call. */
export const BLOCKER_FIX_BYTES_MAX = 1024;

/** Facts beside a blocker or a gap, as canonical JSON: numbers and names that its sentence is about. */
export const DETAILS_BYTES_MAX = 4096;
/** Room for a sentence with a list of names in it, and for a fix with an example. */
export const ERROR_TEXT_BYTES_MAX = 4096;
/** Room for a whole report of blockers, each with its details. */
export const ERROR_DETAILS_BYTES_MAX = 262_144;

/** A corrected call repeats what was just sent, so that it can be sent as it stands; more would fill the agent's context. */
export const REPEATED_CALL_BYTES_MAX = 16 * 1024;

/** A gap, divergence or trace summary is one or two sentences. */
export const SUMMARY_BYTES_MAX = 512;

/** A trace explains one decision; more entries go into a further event. */
export const TRACE_ENTRIES_MAX = 25;
/** Enough for a nest of loops with their iterations. */
export const TRACE_REFS_MAX = 10;
/** Traces are never needed for correctness, so they may not weigh on loading. */
export const TRACE_BYTES_MAX = 8192;

/** A note is kept whole up to here: cutting what an agent wrote loses work. */
export const NOTE_BYTES_MAX = 65_536;
/** Notes that an example makes up to meet a rule on their length; whoever needs longer ones has to write them. */
export const EXAMPLE_NOTES_BYTES_MAX = 4096;
/** What a returning agent is told of the work so far: enough to go on, and no burden on its context. */
export const RECAP_BYTES_MAX = 6 * 1024;
/** One long note must not crowd out all others; the note itself is kept whole. */
export const RECAP_ENTRY_BYTES_MAX = 4096;
/** Branches below a node that somebody came back to: a person rarely makes more, and the newest is told in full. */
export const BRANCH_CHILDREN_MAX = 5;
/** Enough to tell one branch from another. */
export const BRANCH_SUMMARY_BYTES_MAX = 256;
/** Notes of checkpoints that search looks at, newest first: a summary must not grow with the history. */
export const SEARCHED_CHECKPOINTS_BYTES_MAX = 16 * 1024;
/** One or two sentences: what the work is for, not how it is done. */
export const GOAL_BYTES_MAX = 1024;
/** Runs that somebody without a token is offered: more is not a choice but a search. */
export const RESUME_CANDIDATES_MAX = 5;
/** Enough of the notes of a run to know it again by. */
export const RESUME_SNIPPET_BYTES_MAX = 2048;
/** What brings an agent back, as text and as data: it comes on top of a context that was just cleared. */
export const RESUME_REPLY_BYTES_MAX = 10_000;
/** A goal in a summary is there to recognise a session by; the context holds all of it. */
export const GOAL_SUMMARY_BYTES_MAX = 256;
/** A context value in a prompt is there to be recognised; the work itself is done with the files it names. */
export const SHOWN_VALUE_BYTES_MAX = 2048;
/** All values in the texts of one step together: a stored reply holds the prompt twice and must fit into a plan. */
export const SHOWN_VALUES_BYTES_MAX = 131_072;
/** A call that a warning suggests stands beside the step, which must not get lost under it. */
export const SUGGESTED_CALL_BYTES_MAX = 2048;
/** Definitions of functions in one prompt: two long ones, or a dozen of the usual length. */
export const FUNCTIONS_BYTES_MAX = 8192;
/** Artifacts are small structured results, not documents. */
export const ARTIFACT_BYTES_MAX = 262_144;
/** A call that hands in more is almost certainly a mistake. */
export const ARTIFACTS_PER_CALL_MAX = 32;

/** Names as long as any registered media type; parameters included. */
export const CONTENT_TYPE_LENGTH_MAX = 127;

/** Argument and resulting whole, as canonical JSON: context carries inputs, not documents. */
export const CONTEXT_BYTES_MAX = 262_144;
/** Context is read back with dotted paths; deeper nesting cannot be meant. */
export const CONTEXT_DEPTH_MAX = 48;

/** A branch name or another label of the workspace. */
export const OBSERVATION_LABEL_BYTES_MAX = 80;
/** A path may be longer than a label. */
export const OBSERVATION_PATH_BYTES_MAX = 512;

/** The items that a forEach loop reads from context are kept in its frame, in every snapshot of the loop. */
export const LOOP_ITEMS_BYTES_MAX = 65_536;
/** Steps and loops that one walk may pass before a loop that finds nothing due is stopped: each leaves events in one plan. */
export const WALK_PASSED_MAX = 500;

/** An authored id and those of the routines it was expanded from; ten of them fit into one entry of a trace. */
export const STEP_ID_LENGTH_MAX = 256;
/** The name of a built-in template. */
export const TEMPLATE_ID_BYTES_MAX = 128;
/** Namespace and name are typed by people. */
export const WORKFLOW_ID_LENGTH_MAX = 128;
/** No file system takes a longer path, no browser of note a longer address. */
export const WORKFLOW_SOURCE_REF_BYTES_MAX = 4096;

/** Keys are looked up and stored with every event. */
export const DEDUPE_KEY_LENGTH_MAX = 256;

/** One plan is one segment, read and verified as a whole. */
export const PLAN_EVENTS_MAX = 1_000;
/**
 * Steps and loops of one workflow: all of them may be skipped in one walk, and each leaves an event. Together with what a
 * walk may pass in loops and with the limits below they fit into one plan. Real workflows have some dozens.
 */
export const WORKFLOW_ENTRIES_MAX = 300;
/** Ids of loops in each other, together: they are part of every event about a step inside of them. */
export const LOOP_IDS_LENGTH_MAX = 1_024;
/** A step with all it may show, as canonical JSON: a stored reply holds it twice and must fit into a plan. */
export const STEP_BYTES_MAX = 262_144;
/** Gaps that one attempt opens; what is more is told in the last of them. A step rarely asks for ten things. */
export const GAPS_OPENED_MAX = 50;
/** Gaps that one attempt closes, the oldest first: something that a long loop lacked may be met all at once. */
export const GAPS_CLOSED_MAX = 200;
/** Trace events of one decision. What led into a loop and out of it is within reach of a reader; more is not. */
export const TRACE_EVENTS_MAX = 40;
/** The reasons given with assessments, in the reply that accepts them: they were just written, and a reply is stored. */
export const RATIONALES_BYTES_MAX = 16 * 1024;
/** Gaps that a reply lists; a reply is stored in a plan too, and nobody reads more of them. */
export const GAPS_LISTED_MAX = 500;
/** Keeps a segment inside one read of moderate size. */
export const PLAN_BYTES_MAX = 8 * 1024 * 1024;

/** A token has 16 bits for the attempt. */
export const ATTEMPT_MAX = 0xffff;
/** A token has 32 bits for the event that created its node. */
export const EVENT_INDEX_MAX = 0xffff_ffff;
