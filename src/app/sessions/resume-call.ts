import { err, ok, type Result } from 'neverthrow';
import type { Call } from '../../core/log/error-envelope.ts';
import type { NodeId, RunId, SessionId } from '../../core/log/ids.ts';
import { isTrusted } from '../../core/log/origin.ts';
import type { StoreFailure } from '../ports/store-failure.ts';
import { stateTokenOf } from '../run/give-reply.ts';
import type { ReadServices } from '../services.ts';
import type { InspectedSession } from './inspect-session.ts';

export type ResumeCallServices = Pick<ReadServices, 'keyring' | 'hasher' | 'tokenForm'>;

export type ResumeCallRefusal =
  /** It can be read but not continued. */
  | { readonly code: 'session_not_whole'; readonly sessionId: SessionId }
  /** It was imported, and no person accepted it. */
  | { readonly code: 'session_not_accepted'; readonly sessionId: SessionId }
  /** This machine has no keys for tokens: none were created, or they were removed. */
  | { readonly code: 'keys_missing' }
  | StoreFailure;

/** A run, or an earlier node of it to go back to. */
export type ResumePlace = { readonly runId: RunId; readonly nodeId?: NodeId };

/**
 * The call that resumes a run. A run is named by its id, which stays valid wherever the run is by then. An earlier node
 * can only be named by a token.
 */
export async function resumeCall(
  { keyring, hasher, tokenForm }: ResumeCallServices,
  inspected: InspectedSession,
  { runId, nodeId }: ResumePlace,
): Promise<Result<Call, ResumeCallRefusal>> {
  const broken = brokenRefusal(inspected);
  if (broken !== undefined) return err(broken);
  if (!isTrusted(inspected.origin)) return err({ code: 'session_not_accepted', sessionId: inspected.sessionId });
  const { sessionId, view } = inspected;
  const keys = await keyring.find();
  if (keys.isErr()) return err(keys.error);
  if (keys.value === undefined) return err({ code: 'keys_missing' });
  if (nodeId === undefined) return ok({ tool: 'resume_session', arguments: { sessionId, runId } });
  const mint = { keyring: keys.value, hmac: hasher.hmacSha256, form: tokenForm };
  const stateToken = stateTokenOf({ sessionId, nodeId }, { view, mint });
  return ok({ tool: 'continue_workflow', arguments: { stateToken } });
}

/** Why a session cannot be continued; `undefined` if it can. */
export function brokenRefusal({ sessionId, health }: InspectedSession): ResumeCallRefusal | undefined {
  if (health.kind === 'healthy') return undefined;
  if (health.kind !== 'unknown_version') return { code: 'session_not_whole', sessionId };
  const { place, offset, version } = health;
  return { code: 'unknown_version', place, offset, version };
}
