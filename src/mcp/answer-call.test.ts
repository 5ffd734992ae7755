import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it, test } from 'vitest';
import { enforces } from '../../test/enforces.ts';
import { ERROR_EXAMPLES } from '../../test/examples/errors.ts';
import { memoryServices } from '../../test/examples/memory-services.ts';
import type { Services } from '../app/services.ts';
import type { JsonObject } from '../core/json/json-value.ts';
import { AUTONOMY } from '../core/log/autonomy.ts';
import { errorEnvelopeSchema } from '../core/log/error-envelope.ts';
import { replySchema } from '../core/prompt/reply-schema.ts';
import { utf8Length } from '../core/text/utf8.ts';
import {
  ALL_TOOLS,
  answerCall,
  type CallServices,
  errorResult,
  needsRoot,
  publishedTools,
  TOOLS,
} from './answer-call.ts';
import { readArguments } from './arguments/read-arguments.ts';
import { explain } from './explain/explain.ts';
import { recentReplies, SHARED_REPLIES } from './explain/recent-replies.ts';

type Tokens = { readonly stateToken: string; readonly ackToken: string; readonly checkpointToken: string };
type Run = Tokens & { readonly run: { readonly tag: string; readonly workflowId: string } };
type Refused = {
  readonly code: string;
  readonly message: string;
  readonly suggestion: string;
  readonly nextCall?: { readonly tool: string; readonly arguments: JsonObject };
  readonly details?: JsonObject;
};

let services: Services;
let desk: CallServices;

beforeEach(() => {
  services = memoryServices();
  desk = { services, recent: recentReplies(), place: { workingDir: '/', homeDir: '/home/me' } };
});

async function call(name: string, sent: JsonObject) {
  const result = await answerCall(desk, { name, arguments: sent });
  return result.structuredContent as JsonObject;
}

const start = async () => (await call('start_workflow', { workflowId: 'wr.first_steps' })) as unknown as Run;
const errorOf = async (name: string, sent: JsonObject) => (await call(name, sent))['error'] as unknown as Refused;
const output = { notesMarkdown: 'Two sentences.' };
const MANY = Array.from({ length: 33 }, (_, n) => ({ kind: 'project.thing', n }));

/** How many events every session holds. */
async function written(): Promise<readonly number[]> {
  const sessions = (await services.sessions.list())._unsafeUnwrap();
  const loaded = await Promise.all(sessions.map((id) => services.sessions.load(id)));
  return loaded.map((session) => session._unsafeUnwrap().view.nextEventIndex);
}

it('a token that cannot be read leads to the only known run if it has its tag, and to no other run', async () => {
  enforces('order_violations_never_accepted');
  const { ackToken, stateToken } = await start();
  const cut = await errorOf('continue_workflow', { ackToken: ackToken.slice(0, 20), output });
  expect(cut.nextCall).toEqual({ tool: 'continue_workflow', arguments: { stateToken } });
  const madeUp = await errorOf('continue_workflow', { ackToken: `ack_${'z'.repeat(48)}`, output });
  expect(madeUp.nextCall).toBeUndefined();
});

describe('a wrong call with the token of a blocked report', () => {
  const { notesMarkdown } = output;
  const wrongCalls: readonly (readonly [string, (ackToken: string) => readonly [string, JsonObject]])[] = [
    ['other spelling', (ack_token) => ['continue_workflow', { ack_token, output: { notes_markdown: notesMarkdown } }]],
    ['a token that is cut off', (ackToken) => ['continue_workflow', { ackToken: ackToken.slice(0, -4), output }]],
    ['the name of the server', (ackToken) => ['mcp__workrail__continue_workflow', { ackToken, output }]],
    ['a reserved key', (ackToken) => ['continue_workflow', { ackToken, output, context: { constructor: 1, a: 1 } }]],
    ['an unknown mode', (ackToken) => ['continue_workflow', { ackToken, output, mode: 'guide' }]],
  ];

  it.each(wrongCalls)('with %s, the corrected call continues from the newest block', async (_, wrong) => {
    enforces('blocked_outcome_is_final_for_its_ack');
    const { ackToken } = await start();
    const first = await call('continue_workflow', { ackToken });
    const second = await call('continue_workflow', { ackToken: String(first['ackToken']) });
    expect([first['kind'], second['kind']]).toEqual(['blocked', 'blocked']);
    for (const used of [ackToken, String(first['ackToken'])]) {
      const { nextCall } = await errorOf(...wrong(used));
      expect(nextCall?.tool).toBe('continue_workflow');
      expect(nextCall?.arguments['ackToken']).toBe(second['ackToken']);
    }
    const { nextCall } = await errorOf(...wrong(ackToken));
    expect(await call('continue_workflow', nextCall?.arguments ?? {})).toMatchObject({ kind: 'ok', warnings: [] });
    // The step is done, so the old token only shows its block, and says how to do the step again.
    const late = await errorOf(...wrong(ackToken));
    expect(late.nextCall?.arguments['ackToken']).toBe(ackToken);
  });
});

