import { isDeepStrictEqual } from 'node:util';
import { findTokenNode } from '../../../../src/app/run/run-place.ts';
import type { SessionEvent } from '../../../../src/core/log/event.ts';
import { replySchema } from '../../../../src/core/prompt/reply-schema.ts';
import { type Call, type Reply, readReply } from '../reader/obedient-reader.ts';
import type { Chat, World } from '../world/world.ts';
import { type RunNodes, runNodes, type SeenNode } from './run-nodes.ts';
import { type TokenBook, tokenBook } from './token-book.ts';
import { type Told, told } from './told.ts';

/** Stands between the agents and the world, and judges every call by what it added to the log. */
export type Witness = {
  readonly nodes: RunNodes;
  /** What should never have happened; empty when all is well. */
  readonly violations: string[];
  send(chat: Chat, call: Call): Promise<Reply>;
  sendAtOnce(sent: readonly Sent[]): Promise<readonly Reply[]>;
  /** A call on which the server is killed: it may have been taken or not. */
  lose(chat: Chat, call: Call, afterMs: number): Promise<void>;
  nodeOf(at: Pick<Told, 'stateToken'>): Promise<SeenNode>;
};

export type Sent = { readonly chat: Chat; readonly call: Call };

const EXECUTION_TOOLS = ['start_workflow', 'continue_workflow', 'checkpoint_workflow'];

export function newWitness(world: World): Witness {
  const nodes = runNodes();
  const book = tokenBook();
  const violations: string[] = [];
  const seen = new Map<string, { readonly length: number; readonly last: string | undefined }>();
  const firstReplies = new Map<string, { readonly sent: string; readonly got: string }>();

  /** What was added since the last time, by session. */
  function growth(): readonly SessionEvent[] {
    const added: SessionEvent[] = [];
    for (const [sessionId, events] of world.log()) {
      const { length, last } = seen.get(sessionId) ?? { length: 0, last: undefined };
      if (events[length - 1]?.eventId !== last) violations.push(`the log of ${sessionId} was changed after the fact`);
      added.push(...events.slice(length));
      seen.set(sessionId, { length: events.length, last: events.at(-1)?.eventId });
    }
    nodes.add(added);
    return added;
  }

  async function sendAtOnce(sent: readonly Sent[]): Promise<readonly Reply[]> {
    const replies = await Promise.all(sent.map(({ chat, call }) => chat.call(call)));
    const added = growth();
    for (const [i, reply] of replies.entries()) {
      const call = sent[i]?.call;
      if (call === undefined) continue;
      const wrong = [...wrongWithReply(call, reply), ...wrongWithReplay(firstReplies, call, reply)];
      violations.push(...wrong.map((what) => `${what}: ${shown(call)} -> ${shown(reply.structuredContent)}`));
    }
    const calls = sent.map(({ call }) => call);
    const wrong = wrongWithGrowth(book, { calls, replies, added });
    violations.push(
      ...wrong.map((what) => `${what}: ${shown(calls)} -> ${shown(replies.map((one) => one.structuredContent))}`),
    );
    for (const reply of replies) book.learn(reply);
    violations.push(...lostNotes(nodes, { calls, replies }));
    return replies;
  }

  return {
    nodes,
    violations,
    sendAtOnce,
    send: async (chat, call) => {
      const [reply] = await sendAtOnce([{ chat, call }]);
      if (reply === undefined) throw new Error('one call has one reply');
      return reply;
    },
    lose: async (chat, call, afterMs) => {
      await chat.killDuring(call, afterMs);
      const wrong = foreignGrowth(growth(), new Set([book.ownerOfWrite(call)?.runId]));
      violations.push(...wrong.map((what) => `${what}: ${shown(call)}`));
    },
    nodeOf: async ({ stateToken }) => {
      const found = (await findTokenNode(world.services, { text: stateToken, slot: 'stateToken' }))._unsafeUnwrap();
      const node = nodes.byId.get(found.target.nodeId);
      if (node === undefined) throw new Error('a token names a node that was never appended');
      return node;
    },
  };
}

/** Every reply fits its schema, and says the same to a reader of text as to a reader of data. */
function wrongWithReply(call: Call, reply: Reply): readonly string[] {
  if (!EXECUTION_TOOLS.includes(call.tool)) return [];
  const checked = replySchema.safeParse(reply.structuredContent);
  const texts = reply.content.map(({ text }) => text ?? '').join('\n');
  const isSame = isDeepStrictEqual(readReply(reply, 'data'), readReply(reply, 'text'));
  return [
    ...(checked.success ? [] : [`the reply does not fit its schema: ${checked.error.message}`]),
    ...(isSame ? [] : ['text and data tell different things']),
    ...((texts.match(/^Next call:/gm) ?? []).length > 1 ? ['the text tells two next calls'] : []),
  ];
}

