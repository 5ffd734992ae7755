import type { JsonObject, JsonValue } from '../../src/core/json/json-value.ts';
import { answerCall, type CallServices, TOOLS } from '../../src/mcp/answer-call.ts';
import { recentReplies } from '../../src/mcp/explain/recent-replies.ts';
import { excessIn, readMessage } from '../../src/mcp/message-limits.ts';
import { memoryServices } from '../examples/memory-services.ts';
import type { SeededRandom } from './seeded-random.ts';

/** One message to a server, and how it was answered. */
export type RandomCall = { readonly text: string; readonly values: number };
export type Answered = 'unparsed' | 'not_passed_on' | 'refused' | 'accepted';

const NAMES = [
  ...new Set(TOOLS.flatMap((tool) => Object.keys(tool.arguments))),
  ...['notes', 'notesMarkdown', 'artifacts', 'token', 'arguments', 'input', 'params', 'x', '__proto__', 'titel'],
];
const LONG = '12345678901234567890';
const WORDS = ['wr.first_steps', 'done', '', ' ', '{"a":1}', '[1,2', 'ack_x', 'full auto', '\ud800', LONG];

/** Tokens of a run, which calls may use rightly or wrongly. */
export type KnownTokens = readonly string[];

/** A call of random size and shape: mostly small, some with thousands of values, a few beyond every limit. */
export function randomCall(random: SeededRandom, tokens: KnownTokens): RandomCall {
  const size = random.chance(0.9) ? random.below(8) : random.chance(0.8) ? random.below(3_000) : random.below(300_000);
  const count = { values: 0 };
  const call = random.chance(0.3) ? validCall(random, tokens) : wrongCall(random, { tokens, count, size });
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call };
  const text = JSON.stringify(message);
  // A number that only a text can hold.
  return { text: random.chance(0.5) ? text.replace(`"${LONG}"`, LONG) : text, values: count.values };
}

function validCall(random: SeededRandom, [ackToken = '', stateToken = '', checkpointToken = '']: KnownTokens) {
  const output = { notesMarkdown: `Did part ${random.below(10)}.` };
  return random.pick([
    { name: 'list_workflows', arguments: {} },
    { name: 'inspect_workflow', arguments: { workflowId: 'wr.first_steps' } },
    { name: 'continue_workflow', arguments: { stateToken } },
    { name: 'continue_workflow', arguments: { ackToken, output } },
    { name: 'checkpoint_workflow', arguments: { checkpointToken, output } },
    { name: 'resume_session', arguments: {} },
  ]);
}

function wrongCall(random: SeededRandom, making: Making & { readonly size: number }) {
  const name = random.chance(0.05) ? 'advance_workflow' : random.pick(TOOLS).name;
  const sent = random.chance(0.05) ? anyValue(random, { ...making, depth: 3 }) : someArguments(random, making);
  return { name, arguments: sent };
}

type Making = { readonly tokens: KnownTokens; readonly count: { values: number } };

function someArguments(random: SeededRandom, making: Making & { readonly size: number }): JsonObject {
  const sent: { [name: string]: JsonValue } = {};
  for (let i = random.below(4); i >= 0; i--) sent[random.pick(NAMES)] = anyValue(random, { ...making, depth: 3 });
  if (making.size > 8) {
    const name = random.pick(['context', 'output', 'artifacts', 'tags', 'query', 'x']);
    sent[name] = manyValues(random, making);
  }
  return sent;
}

/** Many values in one of the shapes that agents send: an object, a list, a long text, JSON in a text. */
function manyValues(random: SeededRandom, { count, size }: Making & { readonly size: number }): JsonValue {
  count.values += size;
  const list = Array.from({ length: size }, (_, i) => (random.chance(0.5) ? i : `word ${i}`));
  const shape = random.below(5);
  if (shape === 0) return list;
  if (shape === 1) return list.join(' ');
  if (shape === 2) return JSON.stringify(list);
  const object = Object.fromEntries(list.map((value, i) => [`key${i}`, value]));
  return shape === 3 ? object : { notesMarkdown: 'x', artifacts: [object] };
}

function anyValue(random: SeededRandom, making: Making & { readonly depth: number }): JsonValue {
  making.count.values += 1;
  const deeper = { ...making, depth: making.depth - 1 };
  const kind = random.below(making.depth > 0 ? 8 : 6);
  if (kind <= 1) return random.pick([...making.tokens, ...WORDS]);
  if (kind === 2) return random.pick(making.tokens).slice(0, random.below(60));
  if (kind === 3) return random.pick([0, -1, 2 ** 53, 0.1, true, false, null]);
  if (kind === 4) return random.pick(WORDS).repeat(random.below(20));
  if (kind === 5) return { notesMarkdown: `Did part ${random.below(1_000)}.` };
  const length = random.below(4);
  if (kind === 6) return Array.from({ length }, () => anyValue(random, deeper));
  return Object.fromEntries(Array.from({ length }, () => [random.pick(NAMES), anyValue(random, deeper)]));
}

/** A server without its transport: what every message passes, from its bytes to the reply. */
export async function randomServer() {
  const desk: CallServices = {
    services: memoryServices(),
    recent: recentReplies(),
    place: { workingDir: '/', homeDir: '/home/me' },
  };
  const begun = await answerCall(desk, { name: 'start_workflow', arguments: { workflowId: 'wr.first_steps' } });
  const { ackToken, stateToken, checkpointToken } = begun.structuredContent as { readonly [name: string]: string };
  const tokens = [ackToken, stateToken, checkpointToken].filter((token) => token !== undefined);

  async function answer(text: string): Promise<{ readonly kind: Answered; readonly bytes: number }> {
    const excess = excessIn(Buffer.from(text));
    if (excess !== undefined) return { kind: 'unparsed', bytes: excess.message.length };
    const read = readMessage(text);
    if (read.isErr()) return { kind: 'not_passed_on', bytes: read.error.message.length };
    const { params } = JSON.parse(read.value) as { readonly params: { name: string; arguments?: JsonObject } };
    const result = await answerCall(desk, { name: params.name, arguments: params.arguments ?? {} });
    return { kind: result.isError === true ? 'refused' : 'accepted', bytes: Buffer.byteLength(JSON.stringify(result)) };
  }
  return { answer, tokens };
}
