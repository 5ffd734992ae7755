import { setTimeout as pause } from 'node:timers/promises';
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type ElicitResult,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import {
  answerGate,
  approvalOf,
  findWaitingDraft,
  type PersonAnswer,
  type WaitingDraft,
} from '../app/run/answer-gate.ts';
import { findTokenNode } from '../app/run/run-place.ts';
import type { Services } from '../app/services.ts';
import { isObject, type JsonObject, type JsonValue } from '../core/json/json-value.ts';
import type { By } from '../core/log/events/event-envelope.ts';
import type { AttestationId } from '../core/log/ids.ts';
import { type UnseenFiles, unseenCause, unseenFix } from '../core/run/unseen-files.ts';
import { answerForm, readAnswer } from './answer-form.ts';
import { calledBy } from './client-root.ts';
import { type RequestState, readRequestState, requestState } from './request-state.ts';

/** A form stays open much longer than the call: people go for lunch. */
const FORM_MS_MAX = 30 * 60_000;
/** Nobody is asked about the same draft again before this time has passed. */
const ASK_AGAIN_MS = 10 * 60_000;
const LOOK_EVERY_MS = 1_000;
/** Faster than a person can have seen anything. */
const UNSEEN_MS = 400;
const QUESTION = 'approval';
const CHANNEL = 'elicitation';

/** The answer to a call; `isNew` if the call recorded something, which a replay and a look at a step do not. */
export type Answered = { readonly result: CallToolResult; readonly isNew: boolean };

export type PersonAsker = {
  /** The answer in a retried request, if it carries a valid one: the call is then settled here. */
  readonly answered: (context: ServerContext) => Promise<CallToolResult | undefined>;
  /** Asks about a new block that only a person can open. Showing a block again asks nobody. */
  readonly ask: (block: Answered, context: ServerContext) => Promise<CallToolResult | InputRequiredResult>;
};

type AskerParts = {
  readonly server: Server;
  readonly services: () => Promise<Services>;
  /** Sends the retry from a blocked attempt, as the agent would. */
  readonly retry: (ackToken: string, by: By) => Promise<CallToolResult>;
  readonly trouble: (message: string) => void;
};

/** A block of which nothing is missing but a person's answer. */
type GateBlock = { readonly digest: string; readonly stateToken: string; readonly ackToken: string };

type Desk = AskerParts & {
  /** When each draft was last asked about, and what the agent should know about that. */
  readonly asked: Map<string, { readonly at: number; readonly note: string; readonly isShownOnce?: true }>;
};

/**
 * Asks the person at the client. Tool arguments reach none of this: the answer travels as a reply to our own request, or
 * next to the arguments, where only the client program can put it.
 */
export function personAsker(parts: AskerParts): PersonAsker {
  const desk: Desk = { ...parts, asked: new Map() };
  return {
    answered: (context) => settledBy(desk, context),
    ask: (block, context) => askAbout(desk, block, context),
  };
}

async function settledBy(
  { server, services, retry, asked }: Desk,
  { mcpReq }: ServerContext,
): Promise<CallToolResult | undefined> {
  const answer = inputResponse(mcpReq.inputResponses, QUESTION);
  const sent = mcpReq.requestState();
  if (answer.kind !== 'elicit' || typeof sent !== 'string') return undefined;
  const backend = await services();
  const state = await readRequestState(backend, sent);
  if (state === undefined) return undefined;
  const waiting = await waitingOf(backend, state.stateToken);
  if (waiting === undefined) return undefined;
  if (waiting.digest !== state.digest) {
    const note = waiting.unseen === undefined ? CHANGED : notCompared(waiting.unseen);
    if (answer.action === 'accept') asked.set(state.digest, { at: state.askedAt, note, isShownOnce: true });
    return undefined;
  }
  const given = { action: answer.action, content: answer.content ?? {} } as ElicitResult;
  const by = calledBy(server, mcpReq.envelope);
  const recorded = await record(backend, { waiting, state, given, client: by.client });
  const nobody = nobodyWords(given.action, backend.clock.nowMs() - state.askedAt);
  const ended = recorded ?? { said: undefined, note: nobody };
  remember(asked, state, ended);
  // The call goes on like any other, and its reply says why the answer did not count.
  if (ended.isLost) asked.set(state.digest, { at: state.askedAt, note: ended.note, isShownOnce: true });
  return ended.said === undefined ? undefined : retry(state.ackToken, by);
}

