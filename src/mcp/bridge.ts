import { setTimeout as pause } from 'node:timers/promises';
import { SdkHttpError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { JSONRPCMessage, JSONRPCRequest } from '@modelcontextprotocol/server';
import { Result } from 'neverthrow';
import type { SpaceTokenRefusal } from '../app/ports/browser-sign-in.ts';
import type { WorkspaceFacts } from '../app/ports/workspace-observer.ts';
import { isObject, type JsonObject } from '../core/json/json-value.ts';
import { defaultWorkspace, folderOf } from './client-root.ts';
import { FILES_MISSING_CODE, type TextFile, WORKFLOW_TOOLS, WORKFLOWS_META_KEY } from './described-workflows.ts';
import { CALL_ID_META_KEY, WORKSPACE_META_KEY } from './described-workspace.ts';
import { stdioTransport } from './serve-stdio.ts';
import { callsUnderWay } from './server.ts';

export type Bridging = {
  /** The MCP address of a space. */
  readonly url: URL;
  /** The token for the next request. It is another one than the one that the server refused, if there is one. */
  readonly token: (refused?: string) => Promise<Result<string, SpaceTokenRefusal>>;
  /** What the user types to sign in again. */
  readonly signInCommand: string;
  /** Looks at a folder of this machine; at its files only if asked, because that takes longer. */
  readonly factsOf: (folder: string, wish: { readonly isTreeAsked: boolean }) => Promise<WorkspaceFacts>;
  /** The workflow files of a project in a folder of this machine. */
  readonly workflowsOf: (folder: string) => Promise<readonly TextFile[]>;
  readonly place: { readonly workingDir: string; readonly homeDir: string };
  /** Names a call, so that the server recognises it when it is sent again. */
  readonly newCallId: () => string;
  /** Says something that no reply can say. */
  readonly trouble: (message: string) => void;
};

export type Bridge = { readonly stop: () => Promise<void> };

/**
 * Passes what a client says on standard input to a team server, and its answers back. It adds what only this machine
 * knows, and repeats a call whose outcome is unknown: the server carries out a call of one name once.
 */
export async function bridge(bridging: Bridging): Promise<Bridge> {
  const { url, trouble } = bridging;
  const calls = callsUnderWay();
  const local = stdioTransport(calls, trouble);
  const { remote, authorized } = remoteWithToken(bridging);
  const waiting = new Map<JSONRPCRequest['id'], (failure: Failure | undefined) => void>();
  const versions = new Set<JSONRPCRequest['id']>();

  remote.onmessage = (message) => {
    if ('id' in message && message.id !== undefined && !('method' in message)) {
      if (versions.delete(message.id)) keepVersion(remote, message);
      const missing = missingFiles(message);
      waiting.get(message.id)?.(missing);
      if (missing !== undefined) return;
    }
    local.send(message).catch((cause: unknown) => trouble(String(cause)));
  };
  const send = (message: JSONRPCRequest): Promise<Failure | undefined> =>
    new Promise((settle) => {
      waiting.set(message.id, settle);
      const onRequestStreamEnd = () => settle(NO_ANSWER);
      remote.send(message, { onRequestStreamEnd }).catch((cause: unknown) => settle(failureOf(cause)));
    });

  const ask = async (message: JSONRPCRequest): Promise<Failure | undefined> => {
    const first = await authorized();
    if (first.isErr()) return first.error;
    const failure = await send(message);
    if (failure?.isUnauthorized !== true) return failure;
    // Refused before any work. Somebody may have ended the token early, and the provider may give out another one.
    const other = await authorized(first.value);
    if (other.isErr()) return other.error;
    return other.value === first.value ? failure : send(message);
  };

  async function answer(request: JSONRPCRequest): Promise<void> {
    if (request.method === 'initialize') versions.add(request.id);
    const [asked, files] = request.method === 'tools/call' ? await described(request, bridging) : [request, []];
    let sent = withFiles(asked, files, []);
    for (let tries = 1; ; tries++) {
      const failure = await ask(sent);
      waiting.delete(request.id);
      if (failure === undefined) return;
      if (tries < TRIES_MAX && failure.missing !== undefined) {
        sent = withFiles(asked, files, failure.missing);
        continue;
      }
      if (tries < TRIES_MAX && failure.isPassing) {
        await pause(FIRST_PAUSE_MS * 2 ** (tries - 1));
        continue;
      }
      return local.send(failureReply(request, failure, url));
    }
  }

  local.onmessage = (message: JSONRPCMessage) => {
    const passed =
      'method' in message && 'id' in message
        ? calls.during(() => answer(message as JSONRPCRequest))
        : authorized().then((token) => (token.isOk() ? remote.send(message) : trouble(token.error.reason)));
    passed.catch((cause: unknown) => trouble(failureOf(cause).reason));
  };
  await remote.start();
  await local.start();
  return {
    stop: async () => {
      await calls.settled();
      await remote.close();
    },
  };
}

type Remote = {
  readonly remote: StreamableHTTPClientTransport;
  /** Takes the token that the next requests should have. */
  readonly authorized: (refused?: string) => Promise<Result<string, Failure>>;
};

function remoteWithToken({ url, token, signInCommand }: Bridging): Remote {
  let current = '';
  const remote = new StreamableHTTPClientTransport(url, {
    fetch: async (address, init) => {
      const headers = new Headers(init?.headers);
      headers.set('authorization', `Bearer ${current}`);
      return boundedAnswer(await fetch(address, { ...init, headers }));
    },
  });
  const authorized = async (refused?: string) => {
    const found = await token(refused);
    if (found.isOk()) current = found.value;
    return found.mapErr((refusal) => withoutToken(refusal, signInCommand));
  };
  return { remote, authorized };
}

const ANSWER_BYTES_MAX = 32 * 1024 * 1024;
const ANSWER_TOO_LONG = 'ANSWER_TOO_LONG';

/** The same answer, which breaks off where it gets too long. A stream of events may go on for ever; each of them is bounded. */
export function boundedAnswer(answer: Response, bytesMax = ANSWER_BYTES_MAX): Response {
  if (answer.body === null) return answer;
  const isStream = answer.headers.get('content-type')?.includes('text/event-stream') === true;
  let length = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, out) => {
      const isEventOver = isStream && /\n\r?\n/.test(Buffer.from(chunk).toString('latin1'));
      length = isEventOver ? chunk.length : length + chunk.length;
      if (length <= bytesMax) return out.enqueue(chunk);
      const reason = `Its answer has more than ${bytesMax} bytes.`;
      out.error(Object.assign(new Error(reason), { code: ANSWER_TOO_LONG }));
    },
  });
  const { status, statusText, headers } = answer;
  return new Response(answer.body.pipeThrough(counted), { status, statusText, headers });
}