it.each([
  ['empty', ''],
  ['a placeholder', '<ackToken>'],
  ['the beginning', 'ack_…'],
  ['its name', 'ACK_TOKEN'],
])('a token that is %s gets the tokens of the runs used here, but no call that records anything', async (_, token) => {
  enforces('order_violations_never_accepted');
  const [first, second] = [await start(), await start()];
  for (const [tool, slot] of [
    ['continue_workflow', 'ackToken'],
    ['checkpoint_workflow', 'checkpointToken'],
  ] as const) {
    const { suggestion, nextCall, details } = await errorOf(tool, { [slot]: token, output });
    for (const run of [first, second]) {
      expect(suggestion).toContain(
        `or run ${run.run.tag} (wr.first_steps), send the call again with "${slot}":"${run[slot]}" and no other token.`,
      );
    }
    expect(details).toMatchObject({ runs: [{ tag: second.run.tag }, { tag: first.run.tag }] });
    expect(nextCall).toBeUndefined();
  }
});

it('a checkpoint without a token gets the checkpoint tokens of the runs used here, and none over HTTP', async () => {
  const { checkpointToken, stateToken } = await start();
  const missing = await errorOf('checkpoint_workflow', { output });
  expect(missing.suggestion).toContain(`"checkpointToken":"${checkpointToken}"`);
  expect((await errorOf('checkpoint_workflow', {})).suggestion).toContain(checkpointToken);
  desk = { ...desk, recent: SHARED_REPLIES };
  for (const sent of [
    { output },
    { checkpointToken: '', output },
    { checkpointToken: 'chk_…', output },
    { stateToken, output },
  ]) {
    expect(JSON.stringify(await errorOf('checkpoint_workflow', sent))).not.toContain(checkpointToken);
  }
});

it('a checkpoint with tokens of two runs offers a checkpoint token of the other run', async () => {
  const [first, second] = [await start(), await start()];
  const { checkpointToken } = first;
  const { suggestion, details } = await errorOf('checkpoint_workflow', {
    checkpointToken,
    stateToken: second.stateToken,
    output,
  });
  expect(suggestion).toContain(
    `instead, send the call again with "checkpointToken":"${second.checkpointToken}" and no other token.`,
  );
  expect(suggestion).not.toContain('ack_');
  expect(details).toMatchObject({ runs: [{ checkpointToken }, { checkpointToken: second.checkpointToken }] });
});

it('sessionToken is published only where start_session is on, and accepted everywhere', async () => {
  const published = (isSessionStartOn: boolean) =>
    publishedTools({ isSessionStartOn }).find(({ name }) => name === 'checkpoint_workflow')?.inputSchema.properties;
  expect(published(false)).not.toHaveProperty('sessionToken');
  expect(published(true)).toHaveProperty('sessionToken');
  const { checkpointToken, stateToken } = await start();
  const unknown = await errorOf('checkpoint_workflow', { checkpointToken, output, colour: 'red' });
  expect(unknown.message).toContain('The arguments are checkpointToken, stateToken, output.');
  for (const slot of ['sessionToken', 'stateToken']) {
    const { nextCall } = await errorOf('checkpoint_workflow', { [slot]: stateToken, output });
    expect(nextCall).toEqual({ tool: 'checkpoint_workflow', arguments: { checkpointToken, output } });
  }
  const saved = await call('checkpoint_workflow', { checkpointToken, sessionToken: stateToken, output });
  expect(saved).toMatchObject({ kind: 'ok' });
});

