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
/** What a returning agent is told of the work so far: enough to go on, and no burden on its context. */
export const RECAP_BYTES_MAX = 6 * 1024;
/** One long note must not crowd out all others; the note itself is kept whole. */
export const RECAP_ENTRY_BYTES_MAX = 4096;
/** Notes of checkpoints that search looks at, newest first: a summary must not grow with the history. */
export const SEARCHED_CHECKPOINTS_BYTES_MAX = 16 * 1024;
/** A goal in a summary is there to recognise a session by; the context holds all of it. */
export const GOAL_SUMMARY_BYTES_MAX = 256;
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

/** The items of a forEach loop are kept in its frame, in every snapshot of the loop. */
export const LOOP_ITEMS_BYTES_MAX = 65_536;

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
/** Keeps a segment inside one read of moderate size. */
export const PLAN_BYTES_MAX = 8 * 1024 * 1024;

/** A token has 16 bits for the attempt. */
export const ATTEMPT_MAX = 0xffff;
/** A token has 32 bits for the event that created its node. */
export const EVENT_INDEX_MAX = 0xffff_ffff;
