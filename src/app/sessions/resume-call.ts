import { err, ok, type Result } from 'neverthrow';
import type { Call } from '../../core/log/error-envelope.ts';
import type { NodeId, RunId, SessionId } from '../../core/log/ids.ts';
import type { StoreFailure } from '../ports/store-failure.ts';
import { stateTokenOf } from '../run/give-reply.ts';
import type { ReadServices } from '../services.ts';
import type { InspectedSession } from './inspect-session.ts';

export type ResumeCallServices = Pick<ReadServices, 'keyring' | 'hasher' | 'tokenForm'>;

export type ResumeCallRefusal =
  /** What is left of it can be looked at, and never goes on. */
  | { readonly code: 'session_not_whole'; readonly sessionId: SessionId }
  /** Tokens of this machine were never made, or somebody took the keys away. */
  | { readonly code: 'keys_missing' }
  | StoreFailure;

/** A run as it stands, or a node of it where the run shall go back to. */
export type ResumePlace = { readonly runId: RunId; readonly nodeId?: NodeId };

/**
 * The one call that brings an agent back. The run is named by its id, which is good for ever and wherever the run stands
 * by then; an earlier node has no name but a token.
 */
export async function resumeCall(
  { keyring, hasher, tokenForm }: ResumeCallServices,
  looked: InspectedSession,
  { runId, nodeId }: ResumePlace,
): Promise<Result<Call, ResumeCallRefusal>> {
  const broken = brokenRefusal(looked);
  if (broken !== undefined) return err(broken);
  const { sessionId, view } = looked;
  const keys = await keyring.find();
  if (keys.isErr()) return err(keys.error);
  if (keys.value === undefined) return err({ code: 'keys_missing' });
  if (nodeId === undefined) return ok({ tool: 'resume_session', arguments: { sessionId, runId } });
  const mint = { keyring: keys.value, hmac: hasher.hmacSha256, form: tokenForm };
  const stateToken = stateTokenOf({ sessionId, nodeId }, { view, mint });
  return ok({ tool: 'continue_workflow', arguments: { stateToken } });
}

/** Why a session cannot be gone on with; nothing for one that can. */
export function brokenRefusal({ sessionId, health }: InspectedSession): ResumeCallRefusal | undefined {
  if (health.kind === 'healthy') return undefined;
  if (health.kind !== 'unknown_version') return { code: 'session_not_whole', sessionId };
  const { place, offset, version } = health;
  return { code: 'unknown_version', place, offset, version };
}
