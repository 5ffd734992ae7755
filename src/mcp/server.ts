import { homedir } from 'node:os';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type ServerOptions,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import type { SessionStore } from '../app/ports/session-store.ts';
import type { WorkspaceObserver } from '../app/ports/workspace-observer.ts';
import type { Services } from '../app/services.ts';
import { defined, isObject, type JsonObject } from '../core/json/json-value.ts';
import type { By } from '../core/log/events/event-envelope.ts';
import type { ToolCall } from './answer-call.ts';
import type { Answered, PersonAsker } from './ask-person.ts';
import { calledBy, clientRoot } from './client-root.ts';
import { FILES_MISSING_CODE, WORKFLOW_TOOLS, WORKFLOWS_META_KEY } from './described-workflows.ts';
import { type RecentReplies, recentReplies } from './explain/recent-replies.ts';
import { INSTRUCTIONS, listedPrompts, promptNamed } from './instructions.ts';

/** Calls that are not answered yet, so that a server can let them finish before it stops. */
export type CallsUnderWay = {
  during<Value>(work: () => Promise<Value>): Promise<Value>;
  /** Waits until there are none, for a limited time. Input that has just arrived gets the chance to start a call. */
  settled(): Promise<void>;
};

/** Longer than any call that does not wait for a lock of another process. */
const SETTLE_MS_MAX = 5_000;
const LOOK_EVERY_MS = 5;

export function callsUnderWay(): CallsUnderWay {
  let count = 0;
  return {
    during: (work) => {
      count += 1;
      return work().finally(() => {
        count -= 1;
      });
    },
    settled: async () => {
      await nextTurn();
      await nextTurn();
      const end = performance.now() + SETTLE_MS_MAX;
      while (count > 0 && performance.now() < end) await pause(LOOK_EVERY_MS);
      // A reply is written in the turn after its call has ended.
      await nextTurn();
    },
  };
}

/** What a server needs. */
export type Backend = {
  readonly version: string;
  /** Everything behind the tools. Loaded once, on first use; loading opens nothing. */
  readonly services: () => Promise<Services>;
  readonly recent: RecentReplies;
  readonly log: ServerLog;
  readonly calls: CallsUnderWay;
  /** Notes that a call has appended something. */
  readonly appended: (by: By) => void;
  /** Notes that a tool was called, without a refusal. */
  readonly called: (tool: string) => void;
  readonly place: { readonly workingDir: string; readonly homeDir: string };
  /** Whether agents may start a session without a workflow. */
  readonly isSessionStartOn?: boolean;
  /** Who is signed in; only a team server knows. */
  readonly caller?: SignedIn | undefined;
  /** Reads what a call says about a workspace on the caller's machine; only a team server needs it. */
  readonly describedWorkspace?: (meta: unknown) => WorkspaceObserver;
  /** The workflows of a call that brings files of its project along; only a team server cannot read them itself. */
  readonly catalogOf?: (meta: unknown) => CallCatalog | undefined;
  /** The ids of a call that its sender has named; only a team server needs them, where an answer can be lost. */
  readonly idsOfCall?: (meta: unknown, call: ToolCall, principal: string) => Services['ids'] | undefined;
  /** Runs a call in a span; only a team server has operators who look at traces. */
  readonly traced?: <Value>(
    call: { readonly meta: unknown; readonly tool: string },
    work: () => Promise<Value>,
  ) => Promise<Value>;
  /** The sessions as somebody may continue them; only a team server makes a difference. */
  readonly sessionsFor?: (principal: string, sessions: SessionStore) => SessionStore;
};

export type CallCatalog =
  | { readonly kind: 'catalog'; readonly catalog: Services['catalog'] }
  | { readonly kind: 'missing'; readonly digests: readonly string[] };

/** Somebody who is signed in. A reader can look at everything and change nothing. */
export type SignedIn = { readonly principal: string; readonly isReader: boolean };

