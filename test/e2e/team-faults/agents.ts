import { Agent, request as send } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { filledCall } from '../../examples/filled-call.ts';
import type { SeededRandom } from '../../simulation/seeded-random.ts';
import { type Acknowledged, type AgentCall, type Journal, secretOf } from './journal.ts';

/** What agents of one run share. */
export type Surroundings = {
  readonly journal: Journal;
  /** The ports at which replicas were last seen. */
  readonly ports: () => readonly number[];
  /** The host that clients name. */
  readonly host: string;
  /** Twice for each rotation of the keys. */
  readonly rotations: () => number;
  readonly isOver: () => boolean;
  /** After acknowledged work was lost on purpose, some tokens lead nowhere. */
  readonly isLossAllowed: () => boolean;
};

export type AgentPlace = {
  readonly number: number;
  readonly space: string;
  readonly token: string;
  readonly random: SeededRandom;
};

const REPLAYED = 0.15;
const SENT_TWICE = 0.2;
const LOOKED_AROUND = 0.1;
const CALLS_MAX = 60;
/** Longer than a database needs to recover, and longer than dozens of agents wait for each other on a busy machine. */
const PATIENCE_MS = 300_000;
const ANSWER_MS = 15_000;
const WORKFLOW = 'wr.first_steps';

type Result = {
  readonly structuredContent?: {
    readonly kind?: string;
    readonly isComplete?: boolean;
    readonly nextCall?: { readonly tool: string; readonly arguments: Record<string, unknown> } | null;
    readonly stateToken?: string;
    readonly error?: { readonly code: string; readonly message: string };
  };
};

/** Walks runs, one after the other, through any replica, and repeats what was not answered. */
export async function runAgent(around: Surroundings, place: AgentPlace): Promise<void> {
  for (let run = 0; !around.isOver(); run++) await walkOne(around, place, run);
}

async function walkOne(around: Surroundings, place: AgentPlace, run: number): Promise<void> {
  const { random, number } = place;
  const recent: AgentCall[] = [];
  let call: AgentCall | undefined = {
    tool: 'start_workflow',
    // Twins in two spaces say the same, so that their sessions have the same ids.
    arguments: { workflowId: WORKFLOW, goal: `Run ${run} of agent ${number >> 1}` },
    callId: `run ${run}`,
  };
  for (let calls = 0; call !== undefined && calls < CALLS_MAX && !around.isOver(); calls++) {
    const reply: Result | undefined = await sendOnceOrTwice(around, place, call);
    if (reply === undefined) return;
    recent.push(call);
    const known = recent.at(-1 - random.below(Math.min(3, recent.length)));
    if (known !== undefined && random.chance(REPLAYED)) {
      around.journal.counts.replays += 1;
      await acknowledged(around, place, known);
    }
    if (random.chance(LOOKED_AROUND)) await acknowledged(around, place, lookAround(random, reply));
    call = nextCall(reply, secretOf(place.space));
  }
}

/** Sends again what was answered, as far as its tokens are still valid. */
export async function replayAll(
  around: Surroundings,
  { places, answered }: { readonly places: readonly AgentPlace[]; readonly answered: readonly Acknowledged[] },
): Promise<void> {
  const valid = answered.filter((one) => one.rotations[0] >= around.rotations() - 2);
  await Promise.all(
    places.map(async (place) => {
      const own = valid.filter(({ agent }) => agent === place.number);
      for (const { call } of own) await acknowledged(around, place, call);
    }),
  );
}

function nextCall({ structuredContent }: Result, secret: string): AgentCall | undefined {
  const { nextCall: offered, isComplete, kind } = structuredContent ?? {};
  if (isComplete === true || kind !== 'ok' || offered === undefined || offered === null) return undefined;
  const { tool, arguments: args } = filledCall(offered, undefined);
  const { output } = args as { readonly output?: { readonly notesMarkdown?: string } };
  if (output?.notesMarkdown === undefined) return { tool, arguments: args };
  const notesMarkdown = `${output.notesMarkdown} This is a ${secret}.`;
  return { tool, arguments: { ...args, output: { ...output, notesMarkdown } } };
}

