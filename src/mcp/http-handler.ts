import { createMcpHandler } from '@modelcontextprotocol/server';
import { MESSAGE_BYTES_MAX } from './serve-stdio.ts';
import { type Backend, mcpServer } from './server.ts';

/** MCP as a function from requests to responses. It is stateless and leaves access control to its caller. */
export type McpHttpHandler = {
  readonly fetch: (request: Request) => Promise<Response>;
  readonly stop: () => Promise<void>;
};

export function mcpHttpHandler(backend: Backend): McpHttpHandler {
  const { log, calls } = backend;
  // The next request may come from another client, so errors name no recent runs.
  const recent = { ...backend.recent, ofEachRun: () => [] };
  const handler = createMcpHandler(() => mcpServer({ ...backend, recent }), {
    onerror: ({ message }) => log.event('refused_request', { message }),
    maxRequestBodySize: MESSAGE_BYTES_MAX,
  });
  return {
    fetch: (request) => handler.fetch(request),
    stop: async () => {
      await calls.settled();
      await handler.close();
    },
  };
}
