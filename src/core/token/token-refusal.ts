import type { Retry } from '../log/error-envelope.ts';
import type { EventIndex, NodeId, RunId, SessionId, WorkflowHash, WorkflowId } from '../log/ids.ts';
import type { TokenKind, TokenSlot } from './token.ts';

/** Why a token is not accepted, as facts. The words for people and agents are written by each surface. */
export type TokenRefusal =
  | { readonly code: 'TOKEN_INVALID_FORMAT'; readonly problem: FormatProblem }
  | { readonly code: 'TOKEN_UNSUPPORTED_VERSION'; readonly found: number; readonly supported: readonly number[] }
  | { readonly code: 'TOKEN_BAD_SIGNATURE'; readonly kind: TokenKind; readonly keysTried: number }
  | { readonly code: 'TOKEN_SCOPE_MISMATCH'; readonly mismatch: ScopeMismatch }
  | { readonly code: 'TOKEN_UNKNOWN_NODE'; readonly sessionId: SessionId; readonly missing: MissingPlace }
  | {
      readonly code: 'TOKEN_WORKFLOW_HASH_MISMATCH';
      readonly place: TokenPlace;
      /** What contradicts the pinned workflow of the run: the token, the node's record, or the stored workflow itself. */
      readonly source: 'token' | 'node' | 'stored_workflow';
      readonly pinned: WorkflowHash;
      readonly found: WorkflowHash;
    }
  | {
      readonly code: 'TOKEN_SESSION_LOCKED';
      readonly sessionId: SessionId;
      readonly afterMs: number;
      /** Who holds the lock, if that is known. */
      readonly holder: string | null;
    };

/** What is wrong with a text. Positions and lengths of a compact token count after normalising. */
export type FormatProblem =
  | { readonly kind: 'empty' }
  | { readonly kind: 'too_long'; readonly lengthMax: number; readonly found: number }
  | { readonly kind: 'unknown_prefix'; readonly found: string }
  /** A token of the JSON form with white space or quotes around it. */
  | { readonly kind: 'wrapped' }
  | { readonly kind: 'wrong_length'; readonly expected: number; readonly found: number }
  | { readonly kind: 'wrong_parts'; readonly expected: number; readonly found: number }
  | { readonly kind: 'foreign_character'; readonly character: string; readonly position: number }
  | { readonly kind: 'wrong_payload'; readonly path: string }
  | { readonly kind: 'prefix_disagrees'; readonly prefix: TokenKind; readonly inside: TokenKind }
  | { readonly kind: 'not_canonical' };

export type ScopeMismatch =
  | {
      readonly kind: 'slot';
      readonly slot: TokenSlot;
      readonly expected: readonly TokenKind[];
      readonly found: TokenKind;
      readonly tag: string;
    }
  | { readonly kind: 'session'; readonly expected: SessionId; readonly found: SessionId }
  | { readonly kind: 'run'; readonly place: TokenPlace; readonly named: TokenRun }
  | { readonly kind: 'pair'; readonly state: TokenPlace; readonly operation: TokenPlace };

/** The run a token names; a compact token knows its tag only. */
export type TokenRun = {
  readonly tag: string;
  readonly runId: RunId | null;
  readonly workflowId: WorkflowId | null;
};

/** Where a token leads. */
export type TokenPlace = {
  readonly sessionId: SessionId;
  readonly runId: RunId;
  readonly nodeId: NodeId;
  readonly tag: string;
  readonly workflowId: WorkflowId;
};

export type MissingPlace =
  | { readonly kind: 'session' }
  | { readonly kind: 'run'; readonly runId: RunId }
  | { readonly kind: 'node'; readonly nodeId: NodeId }
  | { readonly kind: 'node_at'; readonly eventIndex: EventIndex };

/** Only a busy lock passes by itself; every other refusal needs another token. */
export function retryOfTokenRefusal(refusal: TokenRefusal): Retry {
  if (refusal.code !== 'TOKEN_SESSION_LOCKED') return { kind: 'not_retryable' };
  return { kind: 'retryable_after_ms', afterMs: refusal.afterMs };
}

export function invalidFormat(problem: FormatProblem): TokenRefusal {
  return { code: 'TOKEN_INVALID_FORMAT', problem };
}

export function unsupportedVersion(found: number): TokenRefusal {
  return { code: 'TOKEN_UNSUPPORTED_VERSION', found, supported: [1, 2] };
}