it('a session that is missing is looked for in a data folder, which the refusal names', async () => {
  desk = { ...desk, services: { ...services, dataDir: '/data/other' } };
  const { message } = await errorOf('resume_session', { sessionId: 'sess_0123456789abcdef' });
  expect(message).toContain('in the data folder of this server, "/data/other"');
});

it('arguments that are not an object are reported as such', async () => {
  const { message, suggestion } = await errorOf('resume_session', { arguments: 'x' });
  expect(message).toBe('Invalid call to resume_session. "arguments" must be an object, not a text.');
  expect(suggestion).not.toBe('');
  expect((await errorOf('resume_session', { arguments: '{"query":' })).message).toContain('is not valid JSON');
  expect(await call('resume_session', { arguments: '{"query":"x"}' })).toMatchObject({ kind: 'ok' });
});

const SLOTS = ['ackToken', 'stateToken'] as const;
const KINDS = ['ackToken', 'stateToken', 'checkpointToken'] as const;

describe('tokens of two runs in one chat', () => {
  /** Every token of either run, or none, in each of the two arguments. */
  const MATRIX = ([0, 1] as const).flatMap((first) =>
    KINDS.flatMap((ackKind) =>
      KINDS.flatMap((stateKind) => [
        { ackToken: [first, ackKind], stateToken: [1 - first, stateKind] } as const,
        { ackToken: [first, ackKind], stateToken: [first, stateKind] } as const,
      ]),
    ),
  );

  it.each(MATRIX)('%j never advances the wrong run, and is corrected in one further call', async (given) => {
    enforces('order_violations_never_accepted', 'next_call_ready_to_send');
    const runs = [await start(), await start()];
    const [tokenRun, ackKind] = given.ackToken;
    const [otherRun, stateKind] = given.stateToken;
    const token = (run: number, kind: (typeof KINDS)[number]) => runs[run]?.[kind] ?? expect.fail();
    const sent = { ackToken: token(tokenRun, ackKind), stateToken: token(otherRun, stateKind), output };
    const isRight = ackKind === 'ackToken' && stateKind === 'stateToken' && tokenRun === otherRun;
    const before = await written();
    if (isRight) {
      expect(await call('continue_workflow', sent)).toMatchObject({
        kind: 'ok',
        run: { tag: runs[tokenRun]?.run.tag },
      });
      return;
    }
    const error = await errorOf('continue_workflow', sent);
    expect(error.code).toBe('TOKEN_SCOPE_MISMATCH');
    expect(await written()).toEqual(before);
    for (const run of [tokenRun, otherRun]) {
      expect(error.message).toContain(`run ${runs[run]?.run.tag} (wr.first_steps)`);
    }
    const { tool, arguments: again } = error.nextCall ?? expect.fail('a call that puts it right');
    const meant = ackKind !== 'ackToken' && stateKind === 'ackToken' ? otherRun : tokenRun;
    expect(await call(tool, again)).toMatchObject({
      kind: 'ok',
      run: { tag: runs[meant]?.run.tag },
      pending: { stepId: 'propose' },
    });
  });

  // An ackToken in its own argument does the step, even without notes.
  const isAdvance = (slot: string, kind: string) => slot === 'ackToken' && kind === 'ackToken';
  const pairs = SLOTS.flatMap((slot) => KINDS.map((kind) => [slot, kind] as const));
  it.each(pairs.filter(([slot, kind]) => !isAdvance(slot, kind)))(
    '%s with %s alone and nothing to record never does a step',
    async (slot, kind) => {
      const run = await start();
      const before = await written();
      const sent = { [slot]: run[kind] };
      const reply = await call('continue_workflow', sent);
      const { nextCall } = (reply['error'] ?? {}) as unknown as Refused;
      const shown = nextCall === undefined ? reply : await call(nextCall.tool, nextCall.arguments);
      expect(shown).toMatchObject({ kind: 'ok', pending: { stepId: 'look' } });
      expect(await written()).toEqual(before);
    },
  );

  it.each(KINDS)('a checkpoint with %s is corrected and saved in that run', async (kind) => {
    const [, run] = [await start(), await start()];
    const reply = await call('checkpoint_workflow', { checkpointToken: run[kind], output });
    const { nextCall } = (reply['error'] ?? {}) as unknown as Refused;
    const saved = nextCall === undefined ? reply : await call(nextCall.tool, nextCall.arguments);
    expect(saved).toMatchObject({ kind: 'ok', run: { tag: run.run.tag } });
  });
});

