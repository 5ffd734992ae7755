import { err, ok, type Result, safeTry } from 'neverthrow';
import { assert } from '../../core/assert.ts';
import type { Flow } from '../../core/flow.ts';
import type { SessionId } from '../../core/log/ids.ts';
import type { TokenKeys } from '../../core/token/keyring.ts';
import { parseToken } from '../../core/token/node-token.ts';
import type { TokenSlot } from '../../core/token/token.ts';
import type { TokenRefusal } from '../../core/token/token-refusal.ts';
import { resolveToken, type TokenScope, type TokenTarget } from '../../core/token/token-scope.ts';
import { findRun, nodeAtEvent, findNode as nodeById } from '../../core/views/run-graph.ts';
import type { LoadedSession } from '../ports/session-store.ts';
import type { StoreFailure } from '../ports/store-failure.ts';
import type { ReadServices } from '../services.ts';

/** The node of a token, with the keys that verified it. */
export type FoundNode = {
  readonly session: LoadedSession;
  readonly target: TokenTarget;
  readonly keys: TokenKeys;
};

/** Finds the node of a token. Read-only. */
export async function findTokenNode(
  services: ReadServices,
  token: { readonly text: string; readonly slot: TokenSlot },
): Promise<Result<FoundNode, TokenRefusal | StoreFailure>> {
  return safeTry(async function* (): Flow<FoundNode, TokenRefusal | StoreFailure> {
    const keyring = yield* await services.keyring.find();
    const hmac = services.hasher.hmacSha256;
    const claims = yield* parseToken(token.text, token.slot, { keyring, hmac });
    assert(keyring !== undefined, 'a token is genuine by a key of the keyring');
    const keys = { keyring, hmac };

    const loaded = await services.sessions.load(claims.sessionId);
    if (loaded.isErr() && loaded.error.code !== 'session_not_found') return err(loaded.error);
    const session = loaded.unwrapOr(undefined);
    return resolveToken(claims, session && tokenScope(session)).andThen((target) =>
      session === undefined ? err(sessionGone(target.sessionId)) : ok({ session, target, keys }),
    );
  });
}

/** The refusal for a session that was removed, perhaps during this call. */
export function sessionGone(sessionId: SessionId): TokenRefusal {
  return { code: 'TOKEN_UNKNOWN_NODE', sessionId, missing: { kind: 'session' } };
}

function tokenScope({ sessionId, view }: LoadedSession): TokenScope {
  return {
    sessionId,
    nodeAt: (eventIndex) => nodeAtEvent(view.graph, eventIndex),
    node: (nodeId) => nodeById(view.graph, nodeId),
    run: (runId) => findRun(view.graph, runId)?.pinned,
  };
}
