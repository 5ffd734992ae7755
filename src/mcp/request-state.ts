import type { Services } from '../app/services.ts';
import { canonicalBytes } from '../core/json/canonical-json.ts';
import { AttestationId } from '../core/log/ids.ts';
import { fromBase64Url, toBase64Url } from '../core/text/binary-text.ts';
import { encodeUtf8 } from '../core/text/utf8.ts';
import { activeKeys, constantTimeEqual } from '../core/token/keyring.ts';

/** What a question was about. It travels through the client, so it carries our MAC. */
export type RequestState = {
  readonly digest: string;
  readonly stateToken: string;
  readonly ackToken: string;
  readonly askedAt: number;
  /** The launch of the program that asked. Another one may get the answer. */
  readonly launch: string;
  /** Minted with the question, so that a repeated answer is one. */
  readonly attestationId: string;
};

const PREFIX = 'wr1';
const DOMAIN = 'workrail.request-state.v1:';

type Signer = Pick<Services, 'keyring' | 'hasher'>;

/** The state as text with its MAC; `undefined` where no key can be read. */
export async function requestState({ keyring, hasher }: Signer, state: RequestState): Promise<string | undefined> {
  const keys = (await keyring.find()).unwrapOr(undefined);
  const bytes = canonicalBytes(state);
  if (keys === undefined || bytes.isErr()) return undefined;
  const body = toBase64Url(bytes.value);
  return `${PREFIX}.${body}.${toBase64Url(hasher.hmacSha256(keys.current, encodeUtf8(DOMAIN + body)))}`;
}

/** The state of a question that this data directory asked; `undefined` for anything else. */
export async function readRequestState({ keyring, hasher }: Signer, sent: string): Promise<RequestState | undefined> {
  const [prefix, body, mac, ...rest] = sent.split('.');
  if (prefix !== PREFIX || body === undefined || mac === undefined || rest.length > 0) return undefined;
  const given = fromBase64Url(mac);
  const bytes = fromBase64Url(body);
  const keys = activeKeys((await keyring.find()).unwrapOr(undefined));
  const isOurs =
    given !== undefined &&
    keys.some((key) => constantTimeEqual(hasher.hmacSha256(key, encodeUtf8(DOMAIN + body)), given));
  return isOurs && bytes !== undefined ? parsed(new TextDecoder().decode(bytes)) : undefined;
}

/** Only text with our MAC gets here, so its shape is ours. */
function parsed(text: string): RequestState | undefined {
  const state = JSON.parse(text) as RequestState;
  return AttestationId.is(state.attestationId) ? state : undefined;
}
