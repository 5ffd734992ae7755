import type { GateRefusal } from '../../app/ports/session-store.ts';
import type { ResumeRefusal } from '../../app/resume/resume-session.ts';
import { unreachable } from '../../core/assert.ts';
import type { JsonObject } from '../../core/json/json-value.ts';
import { quote } from '../../core/json/quote.ts';
import { explainToken } from './explain-token.ts';
import { type Explained, NOT_RETRYABLE } from './explained.ts';
import type { Situation } from './situation.ts';

type SessionRefusal =
  | Extract<GateRefusal, { code: 'session_locked' }>
  | Extract<ResumeRefusal, { code: 'session_not_found' | 'keys_missing' }>;

const LOCK_RETRY_MS = 500;

/** The words for a session that cannot be had, now or at all. */
export function explainSession(refusal: SessionRefusal, situation: Situation): Explained {
  switch (refusal.code) {
    case 'session_locked': {
      const { sessionId, holder = null } = refusal;
      return explainToken({ code: 'TOKEN_SESSION_LOCKED', sessionId, afterMs: LOCK_RETRY_MS, holder }, situation);
    }
    case 'session_not_found':
      return {
        code: 'SESSION_NOT_FOUND',
        message: `Nothing is stored under ${quote(refusal.named)}.`,
        suggestion: 'Send the corrected call: without an id it looks through everything that is stored.',
        retry: NOT_RETRYABLE,
        call: { tool: 'resume_session', arguments: withoutIds(situation.sent) },
      };
    case 'keys_missing':
      return {
        code: 'STORE_IO',
        message: 'The keys of the data directory are gone, so no token can be made for what is stored there.',
        suggestion: 'Call start_workflow once, which makes new keys; then send the same call.',
        retry: NOT_RETRYABLE,
      };
    default:
      return unreachable(refusal);
  }
}

function withoutIds({ sessionId: _session, runId: _run, ...sent }: JsonObject): JsonObject {
  return sent;
}