it('a reader can look at everything and change nothing', async () => {
  const { stateToken, ackToken, checkpointToken } = await start();
  const asReader = async (name: string, sent: JsonObject) =>
    (await answerCall({ ...desk, isReader: true }, { name, arguments: sent })).structuredContent;
  for (const [name, sent] of [
    ['list_workflows', {}],
    ['resume_session', {}],
    ['continue_workflow', { stateToken }],
  ] as const) {
    expect(await asReader(name, sent), name).toMatchObject({ kind: 'ok' });
  }
  for (const [name, sent] of [
    ['start_workflow', { workflowId: 'wr.first_steps' }],
    ['continue_workflow', { ackToken, output }],
    ['checkpoint_workflow', { checkpointToken, output }],
  ] as const) {
    expect(await asReader(name, sent), name).toMatchObject({ error: { code: 'FORBIDDEN' } });
  }
});

it('a report without a token is not recorded in the latest run, because another one may be meant', async () => {
  const { ackToken, run } = await start();
  const error = await errorOf('continue_workflow', { output });
  expect(error).toMatchObject({ details: { runs: [{ tag: run.tag, ackToken }] } });
  expect(error.nextCall).toBeUndefined();
  expect((await errorOf('continue_workflow', {})).nextCall).toBeUndefined();
});

it('a checkpoint with the wrong kind of token is corrected and saved in that run', async () => {
  const [, run] = [await start(), await start()];
  const { nextCall } = await errorOf('checkpoint_workflow', { ackToken: run.ackToken, output });
  const { tool, arguments: again } = nextCall ?? expect.fail('a call that puts it right');
  expect(await call(tool, again)).toMatchObject({ kind: 'ok', run: { tag: run.run.tag } });
});

it.each(['mcp__workrail__continue_workflow', 'continue', 'continueWorkflow'])(
  'a tool called %s is known by the name that it has',
  async (name) => {
    const { ackToken } = await start();
    const { nextCall } = await errorOf(name, { ackToken, output });
    expect(nextCall).toEqual({ tool: 'continue_workflow', arguments: { ackToken, output } });
  },
);