/** A server for one connection. What is behind its tools is loaded after its first reply. */
export function mcpServer(backend: Backend): Server {
  const server = new Server(
    { name: 'workrail', title: 'WorkRail', version: backend.version },
    // The library would answer in our place when a person does not, so a slip must fail loudly.
    {
      capabilities: { tools: {}, prompts: {} },
      instructions: INSTRUCTIONS,
      inputRequired: { legacyShim: false },
      jsonSchemaValidator: formValidator,
    },
  );
  const root = clientRoot(server);
  server.setRequestHandler('tools/list', () =>
    backend.calls.during(async () => ({ tools: (await answering()).publishedTools(backend) })),
  );
  const person = personOf(server, backend);
  server.setRequestHandler('tools/call', async ({ params }, given) => {
    const context = ofItsEra(server, given);
    const call = { name: params.name, arguments: (params.arguments ?? {}) as JsonObject };
    const settled = await backend.calls.during(async () => {
      const said = context.mcpReq.inputResponses === undefined ? undefined : await (await person()).answered(context);
      if (said !== undefined) return { isFinal: true, result: said } as const;
      const { needsRoot } = await answering();
      // A folder of the client's machine means nothing to a team server.
      const isRootNeeded = backend.describedWorkspace === undefined && needsRoot(call);
      const known = isRootNeeded ? await root(context) : undefined;
      if (known?.kind === 'ask') return { isFinal: true, result: known.question } as const;
      const meta = params._meta;
      const by = { ...calledBy(server, context.mcpReq.envelope), ...principalOf(backend) };
      const work = () => answered(backend, call, { root: known?.path, by, meta });
      const { result, isNew } = await (backend.traced?.({ meta, tool: call.name }, work) ?? work());
      const { kind } = (result.structuredContent ?? {}) as JsonObject;
      return kind === 'blocked'
        ? ({ isFinal: false, block: { result, isNew } } as const)
        : ({ isFinal: true, result } as const);
    });
    // Waiting for a person is not a call under way: the server must end at once when the client hangs up.
    return settled.isFinal ? settled.result : (await person()).ask(settled.block, context);
  });
  server.setRequestHandler('prompts/list', () => ({ prompts: listedPrompts() }));
  server.setRequestHandler('prompts/get', ({ params: { name, arguments: given = {} } }) => {
    const prompt = promptNamed(name, given);
    if (prompt !== undefined) return prompt;
    const names = listedPrompts().map((one) => one.name);
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `Unknown prompt "${name}". The prompts are ${names.join(', ')}.`,
    );
  });
  return server;
}

/** The first version of the protocol in which a reply can ask for input. */
const INPUT_REQUIRED_SINCE = '2026-07-28';

/**
 * A connection keeps the version that it was opened with. A call on an older one may carry fields of a newer one, and an
 * answer to them would be an error.
 */
function ofItsEra(server: Server, context: ServerContext): ServerContext {
  const version = server.getNegotiatedProtocolVersion();
  if (version !== undefined && version >= INPUT_REQUIRED_SINCE) return context;
  const { envelope: _, inputResponses: __, ...mcpReq } = context.mcpReq;
  return { ...context, mcpReq };
}

/**
 * Checks what a client returns for one of our forms, which have only texts. The validator of the library is half of its
 * code and takes most of the time until the first reply.
 */
const formValidator: NonNullable<ServerOptions['jsonSchemaValidator']> = {
  getValidator: (schema) => {
    const { properties = {}, required = [] } = schema as FormSchema;
    const isFitting = (content: JsonObject) =>
      required.every((name) => Object.hasOwn(content, name)) &&
      Object.entries(properties).every(([name, field]) => !Object.hasOwn(content, name) || fits(content[name], field));
    return (content) =>
      isObject(content) && isFitting(content)
        ? { valid: true, data: content as never, errorMessage: undefined }
        : { valid: false, data: undefined, errorMessage: 'the answer does not fit the form' };
  },
};

