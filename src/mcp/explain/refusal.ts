import type { ResumeRefusal } from '../../app/resume/resume-session.ts';
import type { AdvanceRefusal } from '../../app/run/advance.ts';
import type { CheckpointRefusal } from '../../app/run/checkpoint.ts';
import type { RehydrateRefusal } from '../../app/run/rehydrate.ts';
import type { StartSessionRefusal } from '../../app/run/start-session.ts';
import type { StartRefusal } from '../../app/run/start-workflow.ts';
import type { ArgumentRefusal } from '../arguments/read-arguments.ts';
import type { InputRefusal } from './explain-input.ts';

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
  /** A fault of our own. What it was stands in the log, not in the reply. */
  | { readonly code: 'our_fault' };