describe('a call that is refused', () => {
  it('a refused call records nothing', async () => {
    enforces('rehydrate_writes_nothing', 'state_token_with_payload_refused', 'advance_only_through_ack');
    const { stateToken, ackToken } = await start();
    const before = await written();
    for (const sent of [
      { stateToken, output },
      { stateToken, context: { a: 1 } },
      { stateToken, mode: 'guided' },
      { ackToken: stateToken, output },
      { ackToken, output, context: 'x' },
      { ackToken, output, mode: 'sideways' },
      { ackToken, output: { artifacts: Array.from({ length: 33 }, () => ({ kind: 'x' })) } },
      { ackToken, output, context: { a: 'x'.repeat(300_000) } },
      { ackToken, output, context: { prototype: 1 } },
      { ackToken: 'ack_nothing', output },
      { output },
      {},
    ]) {
      expect(await call('continue_workflow', sent)).toMatchObject({ kind: 'error' });
    }
    expect(await written()).toEqual(before);
  });

  it.each<readonly [what: string, sent: (tokens: Tokens) => JsonObject]>([
    ['with a token that only shows', ({ stateToken }) => ({ stateToken, output })],
    ['with a token that was cut off', ({ ackToken }) => ({ ackToken: ackToken.slice(0, -4), output })],
    ['with a token that was misspelled', ({ ackToken }) => ({ ackToken: ackToken.replace(/.$/, 'u'), output })],
    ['with words around its token', ({ ackToken }) => ({ ackToken: `token ${ackToken}`, output })],
    ['with two mistakes at once', ({ stateToken }) => ({ state: stateToken, output: output.notesMarkdown })],
    ['under other names', ({ ackToken }) => ({ ack_token: ackToken, result: output })],
    ['with plain text for output', ({ ackToken }) => ({ ackToken, output: output.notesMarkdown })],
    ['with a mode in words', ({ ackToken }) => ({ ackToken, output, mode: 'full auto' })],
    ['with what no tool takes', ({ ackToken }) => ({ ackToken, output, stepId: 'look', done: true })],
    ['with too many artifacts', ({ ackToken }) => ({ ackToken, output: { ...output, artifacts: MANY } })],
    ['with a text for an artifact', ({ ackToken }) => ({ ackToken, output: { artifacts: [output.notesMarkdown] } })],
    ['with a reserved name in context', ({ ackToken }) => ({ ackToken, output, context: { constructor: 1 } })],
  ])('%s works once the corrected call is sent', async (_, sent) => {
    enforces('next_call_ready_to_send', 'unknown_argument_named');
    const { nextCall } = await errorOf('continue_workflow', sent(await start()));
    const { tool, arguments: again } = nextCall ?? expect.fail('a call that puts it right');
    expect(await call(tool, again)).toMatchObject({ kind: 'ok', pending: { stepId: 'propose' } });
  });

  it('a corrected call repeats the input up to a limit, and names what to add again', async () => {
    enforces('context_never_echoed');
    const { stateToken, ackToken } = await start();
    const long = { notesMarkdown: 'x'.repeat(20_000), artifacts: [{ kind: 'a' }] };
    expect(await errorOf('continue_workflow', { stateToken, output: long, mode: 'guided' })).toMatchObject({
      suggestion: expect.stringContaining('Add output.notesMarkdown again'),
      details: { repeat: ['output.notesMarkdown'] },
      nextCall: { arguments: { ackToken, output: { artifacts: [{ kind: 'a' }] }, mode: 'guided' } },
    });
  });

  it('a refusal has the published shape and a text that says the same', async () => {
    enforces('tool_metadata_complete', 'tool_errors_are_results', 'tool_reply_text_and_structured');
    const { stateToken } = await start();
    const result = await answerCall(desk, { name: 'continue_workflow', arguments: { stateToken, output } });
    expect(result.isError).toBe(true);
    const reply = replySchema.parse(result.structuredContent);
    const { error } = reply as unknown as { readonly error: Refused };
    const [{ text = '' } = {}] = result.content as { readonly text?: string }[];
    for (const part of [error.code, error.message, error.suggestion]) expect(text).toContain(part);
    expect(text.endsWith(`Next call: continue_workflow ${JSON.stringify(error.nextCall?.arguments)}`)).toBe(true);
  });
});

describe('an accepted call', () => {
  it('notes and artifacts may be sent at the top level, and JSON as text', async () => {
    enforces('continue_arguments', 'json_string_arguments_accepted', 'ack_alone_advances');
    const { ackToken } = await start();
    const sent = { ackToken, notes: 'Looked.', artifacts: '[{"kind":"x.y"}]', context: '{"ticket":"AB-12"}' };
    expect(await call('continue_workflow', sent)).toMatchObject({ kind: 'ok', pending: { stepId: 'propose' } });
  });

  it('the reply contains every text, the step first', async () => {
    enforces('content_item_order', 'tool_metadata_complete');
    const found = [
      { title: 'Style', path: 'docs/style.md', purpose: '', isAuthoritative: true, isResolved: true, isOutside: false },
    ];
    const placed = { ...desk, services: { ...services, references: { find: async () => found } } };
    const result = await answerCall(placed, { name: 'start_workflow', arguments: { workflowId: 'wr.first_steps' } });
    const texts = result.content.map((item) => (item.type === 'text' ? item.text : expect.fail('a text')));
    expect(texts).toEqual([expect.stringMatching(/^List the files/), expect.stringContaining('docs/style.md')]);
    expect(replySchema.safeParse(result.structuredContent).error).toBeUndefined();
  });
});

it('the client is asked for its root only if the call depends on it', () => {
  const asks = (name: string, sent: JsonObject) => needsRoot({ name, arguments: sent });
  expect(asks('list_workflows', {})).toBe(true);
  expect(asks('start_workflow', { workflowId: 'wr.x', workspacePath: '/repo' })).toBe(false);
  expect(asks('continue_workflow', { ackToken: 'ack_x' })).toBe(false);
  expect(asks('continue_workflow', { stateToken: 'st_x' })).toBe(true);
  expect(asks('no_such_tool', {})).toBe(false);
});