type FormField = { readonly enum?: readonly string[]; readonly minLength?: number; readonly maxLength?: number };
type FormSchema = {
  readonly properties?: { readonly [name: string]: FormField };
  readonly required?: readonly string[];
};

function fits(
  value: unknown,
  { enum: choices, minLength = 0, maxLength = Number.POSITIVE_INFINITY }: FormField,
): boolean {
  if (typeof value !== 'string') return false;
  const { length } = [...value];
  return (choices?.includes(value) ?? true) && length >= minLength && length <= maxLength;
}

/** What asks the person at the client; loaded when a block may need it. */
function personOf(server: Server, backend: Backend): () => Promise<PersonAsker> {
  let asker: Promise<PersonAsker> | undefined;
  const retry = (ackToken: string, by: By) =>
    backend.calls.during(async () => {
      const call = { name: 'continue_workflow', arguments: { ackToken } };
      return (await answered(backend, call, { root: undefined, by })).result;
    });
  return () => {
    asker ??= import('./ask-person.ts').then(({ personAsker }) =>
      personAsker({
        server,
        services: backend.services,
        retry,
        trouble: backend.log.trouble,
      }),
    );
    return asker;
  };
}

/** Loads what the first call needs. */
export async function warmUp({ services }: Pick<Backend, 'services'>): Promise<void> {
  await Promise.all([answering(), services()]);
}

function answering() {
  return import('./answer-call.ts');
}

async function answered(
  backend: Backend,
  call: ToolCall,
  { root, by, meta }: { readonly root: string | undefined; readonly by: By; readonly meta?: unknown },
): Promise<Answered> {
  const begin = performance.now();
  const { answerCall, faultAnswer } = await answering();
  const { recent, place, isSessionStartOn = false, caller, describedWorkspace, sessionsFor, idsOfCall } = backend;
  const { sessions, ...others } = await backend.services();
  let isNew = false;
  const append: typeof sessions.append = (...plan) => {
    isNew = true;
    return sessions.append(...plan);
  };
  const workspace = describedWorkspace?.(meta) ?? others.workspace;
  const own = caller === undefined ? sessions : (sessionsFor?.(caller.principal, sessions) ?? sessions);
  const ids = (caller && idsOfCall?.(meta, call, caller.principal)) ?? others.ids;
  const catalog = WORKFLOW_TOOLS.includes(call.name) ? broughtCatalog(backend, meta) : undefined;
  const services = { ...others, workspace, ids, sessions: { ...own, append }, by, ...defined({ catalog }) };
  const context = {
    services,
    recent,
    place: { ...place, root },
    isSessionStartOn,
    isReader: caller?.isReader === true,
  };
  const result = await answerCall(context, call).catch((bug: unknown) => {
    backend.log.trouble(bug instanceof Error ? (bug.stack ?? bug.message) : String(bug));
    return faultAnswer(call);
  });
  const entry = entryFor(call, result, performance.now() - begin);
  backend.log.call(entry);
  if (entry.outcome !== 'error') backend.called(call.name);
  if (isNew) backend.appended(by);
  return { result, isNew };
}

/** Throws what makes the bridge send the call again, with the texts that are missing here. */
function broughtCatalog({ catalogOf }: Backend, meta: unknown): Services['catalog'] | undefined {
  const brought = catalogOf?.(meta);
  if (brought?.kind !== 'missing') return brought?.catalog;
  throw new ProtocolError(
    FILES_MISSING_CODE,
    `Send the call again, with the texts of these files in _meta["${WORKFLOWS_META_KEY}"]: data.missing has their digests.`,
    { missing: brought.digests },
  );
}

function principalOf({ caller }: Pick<Backend, 'caller'>): Pick<By, 'principal'> {
  return caller === undefined ? {} : { principal: caller.principal };
}

