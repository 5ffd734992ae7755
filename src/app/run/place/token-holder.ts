import type { TokenKind } from '../../../core/token/token.ts';
import type { ReadServices } from '../../services.ts';
import { findTokenNode } from '../find-token-node.ts';
import { rehydrateNode } from '../rehydrate.ts';

/** What a token leads to: its run, and the tokens that are good there now. A complete run takes no ack. */
export type TokenHolder = {
  readonly kind: TokenKind;
  readonly tag: string;
  readonly workflowId: string;
  readonly stateToken: string;
  readonly ackToken?: string;
  readonly checkpointToken?: string;
};

/** Looks up any token, for telling an agent what it should have sent; `undefined` when it leads nowhere. */
export async function tokenHolder(services: ReadServices, text: string): Promise<TokenHolder | undefined> {
  const found = await findTokenNode(services, { text, slot: 'attachTo' });
  if (found.isErr()) return undefined;
  const { session, target, keys } = found.value;
  const mint = { ...keys, form: services.tokenForm };
  const shown = await rehydrateNode(services, { session, target, mint, workspace: undefined });
  if (shown.isErr()) return undefined;
  const { kind, tag, workflowId } = target;
  const { stateToken, ackToken, checkpointToken } = shown.value.structured;
  return {
    kind,
    tag,
    workflowId,
    stateToken: String(stateToken),
    ...(typeof ackToken === 'string' ? { ackToken } : {}),
    ...(typeof checkpointToken === 'string' ? { checkpointToken } : {}),
  };
}
