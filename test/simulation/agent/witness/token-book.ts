import type { Call, Reply } from '../reader/obedient-reader.ts';
import { told } from './told.ts';

/** Which run a token was handed out for. */
export type TokenOwner = { readonly sessionId: string; readonly runId: string };

/** Remembers every token that was handed out, so that nobody has to ask the program whose it is. */
export type TokenBook = {
  learn(reply: Reply): void;
  /** The run whose log a call may add to, by the token that does; `undefined` when it may add to none. */
  ownerOfWrite(call: Call): TokenOwner | undefined;
};

export function tokenBook(): TokenBook {
  const runs = new Map<string, TokenOwner>();
  const owners = new Map<string, TokenOwner>();
  return {
    learn: (reply) => {
      const at = told(reply);
      if (at !== undefined) runs.set(at.tag, { sessionId: at.sessionId, runId: at.runId });
      for (const token of new Set(tokensIn(reply.structuredContent))) {
        const owner = runs.get(tagOf(token));
        if (owner !== undefined && !token.startsWith('st')) owners.set(plainly(token), owner);
      }
    },
    ownerOfWrite: ({ arguments: given }) => {
      const texts = [given['ackToken'], given['checkpointToken']].filter((text) => typeof text === 'string');
      return texts.map((text) => owners.get(plainly(text))).find((owner) => owner !== undefined);
    },
  };
}

/** Every token that stands anywhere in a value. */
export function tokensIn(value: unknown): readonly string[] {
  return JSON.stringify(value).match(/\b(?:st|ack|chk)(?:_[0-9a-z]{48}\b|\.v1\.[\w-]+\.[\w-]+)/g) ?? [];
}

/** The last four characters of the id of its run; a long token shows its content. */
function tagOf(token: string): string {
  const [prefix = '', , payload = ''] = token.split('.');
  if (prefix !== token) return JSON.parse(Buffer.from(payload, 'base64url').toString()).runId.slice(-4);
  return token.split('_')[1]?.slice(0, 4) ?? '';
}

/** What is left of a token when everything is taken away that may be forgiven. */
function plainly(text: string): string {
  if (text.includes('.')) return text;
  const [prefix = '', ...rest] = text
    .toLowerCase()
    .replaceAll(/[^0-9a-z_]/g, '')
    .split('_');
  return `${prefix}_${rest.join('').replaceAll('o', '0').replaceAll(/[il]/g, '1')}`;
}