function entryFor({ name }: ToolCall, { structuredContent }: CallToolResult, ms: number): CallEntry {
  const { kind, error, run } = (structuredContent ?? {}) as {
    readonly kind?: string;
    readonly error?: { readonly code: string };
    readonly run?: { readonly tag: string };
  };
  return {
    tool: name.slice(0, TOOL_NAME_SHOWN_MAX),
    outcome: kind === 'blocked' || kind === 'error' ? kind : 'ok',
    ...(error === undefined ? {} : { code: error.code }),
    ...(run === undefined ? {} : { run: run.tag }),
    ms: Math.round(ms),
  };
}

/** The name of an unknown tool can have any length. */
const TOOL_NAME_SHOWN_MAX = 64;

// Generating code for a schema takes longer than it saves, because a server uses most schemas once.
z.config({ jitless: true });

export type BackendOptions = {
  readonly version: string;
  /** Called on first use. */
  readonly services: () => Promise<Services>;
  /** Whether to log everything that happens to standard error, as lines of JSON. */
  readonly isLogged: boolean;
  readonly isSessionStartOn?: boolean;
  /** The folder that the server was started in; '' for none. */
  readonly workingDir?: string;
  /** Called when there was no call for a while, with the names of the tools that have been called. */
  readonly onRest?: (called: ReadonlySet<string>) => void;
  /** Called after each call that appended something. */
  readonly onAppend?: (by: By) => void;
};

/** Agents think longer than this between two steps. */
const REST_MS = 2_000;

function restingAfter(onRest: BackendOptions['onRest']): Backend['called'] {
  if (onRest === undefined) return () => undefined;
  const called = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  return (tool) => {
    called.add(tool);
    clearTimeout(timer);
    timer = setTimeout(() => onRest(called), REST_MS).unref();
  };
}

export function mcpBackend({ version, services, isLogged, isSessionStartOn = false, ...on }: BackendOptions): Backend {
  const { workingDir = process.cwd() } = on;
  let opened: Promise<Services> | undefined;
  return {
    version,
    services: () => {
      opened ??= services();
      return opened;
    },
    recent: recentReplies(),
    log: serverLog({
      write: (text) => process.stderr.write(text),
      isStructured: isLogged,
      now: () => new Date(),
    }),
    calls: callsUnderWay(),
    called: restingAfter(on.onRest),
    appended: on.onAppend ?? (() => undefined),
    place: { workingDir, homeDir: homedir() },
    isSessionStartOn,
  };
}

/** The outcome of a call. It contains nothing that an agent wrote. */
type CallEntry = {
  readonly tool: string;
  readonly outcome: 'ok' | 'blocked' | 'error';
  readonly code?: string;
  readonly run?: string;
  readonly ms: number;
};

/** The server's log on standard error; standard output belongs to the protocol. */
type ServerLog = {
  /** A problem that no reply can report. */
  trouble(message: string): void;
  /** Written only if logging is on. */
  call(entry: CallEntry): void;
  event(name: string, facts?: { readonly [name: string]: string | number }): void;
};

type LogOptions = {
  readonly write: (text: string) => void;
  /** A line of JSON for everything that happens, instead of plain text for problems only. */
  readonly isStructured: boolean;
  readonly now: () => Date;
};

export function serverLog({ write, isStructured, now }: LogOptions): ServerLog {
  const line = (level: 'info' | 'error', event: string, facts: object) =>
    write(`${JSON.stringify({ at: now().toISOString(), level, event, ...facts })}\n`);
  if (!isStructured) {
    return { trouble: (message) => write(`workrail: ${message}\n`), call: () => undefined, event: () => undefined };
  }
  return {
    trouble: (message) => line('error', 'trouble', { message }),
    call: (entry) => line(entry.outcome === 'error' ? 'error' : 'info', 'call', entry),
    event: (name, facts = {}) => line('info', name, facts),
  };
}