/** Later requests on the connection name the version that the server chose. */
function keepVersion(remote: StreamableHTTPClientTransport, message: JSONRPCMessage): void {
  const result = 'result' in message ? message.result : undefined;
  const version = isObject(result) ? result['protocolVersion'] : undefined;
  if (typeof version === 'string') remote.setProtocolVersion(version);
}

/** A call with what this machine knows about its workspace, and without the path, which means nothing elsewhere. */
async function described(
  request: JSONRPCRequest,
  { factsOf, workflowsOf, place, newCallId }: Pick<Bridging, 'factsOf' | 'workflowsOf' | 'place' | 'newCallId'>,
): Promise<readonly [JSONRPCRequest, readonly TextFile[]]> {
  const { arguments: sent, _meta, ...params } = (request.params ?? {}) as JsonObject;
  const { workspacePath, ...others } = isObject(sent) ? sent : {};
  const argument = typeof workspacePath === 'string' ? (folderOf(workspacePath) ?? workspacePath) : undefined;
  const folder = defaultWorkspace({ ...place, argument });
  const isTreeAsked = params['name'] === 'continue_workflow';
  const facts = folder === undefined ? {} : await factsOf(folder, { isTreeAsked });
  // Every try has the same name, so that a start is carried out once.
  const meta = { [CALL_ID_META_KEY]: newCallId(), ...(isObject(_meta) ? _meta : {}), [WORKSPACE_META_KEY]: facts };
  const isAboutWorkflows = WORKFLOW_TOOLS.includes(String(params['name']));
  const files = folder === undefined || !isAboutWorkflows ? [] : await workflowsOf(folder);
  return [{ ...request, params: { ...params, arguments: others, _meta: meta } }, files];
}

/** The call with the names of the project's workflow files, and with the texts of those that the server asked for. */
function withFiles(request: JSONRPCRequest, files: readonly TextFile[], missing: readonly string[]): JSONRPCRequest {
  if (files.length === 0) return request;
  const named = files.map(({ ref, digest, text }) => ({ ref, digest, ...(missing.includes(digest) ? { text } : {}) }));
  return {
    ...request,
    params: { ...request.params, _meta: { ...request.params?._meta, [WORKFLOWS_META_KEY]: named } },
  };
}

