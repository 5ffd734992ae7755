import { parseJson } from '../core/json/json-value.ts';

/** What a message may hold. It is counted in its bytes, before anything is parsed. */
export const MESSAGE_LIMITS = {
  bytesMax: 16 * 1024 * 1024,
  keysMax: 50_000,
  valuesMax: 250_000,
  depthMax: 512,
} as const;

export type MessageLimits = { readonly [limit in keyof typeof MESSAGE_LIMITS]: number };

/** A JSON-RPC error for a message that has no id, because it was not read. */
export type MessageRefusal = { readonly code: typeof PARSE_ERROR | typeof INVALID_REQUEST; readonly message: string };

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;

const [QUOTE, BACKSLASH, COLON, COMMA] = [0x22, 0x5c, 0x3a, 0x2c];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];

/**
 * Why a message is not read; `undefined` if it may be. Counting stops at the first excess. It needs no correct JSON: the
 * text of strings is skipped, and everything else has its own characters.
 */
export function excessIn(bytes: Buffer, limits: MessageLimits = MESSAGE_LIMITS): MessageRefusal | undefined {
  if (bytes.length > limits.bytesMax) return tooLong(limits);
  let [keys, values, depth] = [0, 0, 0];
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at);
    else if (byte === COLON) keys += 1;
    else if (byte === COMMA) values += 1;
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      values += 1;
      depth += 1;
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth -= 1;
    else continue;
    if (keys > limits.keysMax) return refusal(`more than ${limits.keysMax} keys`);
    if (values > limits.valuesMax) return refusal(`more than ${limits.valuesMax} values`);
    if (depth > limits.depthMax) return refusal(`values nested more than ${limits.depthMax} deep`);
  }
  return undefined;
}

/** The offset of the closing quotation mark. */
function endOfString(bytes: Buffer, start: number): number {
  for (let at = bytes.indexOf(QUOTE, start + 1); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) {
    let backslashes = 0;
    while (bytes[at - 1 - backslashes] === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return at;
  }
  return bytes.length;
}

export function tooLong({ bytesMax }: Pick<MessageLimits, 'bytesMax'>): MessageRefusal {
  return refusal(`more than ${bytesMax} bytes`);
}

function refusal(excess: string): MessageRefusal {
  return { code: INVALID_REQUEST, message: `Nothing was done: the message has ${excess}. Send less at once.` };
}

/** Why a text cannot be parsed; `undefined` if it can. */
export function faultIn(text: string): MessageRefusal | undefined {
  const message = 'Nothing was done: the message is not valid JSON. Send it again.';
  return parseJson(text).isOk() ? undefined : { code: PARSE_ERROR, message };
}

export const NOT_A_MESSAGE: MessageRefusal = {
  code: INVALID_REQUEST,
  message: 'Nothing was done: this is not a single JSON-RPC message.',
};

export function refusedMessage(error: MessageRefusal): object {
  return { jsonrpc: '2.0', id: null, error };
}
