import { PassThrough } from 'node:stream';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { advance } from '../../src/app/run/advance.ts';
import { rehydrate } from '../../src/app/run/rehydrate.ts';
import { type StartRequest, startWorkflow } from '../../src/app/run/start-workflow.ts';
import type { Services } from '../../src/app/services.ts';
import { assert } from '../../src/core/assert.ts';
import type { JsonObject, JsonValue } from '../../src/core/json/json-value.ts';
import { mcpBackend, mcpServer } from '../../src/mcp/server.ts';

export type Call = { readonly tool: string; readonly arguments: JsonObject };
export type Reply = { readonly text: string; readonly structured: JsonObject };

/** A way to call the engine. Preparing a call and reading its reply is the client's work, and not measured. */
export type Layer = {
  readonly name: 'app' | 'mcp';
  readonly ready: (call: Call) => () => Promise<() => Reply>;
};

/** The use cases themselves. */
export function appLayer(services: Services, workspace: string): Layer {
  return {
    name: 'app',
    ready: (call) => async () => {
      const reply = (await useCase(services, call, workspace))._unsafeUnwrap();
      return () => reply;
    },
  };
}

function useCase(services: Services, { tool, arguments: sent }: Call, workspace: string) {
  const { ackToken, stateToken, output, context } = sent;
  if (tool === 'start_workflow') return startWorkflow(services, { workspace, ...sent } as unknown as StartRequest);
  if (typeof ackToken !== 'string') return rehydrate(services, { stateToken: String(stateToken), workspace });
  const { notesMarkdown, artifacts = [] } = (output ?? {}) as { notesMarkdown?: string; artifacts?: JsonObject[] };
  return advance(services, { ackToken, output: { notesMarkdown, artifacts }, context: context as JsonObject });
}

/** A whole server: a line of JSON goes in and a line of JSON comes out, as on standard input and output. */
export async function mcpLayer(services: Services, workspace: string): Promise<Layer> {
  const backend = mcpBackend({ version: '0', services: async () => services, isLogged: false });
  const [input, output] = [new PassThrough(), new PassThrough()];
  const transport = new StdioServerTransport(input, output as unknown as typeof process.stdout);
  serveStdio(() => mcpServer({ ...backend, place: { workingDir: workspace, homeDir: '/nowhere' } }), { transport });
  const lines = lineReader(output);
  let id = 0;
  const exchange = (line: string) => {
    const reply = lines.next();
    input.write(line);
    return reply;
  };
  const request = (method: string, params: JsonObject) =>
    `${JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params })}\n`;
  await exchange(request('initialize', HELLO));
  input.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  return {
    name: 'mcp',
    ready: ({ tool, arguments: sent }) => {
      const line = request('tools/call', { name: tool, arguments: sent });
      return async () => {
        const reply = await exchange(line);
        return () => replyIn(reply);
      };
    },
  };
}

const HELLO = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '0' } };

/** The content of a line from a server. */
export function replyIn(line: string): Reply {
  const { result } = JSON.parse(line) as {
    result: { isError?: boolean; content: { text: string }[]; structuredContent: JsonObject };
  };
  assert(result.isError !== true, `refused: ${line}`);
  return { text: result.content[0]?.text ?? '', structured: result.structuredContent };
}

/** Replies in order, each to the oldest request. */
export function lineReader(stream: NodeJS.ReadableStream): { next(): Promise<string> } {
  const waiting: ((line: string) => void)[] = [];
  const parts: string[] = [];
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    parts.push(chunk);
    if (!chunk.endsWith('\n')) return;
    for (const line of parts.splice(0).join('').trimEnd().split('\n')) waiting.shift()?.(line);
  });
  return { next: () => new Promise((resolve) => waiting.push(resolve)) };
}

export function textOf(value: JsonValue | undefined): string {
  assert(typeof value === 'string', 'a reply has its tokens');
  return value;
}
