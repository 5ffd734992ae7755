import { Client as Client2, StreamableHTTPClientTransport as Http2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema, ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { isLong } from '../volume.ts';
import { hostedTransport, NO_PROJECT, SMALL_PROGRAM } from './small-program.ts';

export type ToolResult = {
  readonly isError?: boolean;
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent?: Record<string, unknown>;
};

/** The little that a test needs of a client, whichever library it comes from. */
export type TestClient = {
  instructions(): string | undefined;
  listTools(): Promise<readonly { readonly name: string }[]>;
  call(name: string, args: Record<string, unknown>): Promise<ToolResult>;
  listPrompts(): Promise<readonly { readonly name: string }[]>;
  prompt(name: string, args: Record<string, string>): Promise<string>;
  close(): Promise<void>;
};

/** Where a server is: started with an environment, or listening at an address. */
type Place = StartedPlace | { readonly url: string; readonly token: string };

type StartedPlace = {
  readonly env: Record<string, string>;
  readonly cwd?: string;
  readonly program?: string;
  /** The command, if it is not `serve`; always a process of its own. */
  readonly command?: readonly string[];
  /** Whether the server must be a process that nobody else used before. All are in a long check. */
  readonly isNewProcess?: true;
};

type ClientOptions = {
  /** Folders that the client says it works in; without any it cannot tell. */
  readonly roots?: readonly string[];
  /** Called when the server asks for them. */
  readonly onRootsAsked?: () => void;
  /** What the person at the client does with a form; without it the client shows none. */
  readonly onForm?: (form: AskedForm) => FormAnswer | Promise<FormAnswer>;
};

/** A form that the server asks the person to fill in. */
export type AskedForm = { readonly message: string; readonly requestedSchema: Record<string, unknown> };
export type FormAnswer = {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Record<string, string>;
};

type ConnectTo = (place: Place, options?: ClientOptions) => Promise<TestClient>;
type Connect = (env: Record<string, string>) => Promise<TestClient>;

const identity = { name: 'workrail-test', version: '0' };

/** Both generations of the client library, the newer one in both protocol eras. */
export const CLIENT_KINDS: { readonly [name: string]: ConnectTo } = {
  'client 2.x': (place, options = {}) => connect2({}, place, options),
  'client 2.x on protocol 2026-07-28': (place, options = {}) =>
    connect2({ versionNegotiation: { mode: { pin: '2026-07-28' } } }, place, options),
  'client 1.x': connect1,
};

/** The same, each with a server that it starts itself. */
export const CLIENTS: { readonly [name: string]: Connect } = Object.fromEntries(
  Object.entries(CLIENT_KINDS).map(([name, connect]) => [name, (env: Record<string, string>) => connect({ env })]),
);

function withToken({ token }: { readonly token: string }): { readonly requestInit: RequestInit } {
  return { requestInit: { headers: { authorization: `Bearer ${token}` } } };
}

async function connect1(place: Place, { roots, onRootsAsked, onForm }: ClientOptions = {}): Promise<TestClient> {
  const client = new Client1(identity, { capabilities: capabilitiesOf({ roots, onForm }) });
  if (onForm !== undefined) {
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => onForm(params as unknown as AskedForm));
  }
  if (roots !== undefined) {
    client.setRequestHandler(ListRootsRequestSchema, () => {
      onRootsAsked?.();
      return rootList(roots);
    });
  }
  // The library's own types disagree with each other about what may be undefined.
  const transport = 'url' in place ? new Http1(new URL(place.url), withToken(place)) : stdioTo(place, Stdio1);
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  return {
    instructions: () => client.getInstructions(),
    listTools: async () => (await client.listTools()).tools,
    call: async (name, args) => (await client.callTool({ name, arguments: args })) as ToolResult,
    listPrompts: async () => (await client.listPrompts()).prompts,
    prompt: async (name, args) => textOf(await client.getPrompt({ name, arguments: args })),
    close: () => client.close(),
  };
}

async function connect2(
  negotiation: NonNullable<ConstructorParameters<typeof Client2>[1]>,
  place: Place,
  { roots, onRootsAsked, onForm }: ClientOptions,
): Promise<TestClient> {
  const client = new Client2(identity, { ...negotiation, capabilities: capabilitiesOf({ roots, onForm }) });
  if (onForm !== undefined) {
    client.setRequestHandler('elicitation/create', async ({ params }) => onForm(params as unknown as AskedForm));
  }
  if (roots !== undefined) {
    client.setRequestHandler('roots/list', () => {
      onRootsAsked?.();
      return rootList(roots);
    });
  }
  const transport = 'url' in place ? new Http2(new URL(place.url), withToken(place)) : stdioTo(place, Stdio2);
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  return {
    instructions: () => client.getInstructions(),
    listTools: async () => (await client.listTools()).tools,
    call: async (name, args) => (await client.callTool({ name, arguments: args })) as ToolResult,
    listPrompts: async () => (await client.listPrompts()).prompts,
    prompt: async (name, args) => textOf(await client.getPrompt({ name, arguments: args })),
    close: () => client.close(),
  };
}

function capabilitiesOf({ roots, onForm }: { readonly roots: unknown; readonly onForm: unknown }) {
  return { ...(roots === undefined ? {} : { roots: {} }), ...(onForm === undefined ? {} : { elicitation: {} }) };
}

type Stdio = new (server: { command: string; args: string[]; env: Record<string, string>; cwd: string }) => object;

function stdioTo(place: StartedPlace, Transport: Stdio): object {
  const { env, cwd = NO_PROJECT, program, command, isNewProcess = isLong || command !== undefined } = place;
  if (program === undefined && !isNewProcess) return hostedTransport({ env, cwd });
  const args = [program ?? SMALL_PROGRAM, ...(command ?? ['serve'])];
  return new Transport({ command: process.execPath, args, env, cwd });
}

function rootList(roots: readonly string[]) {
  return { roots: roots.map((uri) => ({ uri })) };
}

function textOf({ messages }: { readonly messages: readonly { readonly content: unknown }[] }): string {
  return messages.map(({ content }) => (content as { readonly text?: string }).text ?? '').join('\n');
}
