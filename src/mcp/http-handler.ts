import { type AuthInfo, createMcpHandler, readRequestBody } from '@modelcontextprotocol/server';
import { SHARED_REPLIES } from './explain/recent-replies.ts';
import {
  excessIn,
  MESSAGE_LIMITS,
  type MessageLimits,
  NO_BATCHES,
  readMessage,
  refusedMessage,
  tooLong,
} from './message-limits.ts';
import { type Backend, mcpServer, type SignedIn } from './server.ts';

/** MCP as a function from requests to responses. It is stateless and leaves access control to its caller. */
export type McpHttpHandler = {
  readonly fetch: (request: Request, caller?: SignedIn) => Promise<Response>;
  readonly stop: () => Promise<void>;
};

export type McpHttpLimits = {
  readonly messages: MessageLimits;
  /** Whether a request may hold several messages. */
  readonly areBatchesTaken: boolean;
};

const OWN_LIMITS: McpHttpLimits = { messages: MESSAGE_LIMITS, areBatchesTaken: true };

export function mcpHttpHandler(
  backend: Backend,
  { messages: limits, areBatchesTaken }: McpHttpLimits = OWN_LIMITS,
): McpHttpHandler {
  const { log, calls } = backend;
  // The next request may come from another client.
  const newServer = ({ authInfo }: { readonly authInfo?: AuthInfo }) =>
    mcpServer({ ...backend, recent: SHARED_REPLIES, caller: authInfo?.extra?.['caller'] as SignedIn | undefined });
  const handler = createMcpHandler(newServer, {
    onerror: ({ message }) => log.event('refused_request', { message }),
    maxRequestBodySize: limits.bytesMax,
  });
  return {
    fetch: async (request, caller) => {
      const auth = caller === undefined ? {} : { authInfo: authInfoOf(caller) };
      if (request.method !== 'POST') return handler.fetch(request, auth);
      const body = await readRequestBody(request, limits.bytesMax);
      const refusal = body.tooLarge ? tooLong(limits) : excessIn(Buffer.from(body.text), limits);
      if (refusal !== undefined) return Response.json(refusedMessage(refusal), { status: body.tooLarge ? 413 : 400 });
      const message = readMessage(body.tooLarge ? '' : body.text);
      if (message.isErr()) return Response.json(refusedMessage(message.error), { status: 400 });
      if (!areBatchesTaken && isBatch(message.value)) {
        return Response.json(refusedMessage(NO_BATCHES), { status: 400 });
      }
      const { url, method, headers, signal } = request;
      return handler.fetch(new Request(url, { method, headers, signal, body: message.value }), auth);
    },
    stop: async () => {
      await calls.settled();
      await handler.close();
    },
  };
}

function isBatch(text: string): boolean {
  return text.trimStart().startsWith('[');
}

/** Access was checked before; this only carries who is calling to the server of the call. */
function authInfoOf(caller: SignedIn): AuthInfo {
  return { token: '', clientId: caller.principal, scopes: [], extra: { caller } };
}
