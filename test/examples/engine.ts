import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { answerAsPerson, pendingPlace } from '../../src/app/author/rehearsal.ts';
import { workflowCatalog } from '../../src/app/catalog/workflow-catalog.ts';
import type { Store } from '../../src/app/ports/store.ts';
import type { SourceListing } from '../../src/app/ports/workflow-sources.ts';
import { type AdvanceRequest, advance } from '../../src/app/run/advance.ts';
import { checkpoint } from '../../src/app/run/checkpoint.ts';
import { rehydrate } from '../../src/app/run/rehydrate.ts';
import { findTokenNode } from '../../src/app/run/run-place.ts';
import { type StartRequest, startWorkflow } from '../../src/app/run/start-workflow.ts';
import type { Services } from '../../src/app/services.ts';
import type { JsonObject, JsonValue } from '../../src/core/json/json-value.ts';
import type { EventKind, EventOf, SessionEvent } from '../../src/core/log/event.ts';
import { derivedBits, type NodeId, RunId, SessionId } from '../../src/core/log/ids.ts';
import type { GivenReply } from '../../src/core/log/operation/stored-reply.ts';
import { replySchema } from '../../src/core/prompt/reply-schema.ts';
import type { StepPlace } from '../../src/core/run/step-place.ts';
import type { SessionView } from '../../src/core/views/session-view.ts';
import { fileWith, listeningTools } from '../catalog/catalog-of.ts';
import { filledArguments } from './filled-call.ts';
import { memoryServices } from './memory-services.ts';
import { sha256 } from './sha256.ts';

/** What an agent sends, with a short form for notes. */
export type Sent = {
  readonly notes?: string;
  readonly artifacts?: readonly JsonObject[];
  readonly context?: JsonObject;
  readonly mode?: AdvanceRequest['mode'];
};

/** The use cases over one store, as an agent calls them. Every reply is checked against the published schema. */
export type Engine = {
  readonly services: Services;
  /** Everything that was appended through these services, in order. */
  readonly events: SessionEvent[];
  readonly start: (workflowId: string, more?: Omit<StartRequest, 'workflowId'>) => Promise<GivenReply>;
  /** Reports the step of a reply as done. */
  readonly send: (from: GivenReply, sent?: Sent) => Promise<GivenReply>;
  /** Sends the call that a reply suggests, with its blanks filled in; what waits for a person is approved first. */
  readonly sendNext: (from: GivenReply) => Promise<GivenReply>;
  /** Shows the step of a reply again. */
  readonly show: (from: GivenReply | string) => Promise<GivenReply>;
  readonly save: (from: GivenReply, notes: string, artifacts?: readonly JsonObject[]) => Promise<GivenReply>;
  /** The current session of a reply. */
  readonly view: (from: GivenReply) => Promise<SessionView>;
  /** The node that a reply is about. */
  readonly node: (from: GivenReply) => Promise<NodeId>;
};

export type EngineParts = {
  readonly store?: Store;
  readonly listing?: () => SourceListing;
  readonly services?: Partial<Services>;
};

/** An engine with the workflows of `test/fixtures/engine` and ids that count up. */
export function engine(parts: EngineParts = {}): Engine {
  const events: SessionEvent[] = [];
  const services = engineServices(parts, events);
  const given = (reply: GivenReply) => {
    expect(replySchema.safeParse(reply.structured).error).toBeUndefined();
    return reply;
  };
  const send: Engine['send'] = async (from, sent = {}) =>
    given((await advance(services, { ackToken: tokenOf(from, 'ackToken'), ...requestOf(sent) }))._unsafeUnwrap());
  return {
    services,
    events,
    start: async (workflowId, more = {}) =>
      given((await startWorkflow(services, { workflowId, workspace: WORKSPACE, ...more }))._unsafeUnwrap()),
    send,
    sendNext: async (from) => {
      const stateToken = tokenOf(from, 'stateToken');
      if (from.structured['kind'] === 'blocked') await answerAsPerson(services, stateToken, 'approve');
      const place = await pendingPlace(services, stateToken);
      return given((await advance(services, nextRequest(from, place)))._unsafeUnwrap());
    },
    show: async (from) => {
      const stateToken = typeof from === 'string' ? from : tokenOf(from, 'stateToken');
      return given((await rehydrate(services, { stateToken, workspace: WORKSPACE }))._unsafeUnwrap());
    },
    save: async (from, notesMarkdown, artifacts = []) => {
      const checkpointToken = tokenOf(from, 'checkpointToken');
      const output = { notesMarkdown, artifacts };
      return given((await checkpoint(services, { checkpointToken, output, workspace: WORKSPACE }))._unsafeUnwrap());
    },
    view: async (from) => {
      const { sessionId } = from.structured['session'] as { readonly sessionId: SessionId };
      return (await services.sessions.load(sessionId))._unsafeUnwrap().view;
    },
    node: async (from) => {
      const found = await findTokenNode(services, { text: tokenOf(from, 'stateToken'), slot: 'stateToken' });
      return found._unsafeUnwrap().target.nodeId;
    },
  };
}