/** The same call with the same token is answered in the same words; other content with it is told to be ignored. */
function wrongWithReplay(
  known: Map<string, { readonly sent: string; readonly got: string }>,
  { tool, arguments: given }: Call,
  reply: Reply,
): readonly string[] {
  const at = told(reply);
  const token = given['ackToken'] ?? given['checkpointToken'];
  if (at === undefined || tool === 'start_workflow' || typeof token !== 'string') return [];
  const [sent, got] = [JSON.stringify(given), JSON.stringify([reply.content, reply.structuredContent])];
  const before = known.get(token);
  const isTold = at.warnings.includes('replay_ignored_new_output');
  if (before === undefined) {
    // The reply to the call that was recorded may have been lost with its program.
    if (!isTold) known.set(token, { sent, got });
    return [];
  }
  if (before.got === got || (before.sent !== sent && isTold)) return [];
  return [
    before.sent === sent ? 'a replay got another reply' : 'other content with a used token was not told to be ignored',
  ];
}

type Happened = {
  readonly calls: readonly Call[];
  readonly replies: readonly Reply[];
  readonly added: readonly SessionEvent[];
};

/** Only a call that was accepted adds anything, and only to the run whose ack or checkpoint token it holds. */
function wrongWithGrowth(book: TokenBook, { calls, replies, added }: Happened): readonly string[] {
  if (added.length === 0) return [];
  const accepted = calls.filter((_, i) => told(replies[i] ?? { content: [] }) !== undefined);
  const started = replies.flatMap((reply, i) =>
    calls[i]?.tool === 'start_workflow' ? (told(reply)?.runId ?? []) : [],
  );
  const allowed = new Set([...accepted.flatMap((call) => book.ownerOfWrite(call)?.runId ?? []), ...started]);
  const advances = added.filter(({ kind }) => kind === 'advance_recorded').length;
  return [
    ...(accepted.length === 0 ? ['a refused call added to the log'] : []),
    ...foreignGrowth(added, allowed),
    ...foreignNotes(added),
    ...(advances > new Set(calls.map(({ arguments: given }) => given['ackToken'])).size
      ? ['one token advanced twice']
      : []),
  ];
}

function foreignGrowth(added: readonly SessionEvent[], allowed: ReadonlySet<string | undefined>): readonly string[] {
  const touched = added
    .filter((event) => !isOfPerson(event))
    .flatMap((event) => ('scope' in event && event.scope !== undefined ? event.scope.runId : []));
  return touched.every((runId) => allowed.has(runId)) ? [] : ['a run grew that no token of the call belongs to'];
}

/** A person beside the agent answers when they see that something waits, whatever the agent just called. */
function isOfPerson(event: SessionEvent): boolean {
  return event.kind === 'attestation_recorded' || (event.kind === 'context_set' && event.data.source === 'person');
}

/** What was written for one run must not end up in another, no matter who said that it should be sent there. */
function foreignNotes(added: readonly SessionEvent[]): readonly string[] {
  return added.flatMap((event) => {
    if (event.kind !== 'node_output_appended') return [];
    const foreign = marksIn(event.data).filter((one) => !one.endsWith(` of ${event.scope.runId.slice(-4)}]`));
    return foreign.map((one) => `notes of another run were recorded in ${event.scope.runId}: ${one}`);
  });
}

/** What was acknowledged is in the log: every marked note of an accepted call, unless it was told to be ignored. */
function lostNotes(nodes: RunNodes, { calls, replies }: Omit<Happened, 'added'>): readonly string[] {
  return calls.flatMap((call, i) => {
    const at = told(replies[i] ?? { content: [] });
    if (at === undefined || at.warnings.includes('replay_ignored_new_output')) return [];
    return marksIn(call.arguments)
      .filter((mark) => !isRecorded(nodes, at.runId, mark))
      .map((mark) => `acknowledged but not recorded: ${mark} of ${shown(call)}`);
  });
}

/** By this a note of an agent is found again, and the run that it was written for. */
export function mark(number: number, tag: string): string {
  return `[note ${number} of ${tag}]`;
}

export function isMarked(text: string): boolean {
  return marksIn(text).length > 0;
}

function marksIn(value: unknown): readonly string[] {
  return JSON.stringify(value).match(/\[note \d+ of \w{4}\]/g) ?? [];
}

function isRecorded({ byId }: RunNodes, runId: string, wanted: string): boolean {
  for (const node of byId.values()) {
    if (node.runId !== runId) continue;
    for (const event of node.events) {
      if (event.kind !== 'node_output_appended' || event.data.outputChannel !== 'recap') continue;
      if (event.data.payload.notesMarkdown.includes(wanted)) return true;
    }
  }
  return false;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 900 ? `${text.slice(0, 900)}…` : text;
}