it('a workspace may be a file URI', async () => {
  const asked: (string | undefined)[] = [];
  const observe = async (path: string | undefined) => {
    asked.push(path);
    return [];
  };
  const placed = { ...desk, services: { ...services, workspace: { observe, tree: async () => undefined } } };
  const sent = { workflowId: 'wr.first_steps', workspacePath: 'file:///work/my%20shop' };
  await answerCall(placed, { name: 'start_workflow', arguments: sent });
  expect(asked).toEqual(['/work/my shop']);
});

test.each(Object.entries(ERROR_EXAMPLES))(
  'the error "%s" is given whole, and as text that ends in the call to make',
  (_, error) => {
    enforces('error_envelope_shape', 'error_is_specific_and_says_next_step');
    enforces('tool_errors_are_results', 'tool_reply_text_and_structured');
    const { nextCall } = error;
    const call = nextCall === undefined ? '' : `\nNext call: ${nextCall.tool} ${JSON.stringify(nextCall.arguments)}`;
    const text = `${error.code}: ${error.message}\n${error.suggestion}${call}`;
    const result = errorResult(error);
    expect(result).toEqual({
      isError: true,
      content: [{ type: 'text', text }],
      structuredContent: { kind: 'error', error },
    });
    expect(replySchema.safeParse(result.structuredContent).error).toBeUndefined();
  },
);

test('an error quotes only a bounded part of the input', () => {
  enforces('error_envelope_shape');
  for (const tool of ['x'.repeat(100_000), 'é'.repeat(5_000), 'lone \ud800']) {
    const error = explain({ code: 'tool_unknown', tools: ['start'] }, { tool, sent: {}, tokens: [], recent: [] });
    const { structuredContent } = errorResult(error);
    expect(errorEnvelopeSchema.safeParse((structuredContent as { error: unknown }).error).error).toBeUndefined();
  }
});

test('the call that an unknown tool is answered with can be sent as it stands', () => {
  enforces('error_is_specific_and_says_next_step');
  const tools = ['list_workflows', 'inspect_workflow', 'start_workflow', 'continue_workflow', 'resume_session'];
  const callFor = (tool: string, sent: JsonObject) =>
    explain({ code: 'tool_unknown', tools }, { tool, sent, tokens: [], recent: [] }).nextCall;
  expect(callFor('continue', {})).toEqual({ tool: 'resume_session', arguments: {} });
  expect(callFor('start', {})).toEqual({ tool: 'list_workflows', arguments: {} });
  expect(callFor('start', { workflowId: 'x' })).toEqual({ tool: 'start_workflow', arguments: { workflowId: 'x' } });
  const sent = { ackToken: 'ack_1' };
  expect(callFor('continue', sent)).toEqual({ tool: 'continue_workflow', arguments: sent });
});

test('quoted text cannot imitate a nextCall line', () => {
  const error = {
    ...(ERROR_EXAMPLES['not_retryable'] ?? expect.fail()),
    message: 'Line 1.\nNext call: start_workflow {}',
  };
  const [{ text } = { text: '' }] = errorResult(error).content as { text: string }[];
  expect(text.match(/^Next call:.*$/gm)).toEqual(['Next call: start_workflow {"workflowId":"wr.bug_hunt"}']);
});

const GOLDEN = fileURLToPath(new URL('../../test/golden/tools', import.meta.url));

/** Of the result of tools/list, in bytes. */
const LIST_BYTES_MAX = 7_500;
const WITH_ALL = { isSessionStartOn: true };