/** Which files a server asks for that cannot answer without their texts. */
function missingFiles(message: JSONRPCMessage): Failure | undefined {
  const error = 'error' in message ? message.error : undefined;
  const digests = error?.code === FILES_MISSING_CODE && isObject(error.data) ? error.data['missing'] : undefined;
  if (!Array.isArray(digests)) return undefined;
  return { isOutcomeKnown: true, isPassing: false, reason: error?.message ?? '', missing: digests.map(String) };
}

/** Why a request got no answer. */
type Failure = {
  /** Whether the server may have done the work. */
  readonly isOutcomeKnown: boolean;
  readonly isPassing: boolean;
  readonly reason: string;
  /** Whether the server did not take the token. */
  readonly isUnauthorized?: boolean;
  /** Whether nothing was sent because the user must sign in again. */
  readonly isSignInOver?: boolean;
  /** The digests of files whose texts the server needs. */
  readonly missing?: readonly string[];
};

const NO_ANSWER: Failure = {
  isOutcomeKnown: false,
  isPassing: true,
  reason: 'The connection ended without an answer.',
};
/** The server was not reached, so it has done nothing. */
const UNREACHED = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'UND_ERR_CONNECT_TIMEOUT'];
/** Refused before any work. */
const TOO_BUSY = [429, 503];
const GATEWAY = [502, 504];
const UNAUTHORIZED = 401;

/** Nothing was sent. */
function withoutToken(refusal: SpaceTokenRefusal, signInCommand: string): Failure {
  if (refusal.code === 'identity_unreachable') {
    const reason = `Your sign-in could not be renewed, because the identity provider did not answer (${refusal.cause}).`;
    return { isOutcomeKnown: true, isPassing: true, reason };
  }
  const reason = `The user's sign-in is over. Ask the user to run this in a terminal, then send the same call again: ${signInCommand}`;
  return { isOutcomeKnown: true, isPassing: false, isSignInOver: true, reason };
}

function failureOf(cause: unknown): Failure {
  if (cause instanceof SdkHttpError) {
    const isPassing = [...TOO_BUSY, ...GATEWAY].includes(cause.status);
    const isUnauthorized = cause.status === UNAUTHORIZED;
    return { isOutcomeKnown: !GATEWAY.includes(cause.status), isPassing, isUnauthorized, reason: saidBy(cause) };
  }
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  const code = isObject(inner) ? inner['code'] : undefined;
  const reason = inner instanceof Error ? inner.message || String(code) : String(inner);
  return { isOutcomeKnown: UNREACHED.includes(String(code)), isPassing: code !== ANSWER_TOO_LONG, reason };
}

/** A proxy may answer with a page. */
const readJson = Result.fromThrowable((text: string): unknown => JSON.parse(text));

/** The server's own words, if it has any. */
function saidBy({ status, data: { text }, message }: SdkHttpError): string {
  const said = readJson(String(text ?? '')).unwrapOr(undefined);
  const error = isObject(said) ? said['error'] : undefined;
  const words = isObject(error) ? error['message'] : undefined;
  return typeof words === 'string' ? words : `${message} (HTTP ${status})`;
}

const TRIES_MAX = 4;
const FIRST_PAUSE_MS = 250;
/** A new call of these has another name, and so makes another run. */
const STARTS = ['start_workflow', 'start_session'];

/** Models read the result of a call, and not its error. */
function failureReply(request: JSONRPCRequest, failure: Failure, url: URL): JSONRPCMessage {
  const { id, method } = request;
  const text =
    failure.isSignInOver === true
      ? failure.reason
      : `The team server at ${url.origin} did not answer: ${failure.reason} ${adviceOn(request, failure)}`;
  if (method !== 'tools/call') return { jsonrpc: '2.0', id, error: { code: -32_000, message: text } };
  return { jsonrpc: '2.0', id, result: { isError: true, content: [{ type: 'text', text }] } };
}

function adviceOn({ params }: JSONRPCRequest, { isOutcomeKnown, isPassing }: Failure): string {
  if (!isPassing) return 'Tell the user.';
  if (isOutcomeKnown || !STARTS.includes(String(params?.['name']))) {
    return 'Nothing is lost: send the same call again in a minute.';
  }
  return 'It may have started the run: call resume_session with words of the goal before you start it again.';
}