function lookAround(random: SeededRandom, { structuredContent }: Result): AgentCall {
  const stateToken = structuredContent?.stateToken;
  if (stateToken === undefined || random.chance(0.5)) {
    return { tool: 'resume_session', arguments: { query: 'agent', includeFinished: true } };
  }
  return { tool: 'continue_workflow', arguments: { stateToken } };
}

async function sendOnceOrTwice(around: Surroundings, place: AgentPlace, call: AgentCall): Promise<Result | undefined> {
  if (!place.random.chance(SENT_TWICE)) return acknowledged(around, place, call);
  around.journal.counts.doubles += 1;
  const [one, other] = await Promise.all([acknowledged(around, place, call), acknowledged(around, place, call)]);
  return one ?? other;
}

/** Refusals that say that nothing was recorded, or that nobody knows; the same call again settles it. */
const PASSING = ['STORE_IO', 'TOKEN_SESSION_LOCKED'];
/** What a token of work that was lost leads to. */
const AFTER_LOSS = ['STORE_CORRUPT', 'TOKEN_UNKNOWN_NODE', 'TOKEN_SESSION_GONE', 'TOKEN_BAD_SIGNATURE'];

/** The reply to a call, however often it has to be sent; `undefined` if the run cannot be continued. */
async function acknowledged(around: Surroundings, place: AgentPlace, call: AgentCall): Promise<Result | undefined> {
  const { journal, rotations } = around;
  const sentAt = performance.now();
  const before = rotations();
  journal.sent.add({ space: place.space, call });
  for (;;) {
    journal.counts.tries += 1;
    const answer = await post({ port: place.random.pick(around.ports()), host: around.host }, place, call);
    const code = answer?.result.structuredContent?.error?.code;
    if (answer !== undefined && !PASSING.includes(code ?? '')) {
      const { text, result } = answer;
      if (code === undefined) {
        const { number: agent, space } = place;
        const heard = { reply: text, sentAt, heardAt: performance.now(), rotations: [before, rotations()] as const };
        journal.hear({ agent, space, call, ...heard });
        return result;
      }
      // A token is valid until the keys have been rotated twice.
      const isExpected = code === 'TOKEN_BAD_SIGNATURE' && rotations() > 2;
      if (isExpected || (around.isLossAllowed() && AFTER_LOSS.includes(code))) return undefined;
      journal.violations.push({ kind: 'refused', what: `${call.tool}: ${code} ${text.slice(0, 400)}` });
      return undefined;
    }
    if (performance.now() - sentAt > PATIENCE_MS) {
      journal.violations.push({ kind: 'unanswered', what: `${call.tool} of agent ${place.number}: ${code}` });
      return undefined;
    }
    await pause(100 + place.random.below(400));
  }
}

const connections = new Agent({ keepAlive: true, maxSockets: 256 });

/** One try. `undefined`: nobody answered, or the server said to come again. */
function post(
  { port, host }: { readonly port: number; readonly host: string },
  { space, token }: AgentPlace,
  { tool, arguments: args, callId }: AgentCall,
): Promise<{ readonly text: string; readonly result: Result } | undefined> {
  const meta = callId === undefined ? {} : { _meta: { 'dev.workrail/call-id': callId } };
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: tool, arguments: args, ...meta },
  });
  return new Promise((settle) => {
    const headers = {
      host,
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
    const path = `/s/${space}/mcp`;
    const none = () => settle(undefined);
    const asked = send({ host: '127.0.0.1', port, method: 'POST', path, headers, agent: connections }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (part) => (text += part)).on('error', none);
      answer.on('end', () => settle(answer.statusCode === 200 ? resultIn(text) : undefined));
    });
    asked.on('error', none).setTimeout(ANSWER_MS, () => asked.destroy(new Error('too late')));
    asked.end(body);
  });
}

function resultIn(text: string): { readonly text: string; readonly result: Result } | undefined {
  const data = text.startsWith('{')
    ? text
    : text
        .split('\n')
        .find((line) => line.startsWith('data: '))
        ?.slice(6);
  try {
    const { result } = JSON.parse(data ?? '') as { result?: Result };
    return result === undefined ? undefined : { text: JSON.stringify(result), result };
  } catch {
    // The connection ended in the middle of the answer.
    return undefined;
  }
}