async function askAbout(
  desk: Desk,
  { result, isNew }: Answered,
  context: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  const { server, services, asked } = desk;
  const gate = gateBlock(result);
  if (gate === undefined || !canAsk(server, context)) return result;
  const backend = await services();
  const now = backend.clock.nowMs();
  const before = asked.get(gate.digest);
  if (before?.isShownOnce) asked.delete(gate.digest);
  if (before !== undefined && (before.isShownOnce || now - before.at < ASK_AGAIN_MS)) return noted(result, before.note);
  if (!isNew) return result;
  const waiting = await waitingOf(backend, gate.stateToken);
  if (waiting === undefined || waiting.digest !== gate.digest || !waiting.accept.includes(CHANNEL)) return result;
  // A form carries no signature.
  if (waiting.signing !== undefined) return result;
  const { launch } = backend.answerIds;
  const state: RequestState = { ...gate, askedAt: now, launch, attestationId: backend.answerIds.attestation() };
  if (context.mcpReq.envelope === undefined) return askDirectly(desk, { waiting, state, backend, result });
  asked.set(gate.digest, { at: now, note: OPEN });
  const sealed = await requestState(backend, state);
  if (sealed === undefined) return result;
  const form = inputRequired.elicit(answerForm(waiting, backend.command));
  return inputRequired({ inputRequests: { [QUESTION]: form }, requestState: sealed });
}

type Question = {
  readonly waiting: WaitingDraft;
  readonly state: RequestState;
  readonly backend: Services;
  readonly result: CallToolResult;
};

/** Clients of the 2025 era are asked by a request of our own, which outlives the call. */
async function askDirectly(desk: Desk, question: Question): Promise<CallToolResult> {
  const { waiting, state, backend, result } = question;
  const open = openForm(desk, question);
  const { waitSeconds } = await backend.gateSettings(waiting.folders);
  const timer = new AbortController();
  const ended = await Promise.race([
    open,
    pause(1_000 * waitSeconds, undefined, { signal: timer.signal, ref: false }).catch(() => undefined),
  ]);
  timer.abort();
  if (ended === undefined) return noted(result, OPEN);
  if (ended.said === undefined) return noted(result, ended.note);
  return desk.retry(state.ackToken, calledBy(desk.server, undefined));
}

/** How asking ended: with what a person said, or else with what the agent should know. */
type AskEnd = {
  readonly said: PersonAnswer['statement']['kind'] | undefined;
  readonly note: string;
  /** A person answered, but not to what would be approved now, so the next attempt may ask again. */
  readonly isLost?: true;
};

/** An approval is used up by the step, so doing the step again asks again. A person who said no is not asked the same again. */
function remember(asked: Desk['asked'], { digest, askedAt }: RequestState, { said, note, isLost }: AskEnd): void {
  if ((said === undefined && isLost !== true) || said === 'rejected') asked.set(digest, { at: askedAt, note });
  else asked.delete(digest);
}

/** Shows the form until it is answered, here or on another channel. */
async function openForm({ server, asked, trouble }: Desk, { waiting, state, backend }: Question): Promise<AskEnd> {
  const closed = new AbortController();
  const look = () => isStillOpen(backend, waiting).then((isOpen) => (isOpen ? undefined : closed.abort()));
  const watch = setInterval(() => look().catch(() => undefined), LOOK_EVERY_MS).unref();
  asked.set(waiting.digest, { at: state.askedAt, note: OPEN });
  const nobody = (how: string): AskEnd => ({
    said: undefined,
    note: nobodyWords(how, backend.clock.nowMs() - state.askedAt),
  });
  return server
    .elicitInput(answerForm(waiting, backend.command), { timeout: FORM_MS_MAX, signal: closed.signal })
    .then(async (given) => {
      const { client } = calledBy(server, undefined);
      return (await record(backend, { waiting, state, given, client })) ?? nobody(given.action);
    })
    .catch((failure: unknown) => {
      if (!(failure instanceof Error)) trouble(String(failure));
      return closed.signal.aborted ? { said: undefined, note: ELSEWHERE } : nobody('failed');
    })
    .then((ended) => {
      clearInterval(watch);
      remember(asked, state, ended);
      return ended;
    });
}

const OPEN =
  "A form is open at the user's client. Tell the user to answer it, and stop. When the user says that they have answered, send the next call.";

const ELSEWHERE = 'The user answered on another channel. Send the next call; it needs no output.';

function nobodyWords(how: string, ms: number): string {
  const seen = ms < UNSEEN_MS ? ' The client most likely showed nothing.' : '';
  return `The client was asked and nobody decided (${how} after ${ms} ms).${seen}`;
}

