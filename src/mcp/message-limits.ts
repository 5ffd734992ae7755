import { err, ok, type Result } from 'neverthrow';
import { isObject, type JsonObject, type JsonValue, parseJson } from '../core/json/json-value.ts';

/** What a message may hold. It is counted in its bytes, before anything is parsed. */
export const MESSAGE_LIMITS = {
  bytesMax: 16 * 1024 * 1024,
  keysMax: 50_000,
  valuesMax: 250_000,
  depthMax: 512,
} as const;

/** A server of a team reads the messages of many callers at once. */
export const TEAM_MESSAGE_LIMITS = { ...MESSAGE_LIMITS, bytesMax: 4 * 1024 * 1024 } as const;

export type MessageLimits = { readonly [limit in keyof typeof MESSAGE_LIMITS]: number };

/** A JSON-RPC error for a message that is not passed on. */
export type MessageRefusal = {
  readonly code: typeof PARSE_ERROR | typeof INVALID_REQUEST | typeof INVALID_PARAMS;
  readonly message: string;
  /** The message that it answers, if it was read. */
  readonly id?: string | number;
};

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const INVALID_PARAMS = -32_602;

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

/** More arguments than this are not read one by one. */
const CALL_NAMES_MAX = 1_000;

/**
 * A message as the library can take it, or why it is not passed on. The library answers a call whose parameters have
 * another shape with a page of its own words, so such a call is brought into the shape in which the tool can explain it.
 */
export function readMessage(text: string): Result<string, MessageRefusal> {
  const parsed = parseJson(text);
  if (parsed.isErr()) {
    return err({ code: PARSE_ERROR, message: 'Nothing was done: the message is not valid JSON. Send it again.' });
  }
  const message = parsed.value;
  const wrongPrompt = isObject(message) && message['method'] === 'prompts/get' ? promptFault(message) : undefined;
  if (wrongPrompt !== undefined) return err(wrongPrompt);
  if (!isObject(message) || message['method'] !== 'tools/call') return ok(text);
  const { params = {}, id } = message;
  const { name, arguments: sent } = isObject(params) ? params : { name: '', arguments: params };
  const isShaped = isObject(params) && typeof name === 'string' && (sent === undefined || isObject(sent));
  if (!isShaped) {
    const named = typeof name === 'string' ? name : JSON.stringify(name ?? '');
    return ok(
      JSON.stringify({ ...message, params: { ...knownParams(params), name: named, arguments: wrapped(sent) } }),
    );
  }
  const found = isObject(sent) ? Object.keys(sent).length : 0;
  const inexact = found <= CALL_NAMES_MAX ? inexactNumber(text, ARGUMENTS) : undefined;
  if (found <= CALL_NAMES_MAX && inexact === undefined) return ok(text);
  const wrong =
    inexact === undefined
      ? `the call has ${found} arguments. Send only those that the tool has.`
      : `${inexact.name} is ${inexact.number}, a number that would be rounded. Send it as text: "${inexact.number}".`;
  return err({ code: INVALID_PARAMS, message: `Nothing was done: ${wrong}`, ...(isId(id) ? { id } : {}) });
}

/** The library answers a prompt whose parameters have another shape with a page of its own words, too. */
function promptFault({ params = {}, id }: JsonObject): MessageRefusal | undefined {
  const { name, arguments: given = {} } = isObject(params) ? params : {};
  const isShaped = isObject(params) && typeof name === 'string' && isObject(given);
  if (isShaped && Object.values(given).every((value) => typeof value === 'string')) return undefined;
  const wrong = isShaped
    ? 'every argument of a prompt must be a text.'
    : 'prompts/get needs "name" as a text (prompts/list shows the names), and "arguments" as an object of texts.';
  return { code: INVALID_PARAMS, message: `Nothing was done: ${wrong}`, ...(isId(id) ? { id } : {}) };
}