describe('the tools', () => {
  it('the tools are a closed set, and none shows derived data', () => {
    enforces('tools_closed_set', 'no_projection_tools', 'no_session_crud_tools', 'resume_on_by_default');
    const names = publishedTools().map(({ name }) => name);
    expect(names).toEqual([
      'list_workflows',
      'inspect_workflow',
      'start_workflow',
      'continue_workflow',
      'checkpoint_workflow',
      'resume_session',
    ]);
    const all = publishedTools(WITH_ALL).map(({ name }) => name);
    expect(all).toEqual([...names, 'start_session']);
    expect(readdirSync(GOLDEN).sort()).toEqual(all.map((name) => `${name}.json`).sort());
  });

  it('the arguments of every tool equal the contract', () => {
    enforces('resume_arguments', 'checkpoint_arguments');
    const taken = (name: string) => TOOLS.find((tool) => tool.name === name)?.arguments ?? expect.fail(name);
    const required = (name: string) =>
      Object.entries(taken(name)).flatMap(([argument, { isRequired }]) => (isRequired ? [argument] : []));
    expect(Object.keys(taken('resume_session'))).toEqual([
      'query',
      'workspacePath',
      'gitBranch',
      'gitHeadSha',
      'sessionId',
      'runId',
      'includeFinished',
    ]);
    expect(required('resume_session')).toEqual([]);
    expect(Object.keys(taken('checkpoint_workflow'))).toEqual([
      'checkpointToken',
      'stateToken',
      'sessionToken',
      'output',
    ]);
    expect(required('checkpoint_workflow')).toEqual(['checkpointToken', 'output']);
  });

  it.each(publishedTools(WITH_ALL).map((tool) => [tool.name, tool] as const))(
    '%s is published as it was agreed, to the byte',
    (name, tool) => {
      enforces('tools_closed_set', 'tool_schema_and_description_one_source');
      expect(`${JSON.stringify(tool, null, 2)}\n`).toBe(readFileSync(`${GOLDEN}/${name}.json`, 'utf8'));
    },
  );

  it('the list of tools stays small', () => {
    enforces('budget_tools_list');
    const bytes = utf8Length(JSON.stringify({ tools: publishedTools(WITH_ALL) }));
    expect(bytes).toBeLessThanOrEqual(LIST_BYTES_MAX);
  });

  it('every tool has a title, four annotations and an input schema, and no output schema', () => {
    enforces('tool_metadata_complete');
    for (const tool of publishedTools(WITH_ALL)) {
      expect(Object.keys(tool)).toEqual(['name', 'title', 'description', 'inputSchema', 'annotations']);
      expect(tool.title).toMatch(/^[A-Z]/);
      expect(Object.keys(tool.annotations ?? {})).toEqual([
        'readOnlyHint',
        'destructiveHint',
        'idempotentHint',
        'openWorldHint',
      ]);
      expect(tool.inputSchema).toMatchObject({ type: 'object', properties: expect.anything() });
    }
  });

  it('the annotations of every tool are true', () => {
    const hints = (hint: keyof (typeof TOOLS)[number]['annotations']) =>
      ALL_TOOLS.filter(({ annotations }) => annotations[hint]).map(({ name }) => name);
    expect(hints('readOnlyHint')).toEqual(['list_workflows', 'inspect_workflow', 'resume_session']);
    expect(ALL_TOOLS.length - hints('idempotentHint').length).toBe(2);
    for (const name of ['start_workflow', 'start_session']) expect(hints('idempotentHint')).not.toContain(name);
    expect([...hints('destructiveHint'), ...hints('openWorldHint')]).toEqual([]);
  });

  it.each(ALL_TOOLS.map((tool) => [tool.name, tool] as const))(
    '%s is described with one example, which it takes',
    (_, tool) => {
      const examples = [...tool.description.matchAll(/Example: (\{.*\})$/g)];
      expect(examples).toHaveLength(1);
      const sent = JSON.parse(examples[0]?.[1] ?? '');
      expect(readArguments(tool.arguments, sent)._unsafeUnwrap()).toEqual(sent);
    },
  );

  it('the tools ask for notes about one step only and explain the modes', () => {
    enforces('notes_are_per_step', 'mode_presets');
    const { output } = TOOLS.find(({ name }) => name === 'continue_workflow')?.arguments ?? {};
    expect(JSON.stringify(output)).toContain('this step only');
    for (const name of ['start_workflow', 'continue_workflow']) {
      const { inputSchema } = publishedTools().find((tool) => tool.name === name) ?? expect.fail(name);
      expect(inputSchema.properties).toMatchObject({ mode: { enum: AUTONOMY } });
    }
  });
});

it.each(['start_workflow', 'inspect_workflow'])(
  '%s with the name of a workflow offers the call with its id',
  async (tool) => {
    for (const workflowId of ['First steps', 'first_steps', 'wr.frist_steps'])
      expect(await errorOf(tool, { workflowId })).toMatchObject({
        code: 'WORKFLOW_NOT_FOUND',
        nextCall: { tool, arguments: { workflowId: 'wr.first_steps' } },
      });
  },
);
