import { type TokenHolder, tokenHolder } from '../../app/run/rehydrate.ts';
import type { ReadServices } from '../../app/services.ts';
import type { JsonObject } from '../../core/json/json-value.ts';
import type { TokenSlot } from '../../core/token/token.ts';
import type { RecentReplies, RecentReply } from './recent-replies.ts';

/** A token of the call that leads to a step; `text` is the correct one if it was miscopied. */
export type KnownToken = TokenHolder & { readonly slot: TokenSlot; readonly text: string; readonly isGuess: boolean };

/** What is known about a refused call, to say what should have been sent instead. */
export type Situation = {
  readonly tool: string;
  /** The arguments by their correct names. */
  readonly sent: JsonObject;
  /** Tokens for the operation first. */
  readonly tokens: readonly KnownToken[];
  /** The newest reply of each run. */
  readonly recent: readonly RecentReply[];
  /** Where everything is stored; not known in tests and rehearsals. */
  readonly dataDir?: string | undefined;
  /** Whether other clients use this server too, so that only tokens of the call are known. */
  readonly isShared?: true;
};

/** The order in which tokens decide what was meant. */
const SLOTS = [
  'ackToken',
  'checkpointToken',
  'stateToken',
  'sessionToken',
  'attachTo',
] as const satisfies readonly TokenSlot[];

/** Looks up the steps that the tokens of a call belong to. Reads only. */
export async function situate(
  services: ReadServices,
  call: { readonly tool: string; readonly sent: JsonObject },
  recent: RecentReplies,
): Promise<Situation> {
  const tokens: KnownToken[] = [];
  for (const slot of SLOTS) {
    const text = call.sent[slot];
    if (typeof text !== 'string') continue;
    const token = (await known(services, slot, text)) ?? (await guessed(services, { slot, text }, recent));
    if (token !== undefined) tokens.push(token);
  }
  const { isShared } = recent;
  const { dataDir } = services;
  return isShared
    ? { ...call, dataDir, tokens: tokens.flatMap(ofCaller), recent: [], isShared }
    : { ...call, dataDir, tokens, recent: recent.ofEachRun() };
}

/** A token without the others of its step, which the caller did not send. */
function ofCaller({ kind, slot, tag, workflowId, text, isGuess }: KnownToken): readonly KnownToken[] {
  return kind === 'state' ? [{ kind, slot, tag, workflowId, text, isGuess, stateToken: text }] : [];
}

async function known(services: ReadServices, slot: TokenSlot, text: string): Promise<KnownToken | undefined> {
  const holder = await tokenHolder(services, text);
  return holder && { ...holder, slot, text, isGuess: false };
}

async function guessed(
  services: ReadServices,
  { slot, text }: { readonly slot: TokenSlot; readonly text: string },
  recent: RecentReplies,
): Promise<KnownToken | undefined> {
  const like = recent.tokenLike(text);
  const token = like === undefined ? undefined : await known(services, slot, like);
  return token && { ...token, isGuess: true };
}