/** Only numbers of so many digits, or with an exponent of three, can be inexact. */
const MAY_BE_INEXACT = /[\d.]{16}|\de[+-]?\d{3}/i;
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|[{}[\],:]/gs;
const ARGUMENTS = 'params.arguments.';
const NUMBER_SHOWN_MAX = 40;

/** A number that parsing rounds, as it was written, with the path to it. */
export type InexactNumber = { readonly name: string; readonly number: string };

/** The first such number below a path. The text is valid JSON. */
function inexactNumber(text: string, below = ''): InexactNumber | undefined {
  if (!MAY_BE_INEXACT.test(text)) return undefined;
  const path: (string | number)[] = [];
  let last = '';
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') path.push(token === '[' ? 0 : '');
    else if (token === '}' || token === ']') path.pop();
    else if (token === ':') path[path.length - 1] = JSON.parse(last) as string;
    else if (token === ',') {
      const at = path.at(-1);
      if (typeof at === 'number') path[path.length - 1] = at + 1;
    } else if (!token.startsWith('"') && !isExact(token)) {
      const name = path
        .map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`))
        .join('')
        .replace(/^\./, '');
      if (name.startsWith(below)) return { name: name.slice(below.length), number: token.slice(0, NUMBER_SHOWN_MAX) };
    }
    last = token;
  }
  return undefined;
}

/** Why a text that looks like JSON is not read. */
export type JsonTextFault =
  | { readonly kind: 'broken_json'; readonly isTooLarge?: true }
  | ({ readonly kind: 'inexact_number' } & InexactNumber);

const NESTED_TEXTS_MAX = 2;

/** A value that was sent as JSON text, perhaps twice encoded. What is in a text was not counted with its message. */
export function openText(sent: JsonValue): Result<JsonValue, JsonTextFault> {
  let value = sent;
  for (let i = 0; i < NESTED_TEXTS_MAX && typeof value === 'string'; i++) {
    const text = value.trim();
    if (!/^[[{"]/.test(text)) return ok(value);
    if (excessIn(Buffer.from(text)) !== undefined) return err({ kind: 'broken_json', isTooLarge: true });
    const parsed = parseJson(text);
    if (parsed.isErr()) return text.startsWith('"') ? ok(value) : err({ kind: 'broken_json' });
    const inexact = inexactNumber(text);
    if (inexact !== undefined) return err({ kind: 'inexact_number', ...inexact });
    value = parsed.value;
  }
  return ok(value);
}

/** Whether a number is still the same after it was parsed. */
function isExact(token: string): boolean {
  return decimalOf(token) === decimalOf(String(Number(token)));
}

/** The digits of a number without zeros at its ends, and the power of ten; the same for all its spellings. */
function decimalOf(token: string): string {
  const [, sign = '', whole = '', part = '', power = '0'] = /^(-?)(\d+)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(token) ?? [];
  const digits = `${whole}${part}`.replace(/^0+/, '');
  const short = digits.replace(/0+$/, '');
  if (short === '') return token === 'Infinity' ? token : '0';
  return `${sign}${short}e${Number(power) - part.length + digits.length - short.length}`;
}

function knownParams(params: JsonValue): JsonObject {
  return isObject(params) ? params : {};
}

function wrapped(sent: JsonValue | undefined): JsonObject {
  if (sent === undefined || sent === null) return {};
  return isObject(sent) ? sent : { arguments: sent };
}

function isId(id: JsonValue | undefined): id is string | number {
  return typeof id === 'string' || typeof id === 'number';
}

export const NOT_A_MESSAGE: MessageRefusal = {
  code: INVALID_REQUEST,
  message: 'Nothing was done: this is not a single JSON-RPC message.',
};

/** Each call of a batch would pass the limits of a caller as one. Later versions of the protocol have no batches. */
export const NO_BATCHES: MessageRefusal = {
  code: INVALID_REQUEST,
  message: 'Nothing was done: this server takes no batches. Send each message in a request of its own.',
};

export function refusedMessage({ id, code, message }: MessageRefusal): object {
  return { jsonrpc: '2.0', id: id ?? null, error: { code, message } };
}
