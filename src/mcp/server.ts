import { type CallToolResult, Server } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';
import type { Services } from '../app/services.ts';
import type { GivenReply } from '../core/log/operation/stored-reply.ts';
import { errorResult } from './error-result.ts';
import { INTERNAL, unknownTool, wrongArguments } from './explain-call.ts';
import { TOOLS } from './tools/tool-set.ts';

const INSTRUCTIONS =
  'WorkRail walks you through a workflow one step at a time. Call list_workflows, then start_workflow, do the step you are given, and report it with continue_workflow and its ackToken. You do not know the next step before that. If you have lost your place, call continue_workflow with the stateToken alone.';

/** A call may hand in 32 artifacts of 256 KiB, each letter of which JSON may write as six. */
const LINE_BYTES_MAX = 64 * 1024 * 1024;

/** Serves MCP on standard input and output until the client hangs up. Nothing is opened before the first call. */
export function serveMcp(services: Services, version: string): void {
  const transport = new StdioServerTransport(process.stdin, process.stdout, { maxBufferSize: LINE_BYTES_MAX });
  serveStdio(() => mcpServer(services, version), { transport, onerror: (cause) => complain(cause.message) });
}

function mcpServer(services: Services, version: string): Server {
  const server = new Server({ name: 'workrail', version }, { capabilities: { tools: {} }, instructions: INSTRUCTIONS });
  server.setRequestHandler('tools/list', () => ({
    tools: TOOLS.map(({ name, title, description, annotations, input }) => ({
      name,
      title,
      description,
      annotations,
      inputSchema: inputSchema(input),
    })),
  }));
  server.setRequestHandler('tools/call', (request) =>
    callTool(services, request.params.name, request.params.arguments ?? {}).catch((bug: unknown) => {
      complain(bug instanceof Error ? (bug.stack ?? bug.message) : String(bug));
      return errorResult(INTERNAL);
    }),
  );
  return server;
}

/** Standard output belongs to the protocol. */
function complain(text: string): void {
  process.stderr.write(`workrail: ${text}\n`);
}

function inputSchema(input: z.ZodObject): { type: 'object' } {
  const { $schema: _, ...schema } = z.toJSONSchema(input, { io: 'input' });
  return { ...schema, type: 'object' };
}

async function callTool(services: Services, name: string, input: unknown): Promise<CallToolResult> {
  const tool = TOOLS.find((one) => one.name === name);
  if (tool === undefined) return errorResult(unknownTool(name, TOOLS));
  const parsed = tool.input.safeParse(input);
  if (!parsed.success) return errorResult(wrongArguments(tool, parsed.error));
  const reply = await tool.run(services, parsed.data);
  return reply.match(okResult, errorResult);
}

function okResult({ text, structured }: GivenReply): CallToolResult {
  return { content: [{ type: 'text', text }], structuredContent: structured };
}