/** The folder that all calls are about. */
export const WORKSPACE = '/work/shop';

const NAMES = ['plain', 'demands', 'modes', 'dependencies', 'loops', 'first-loop', 'powers', 'skips'];

/** The workflow files of the engine's tests, as files of a project. */
export const ENGINE_FILES = NAMES.map((name) => fileWith(fixtureText(name), { ref: `workflows/${name}.json` }));

export function fixtureText(name: string): string {
  return readFileSync(new URL(`../fixtures/engine/${name}.json`, import.meta.url), 'utf8');
}

/** The files of the fixtures and one more. */
export function withFile(file: object): SourceListing {
  return { files: [...ENGINE_FILES, fileWith(JSON.stringify(file), { ref: 'workflows/more.json' })] };
}

function engineServices({ store, listing, services: more }: EngineParts, events: SessionEvent[]): Services {
  const services = memoryServices();
  const { sessions } = store ?? services;
  let made = 0;
  const bits = () => derivedBits(['counted', made++], sha256);
  return {
    ...services,
    ...store,
    sessions: {
      ...sessions,
      append: async (permit, plan) => {
        const appended = await sessions.append(permit, plan);
        if (appended.isOk()) events.push(...plan.events);
        return appended;
      },
    },
    catalog: workflowCatalog({ files: async () => listing?.() ?? { files: ENGINE_FILES } }, listeningTools()),
    ids: { session: () => SessionId.of(bits()), run: () => RunId.of(bits()) },
    workspace: {
      tree: async () => undefined,
      observe: async (workspace) =>
        workspace === undefined
          ? []
          : [{ key: 'repo_root', value: { type: 'path', value: workspace }, confidence: 'high' }],
    },
    ...more,
  };
}

export function tokenOf({ structured }: GivenReply, name: 'ackToken' | 'stateToken' | 'checkpointToken'): string {
  const token = structured[name];
  return typeof token === 'string' ? token : expect.fail(`the reply has no ${name}`);
}

/** The value at a dotted path in the data of a reply. */
export function told({ structured }: GivenReply, path: string): JsonValue | undefined {
  return path
    .split('.')
    .reduce<JsonValue | undefined>(
      (value, key) =>
        typeof value === 'object' && value !== null ? (value as { [key: string]: JsonValue })[key] : undefined,
      structured,
    );
}

/** The id of the step that a reply asks for. */
export function stepOf(reply: GivenReply): JsonValue | undefined {
  return told(reply, 'pending.stepId');
}

export function eventsOf<Kind extends EventKind>({ events }: Pick<Engine, 'events'>, kind: Kind): EventOf<Kind>[] {
  return events.filter((event): event is EventOf<Kind> => event.kind === kind);
}

export function requestOf({ notes, artifacts = [], context, mode }: Sent): Omit<AdvanceRequest, 'ackToken'> {
  return { output: { notesMarkdown: notes, artifacts }, context, mode };
}

/** The arguments of the suggested call, filled in, as the tool passes them to the use case. */
function nextRequest(from: GivenReply, place?: StepPlace): AdvanceRequest {
  const call = from.structured['nextCall'] as { readonly tool: string; readonly arguments: JsonObject };
  expect(call.tool).toBe('continue_workflow');
  const { ackToken, output, context, mode, ...others } = filledArguments(call.arguments, place) as {
    readonly ackToken: string;
    readonly output?: { readonly notesMarkdown?: string; readonly artifacts?: readonly JsonObject[] };
    readonly context?: JsonObject;
    readonly mode?: AdvanceRequest['mode'];
  };
  expect(others).toEqual({});
  return { ackToken, output: { artifacts: [], ...output }, context, mode };
}
