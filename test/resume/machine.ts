import { expect } from 'vitest';
import type { Store } from '../../src/app/ports/store.ts';
import type { Services } from '../../src/app/services.ts';
import type { JsonObject } from '../../src/core/json/json-value.ts';
import { derivedBits, RunId, type SessionId, SessionId as SessionIds } from '../../src/core/log/ids.ts';
import { answerCall } from '../../src/mcp/answer-call.ts';
import { recentReplies } from '../../src/mcp/explain/recent-replies.ts';
import { filledCall } from '../examples/filled-call.ts';
import { sha256 } from '../examples/sha256.ts';
import { knownPlace } from '../simulation/agent/reader/known-places.ts';
import { type Call, type Reply, withOwnValues } from '../simulation/agent/reader/obedient-reader.ts';
import { servicesOver } from '../simulation/agent/world/services-over.ts';
import { SMALL_FILES } from '../simulation/agent/world/small-workflows.ts';

export const HERE = '/work/here';

/** Fields of every reply of an execution tool. */
export type Told = JsonObject & {
  readonly kind: string;
  readonly isComplete: boolean;
  readonly session: { readonly sessionId: SessionId; readonly runId: string };
  readonly stateToken: string;
  readonly ackToken?: string;
  readonly checkpointToken: string;
  readonly run?: { readonly workflowId: string };
  readonly pending?: { readonly stepId: string } | null;
  readonly nextCall: { readonly tool: string; readonly arguments: JsonObject } | null;
};

/** A machine with its own store and keys, and an agent that calls its server. */
export type Machine = {
  readonly services: Services;
  /** Sends a call that must not be refused. */
  readonly call: (tool: string, sent: JsonObject) => Promise<Told>;
  /** Sends any call. */
  readonly ask: (tool: string, sent: JsonObject) => Promise<Reply>;
};

export function machine(store: Store, name: string): Machine {
  let made = 0;
  const bits = () => derivedBits([name, made++], sha256);
  const services: Services = {
    ...servicesOver(store, SMALL_FILES),
    ids: { session: () => SessionIds.of(bits()), run: () => RunId.of(bits()) },
    workspace: {
      tree: async () => undefined,
      observe: async (path) =>
        path === undefined ? [] : [{ key: 'repo_root', value: { type: 'path', value: path }, confidence: 'high' }],
    },
  };
  const desk = { services, recent: recentReplies(), place: { workingDir: '/', homeDir: '/home/me' } };
  const ask: Machine['ask'] = async (tool, sent) => (await answerCall(desk, { name: tool, arguments: sent })) as Reply;
  return {
    services,
    ask,
    call: async (tool, sent) => {
      const reply = await ask(tool, sent);
      const told = reply.structuredContent as unknown as Told;
      expect(['ok', 'blocked'], JSON.stringify(reply)).toContain(told.kind);
      return told;
    },
  };
}

/** The call that a reply asks for, with notes of its own and every loop ended. */
export function nextCall({ nextCall, run, pending }: Told, notes: string): Call {
  const own = { notes: (filled: string) => `${notes}\n${filled}`, decision: () => 'stop' };
  return withOwnValues(
    filledCall(nextCall ?? expect.fail('there is nothing to send'), knownPlace(run?.workflowId, pending?.stepId)),
    own,
  );
}

/** A reply without what a machine or a copy of a session has of its own: tokens, and the id of the session. */
export function plain(reply: unknown, sessionId: string): unknown {
  return JSON.parse(
    JSON.stringify(reply)
      .replaceAll(/\b(?:st|ack|chk)_[0-9a-z_]{20,}/g, 'token')
      .replaceAll(sessionId, 'session'),
  );
}