/** Whether the client can show a form. `{}` means form only; a client that only opens addresses is not asked. */
function canAsk(server: Server, { mcpReq: { envelope } }: ServerContext): boolean {
  const capabilities =
    envelope === undefined
      ? server.getClientCapabilities()
      : (envelope as { [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities })[CLIENT_CAPABILITIES_META_KEY];
  const elicitation = capabilities?.elicitation as { readonly form?: unknown; readonly url?: unknown } | undefined;
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

/** The block of a result, if nothing but a person's answer is missing. */
function gateBlock({ structuredContent }: CallToolResult): GateBlock | undefined {
  const { kind, blockers, stateToken, ackToken } = (structuredContent ?? {}) as JsonObject;
  if (
    kind !== 'blocked' ||
    !Array.isArray(blockers) ||
    typeof stateToken !== 'string' ||
    typeof ackToken !== 'string'
  ) {
    return undefined;
  }
  const approvals = blockers.map((blocker: JsonValue) =>
    isObject(blocker) && !isRejected(blocker) ? approvalOf(blocker as JsonObject) : undefined,
  );
  const [first] = approvals;
  return first === undefined || approvals.includes(undefined)
    ? undefined
    : { digest: first.digest, stateToken, ackToken };
}

/** A person who said no is not asked about the same draft, and one who said yes not because git is slow. */
function isRejected(blocker: JsonObject): boolean {
  const details = blocker['details'];
  return details !== undefined && isObject(details) && (details['rejected'] === true || details['gitSilent'] === true);
}

async function waitingOf(backend: Services, stateToken: string): Promise<WaitingDraft | undefined> {
  const found = await findTokenNode(backend, { text: stateToken, slot: 'stateToken' });
  if (found.isErr()) return undefined;
  const { session, target } = found.value;
  return (await findWaitingDraft(backend, session, target.nodeId)).unwrapOr(undefined);
}

/** Whether nobody has answered on another channel since. */
async function isStillOpen(backend: Services, { sessionId, nodeId, digest }: WaitingDraft): Promise<boolean> {
  const loaded = await backend.sessions.load(sessionId);
  if (loaded.isErr()) return true;
  const { graph, attestations } = loaded.value.view;
  const said = attestations.get(nodeId) ?? [];
  const isAnswered = said.some(({ data }) => data.subject.kind === 'attempt' && data.subject.digest === digest);
  return !isAnswered && graph.nodes.get(nodeId)?.hasStepBelow !== true;
}

const CHANGED =
  'The user answered, but what the answer is about changed while the form was open, so it was not recorded. Send the next call.';
function notCompared(unseen: UnseenFiles): string {
  return `The user answered, but ${unseenCause(unseen)}, so WorkRail does not know whether files changed while the form was open. The answer was not recorded. ${unseenFix(unseen)} Then send the next call.`;
}

/** Records an explicit decision. Declining, closing or ignoring the form is nobody's decision. */
async function record(
  backend: Services,
  at: {
    readonly waiting: WaitingDraft;
    readonly state: RequestState;
    readonly given: ElicitResult;
    readonly client: { readonly name: string; readonly version: string } | undefined;
  },
): Promise<AskEnd | undefined> {
  const { waiting, state, given, client } = at;
  const statement = given.action === 'accept' ? readAnswer(waiting, given.content ?? {}, backend.command) : undefined;
  if (statement === undefined) return undefined;
  const { launch } = backend.answerIds;
  const recorded = await answerGate(backend, waiting, {
    attestationId: state.attestationId as AttestationId,
    digest: state.digest,
    statement,
    by: {
      via: CHANNEL,
      ...(client === undefined ? {} : { client }),
      launch,
      ...(state.launch === launch ? {} : { askedLaunch: state.launch }),
      askedAt: state.askedAt,
      answerMs: Math.max(0, backend.clock.nowMs() - state.askedAt),
    },
  });
  if (recorded.isOk()) return { said: statement.kind, note: '' };
  if (recorded.error.code !== 'draft_changed') return undefined;
  const unseen = waiting.unseen === undefined ? recorded.error.waiting.unseen : undefined;
  return { said: undefined, note: unseen === undefined ? CHANGED : notCompared(unseen), isLost: true };
}

/** A result with one more line in front, which says what the server did about it. */
function noted(result: CallToolResult, words: string): CallToolResult {
  if (words === '') return result;
  const structured = (result.structuredContent ?? {}) as JsonObject;
  const { warnings } = structured;
  const warning = { code: 'person_asked', message: words };
  return {
    ...result,
    content: [{ type: 'text', text: words }, ...(result.content ?? [])],
    structuredContent: {
      ...structured,
      warnings: [...(Array.isArray(warnings) ? warnings : []), warning],
    },
  };
}
