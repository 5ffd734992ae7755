import { Client as Client2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js';

export type ToolResult = {
  readonly isError?: boolean;
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent?: Record<string, unknown>;
};

/** The little that a test needs of a client, whichever library it comes from. */
export type TestClient = {
  listTools(): Promise<readonly { readonly name: string }[]>;
  call(name: string, args: Record<string, unknown>): Promise<ToolResult>;
  close(): Promise<void>;
};

type Connect = (env: Record<string, string>) => Promise<TestClient>;

const identity = { name: 'workrail-test', version: '0' };
const server = { command: process.execPath, args: ['dist/workrail.js', 'serve'] };

/** Both generations of the client library, the newer one in both protocol eras. */
export const CLIENTS: { readonly [name: string]: Connect } = {
  'client 2.x': (env) => connect2(new Client2(identity), env),
  'client 2.x on protocol 2026-07-28': (env) =>
    connect2(new Client2(identity, { versionNegotiation: { mode: { pin: '2026-07-28' } } }), env),
  'client 1.x': async (env) => {
    const client = new Client1(identity);
    await client.connect(new Stdio1({ ...server, env }));
    return {
      listTools: async () => (await client.listTools()).tools,
      call: async (name, args) => (await client.callTool({ name, arguments: args })) as ToolResult,
      close: () => client.close(),
    };
  },
};

async function connect2(client: Client2, env: Record<string, string>): Promise<TestClient> {
  await client.connect(new Stdio2({ ...server, env }));
  return {
    listTools: async () => (await client.listTools()).tools,
    call: async (name, args) => (await client.callTool({ name, arguments: args })) as ToolResult,
    close: () => client.close(),
  };
}
