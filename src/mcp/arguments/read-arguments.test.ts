import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { TOOLS } from '../answer-call.ts';
import { checkpointWorkflowTool } from '../tools/checkpoint-workflow-tool.ts';
import { continueWorkflowTool } from '../tools/continue-workflow-tool.ts';
import { inspectWorkflowTool } from '../tools/inspect-workflow-tool.ts';
import { listWorkflowsTool } from '../tools/list-workflows-tool.ts';
import { startWorkflowTool } from '../tools/start-workflow-tool.ts';
import { readArguments } from './read-arguments.ts';

const ACK = `ack_${'0123456789abcdefghjkmnpqrstvwxyz'.slice(0, 24).repeat(2)}`;
const LONG_ACK = `ack.v1.${'e'.repeat(40)}.${'s'.repeat(43)}`;
const NOTES = 'Read the config.';
const OUTPUT = { notesMarkdown: NOTES };
const LOOP = { kind: 'wr.loop_control', decision: 'stop' };

const taken = (tool: { readonly arguments: Parameters<typeof readArguments>[0] }, sent: JsonObject) =>
  readArguments(tool.arguments, sent)._unsafeUnwrap();
const refused = (tool: { readonly arguments: Parameters<typeof readArguments>[0] }, sent: JsonObject) =>
  readArguments(tool.arguments, sent)._unsafeUnwrapErr();

describe('unambiguous arguments', () => {
  const right = { ackToken: ACK, output: { notesMarkdown: NOTES, artifacts: [LOOP] }, context: { a: 1 } };

  it.each<readonly [what: string, sent: JsonObject]>([
    ['as it should be', right],
    ['with objects and lists as JSON text', { ...right, output: JSON.stringify(right.output), context: '{"a":1}' }],
    ['with JSON text in JSON text', { ...right, context: JSON.stringify('{"a":1}') }],
    ['with artifacts as JSON text', { ...right, output: { notes: NOTES, artifacts: JSON.stringify([LOOP]) } }],
    ['with one artifact alone', { ...right, output: { notesMarkdown: NOTES, artifacts: LOOP } }],
    [
      'with one artifact as JSON text in the list',
      { ...right, output: { ...OUTPUT, artifacts: [JSON.stringify(LOOP)] } },
    ],
    ['with notes and artifacts at the top', { ackToken: ACK, notes: NOTES, artifacts: [LOOP], context: { a: 1 } }],
    [
      'with notesMarkdown at the top',
      { ackToken: ACK, notesMarkdown: NOTES, output: { artifacts: [LOOP] }, context: { a: 1 } },
    ],
    ['with nothing in what is not needed', { ...right, stateToken: '', mode: null }],
    ['with the same said twice', { ...right, notes: NOTES }],
    ['wrapped in an argument that does not exist', { arguments: right }],
    ['wrapped as JSON text', { input: JSON.stringify(right) }],
    ['wrapped twice', { params: { arguments: right } }],
    ['wrapped twice, the inner one as JSON text', { request: { input: JSON.stringify(right) } }],
    ['wrapped with the name of the tool', { name: 'continue_workflow', arguments: right }],
    ['wrapped as a whole message', { method: 'tools/call', params: { name: 'continue_workflow', arguments: right } }],
    ['with the token beside the wrapper', { ackToken: ACK, input: { output: right.output, context: right.context } }],
    ['with the same token inside and beside the wrapper', { ackToken: ACK, args: right }],
  ])('%s', (_, sent) => {
    enforces('json_string_arguments_accepted', 'continue_arguments');
    expect(taken(continueWorkflowTool, sent)).toEqual(right);
  });

  it('a list of words may be sent as one text', () => {
    for (const tags of [['a', 'b'], 'a, b', 'a b', '["a","b"]']) {
      expect(taken(listWorkflowsTool, { tags })).toEqual({ tags: ['a', 'b'] });
    }
  });

  it('an empty token is invalid unless another token is sent', () => {
    expect(taken(continueWorkflowTool, { ackToken: ' ' })).toEqual({ ackToken: '' });
    expect(taken(continueWorkflowTool, { ackToken: '', stateToken: 'st_x' })).toEqual({ stateToken: 'st_x' });
    expect(taken(startWorkflowTool, { workflowId: 'wr.x', attachTo: '' })).toEqual({ workflowId: 'wr.x' });
  });

  it.each<JsonObject>([
    { output: {} },
    { output: { notesMarkdown: ' ' } },
    { output: { artifacts: [] } },
    { output: '{"notesMarkdown":"","artifacts":"[]"}' },
    { artifacts: [], context: {} },
    { context: '{}', output: null },
  ])('an empty output or context counts as not sent: %j', (rest) => {
    enforces('state_token_with_payload_refused');
    expect(taken(continueWorkflowTool, { stateToken: 'st_x', ...rest })).toEqual({ stateToken: 'st_x' });
  });

  it('a token that was only miscopied is passed on unchanged', () => {
    for (const ackToken of [
      ACK,
      `"${ACK}"`,
      ` ${ACK.toUpperCase()} `,
      `${ACK.slice(0, 20)} ${ACK.slice(20)}`,
      'done',
    ]) {
      expect(taken(continueWorkflowTool, { ackToken })).toEqual({ ackToken });
    }
  });

  it('the content of context and artifacts is not validated', () => {
    const context = { notes: null, mode: 'x', list: [null, { ack: 1 }] };
    expect(taken(continueWorkflowTool, { ackToken: ACK, context })).toEqual({ ackToken: ACK, context });
  });
});

describe('misspelled arguments are corrected', () => {
  it.each<readonly [sent: JsonObject, meant: JsonObject]>([
    [{ acktoken: ACK }, { ackToken: ACK }],
    [{ ack_token: ACK }, { ackToken: ACK }],
    [{ ack: ACK }, { ackToken: ACK }],
    [{ ackTokn: ACK }, { ackToken: ACK }],
    [{ token: ACK }, { ackToken: ACK }],
    [{ ackToken: `ackToken: ${ACK}.` }, { ackToken: ACK }],
    [{ ackToken: `"ackToken":"${LONG_ACK}"` }, { ackToken: LONG_ACK }],
    [{ ackToken: { ackToken: ACK } }, { ackToken: ACK }],
    [
      { ackToken: ACK, output: NOTES },
      { ackToken: ACK, output: OUTPUT },
    ],
    [
      { ackToken: ACK, output: LOOP },
      { ackToken: ACK, output: { artifacts: [LOOP] } },
    ],
    [
      { ackToken: ACK, output: [LOOP] },
      { ackToken: ACK, output: { artifacts: [LOOP] } },
    ],
    [
      { ackToken: ACK, output: { notes: NOTES, artifacts: ['Stop now.', LOOP, '"And rest."', ' '] } },
      { ackToken: ACK, output: { notesMarkdown: `${NOTES}\n\nStop now.\n\nAnd rest.`, artifacts: [LOOP] } },
    ],
    [
      { ackToken: ACK, output: { artifacts: NOTES } },
      { ackToken: ACK, output: OUTPUT },
    ],
    [
      { ackToken: ACK, output: { summary: NOTES } },
      { ackToken: ACK, output: OUTPUT },
    ],
    [
      { ackToken: ACK, output: { notesMarkdown: ['Read', 'the config.'] } },
      { ackToken: ACK, output: { notesMarkdown: 'Read\nthe config.' } },
    ],
    [
      { ackToken: ACK, summary: NOTES },
      { ackToken: ACK, output: OUTPUT },
    ],
    [
      { ackToken: ACK, output: OUTPUT, stepId: 'look' },
      { ackToken: ACK, output: OUTPUT },
    ],
    [
      { ackToken: ACK, mode: 'Guided' },
      { ackToken: ACK, mode: 'guided' },
    ],
    [
      { ackToken: ACK, mode: 'full auto' },
      { ackToken: ACK, mode: 'full_auto_stop_on_user_deps' },
    ],
    [
      { ackToken: ACK, mode: 'auto' },
      { ackToken: ACK, mode: 'full_auto_stop_on_user_deps' },
    ],
    [
      { ackToken: ACK, mode: 'never stop' },
      { ackToken: ACK, mode: 'full_auto_never_stop' },
    ],
    [
      { ackToken: ACK, mode: 'full_auto_never_stp' },
      { ackToken: ACK, mode: 'full_auto_never_stop' },
    ],
    [
      { ackToken: ACK, variables: { a: 1 } },
      { ackToken: ACK, context: { a: 1 } },
    ],
  ])('%j', (sent, meant) => {
    enforces('unknown_argument_named');
    expect(refused(continueWorkflowTool, sent)).toMatchObject({ code: 'arguments_wrong', meant });
  });

  it.each<readonly [sent: JsonObject, meant: JsonObject]>([
    [{ workflow: 'wr.x' }, { workflowId: 'wr.x' }],
    [
      { id: 'wr.x', task: 'Do it' },
      { workflowId: 'wr.x', goal: 'Do it' },
    ],
    [
      { workflowId: 'wr.x', workspace: '/repo' },
      { workflowId: 'wr.x', workspacePath: '/repo' },
    ],
  ])('to start: %j', (sent, meant) => {
    expect(refused(startWorkflowTool, sent)).toMatchObject({ meant });
  });

  it('to inspect', () => {
    expect(refused(inspectWorkflowTool, { workflowId: 'wr.x', mode: 'all' })).toMatchObject({
      meant: { workflowId: 'wr.x', mode: 'full' },
    });
  });
});

describe('unclear arguments are reported without a corrected call', () => {
  it.each<readonly [sent: JsonObject, problem: object]>([
    [{ ackToken: 7 }, { kind: 'wrong_shape', name: 'ackToken', wanted: 'token', found: 'number' }],
    [{ output: 7 }, { kind: 'wrong_shape', name: 'output', wanted: 'object', found: 'number' }],
    [{ output: '{"notesMarkdown": "cut o' }, { kind: 'broken_json', name: 'output' }],
    [
      { output: { notesMarkdown: {} } },
      { kind: 'wrong_shape', name: 'output.notesMarkdown', wanted: 'text', found: 'object' },
    ],
    [{ output: { artifacts: [7] } }, { kind: 'wrong_shape', name: 'output.artifacts[0]', wanted: 'object' }],
    [{ output: { artifacts: '[{"kind":' } }, { kind: 'broken_json', name: 'output.artifacts' }],
    [{ context: [1] }, { kind: 'wrong_shape', name: 'context', wanted: 'object', found: 'list' }],
    [{ context: 'ticket AB-12' }, { kind: 'wrong_shape', name: 'context', wanted: 'object', found: 'text' }],
    [{ mode: 'sideways' }, { kind: 'no_choice', name: 'mode', found: 'sideways' }],
    [
      { output: OUTPUT, notes: 'Other.' },
      { kind: 'twice', meant: 'output.notesMarkdown' },
    ],
    [
      { ack: ACK, token: LONG_ACK },
      { kind: 'twice', meant: 'ackToken' },
    ],
  ])('%j', (sent, problem) => {
    const { problems, meant } = refused(continueWorkflowTool, sent);
    expect(problems).toContainEqual(expect.objectContaining(problem));
    expect(meant).toBeUndefined();
  });

  it('all problems of a call are reported at once', () => {
    const { problems, takes } = refused(checkpointWorkflowTool, { foo: 1, context: {}, mode: 'x' });
    expect(problems.map(({ kind, name }) => [kind, name])).toEqual([
      ['unknown', 'foo'],
      ['unknown', 'context'],
      ['unknown', 'mode'],
      ['missing', 'checkpointToken'],
      ['missing', 'output'],
    ]);
    expect(takes).toEqual(['checkpointToken', 'stateToken', 'output']);
  });

  it('a required argument that was sent empty is reported as empty, not as absent', () => {
    const { problems } = refused(checkpointWorkflowTool, { checkpointToken: 'chk_1', output: {} });
    expect(problems).toContainEqual({ kind: 'missing', name: 'output', isEmpty: true });
  });
});

it.each<readonly [sent: JsonObject, name: string]>([
  [{ context: '{"order":12345678901234567890}' }, 'context.order'],
  [{ context: JSON.stringify('{"order":12345678901234567890}') }, 'context.order'],
  [{ output: '{"artifacts":[{"n":[12345678901234567890]}]}' }, 'output.artifacts[0].n[0]'],
  [{ output: { artifacts: '[{"n":12345678901234567890}]' } }, 'output.artifacts[0].n'],
  [{ output: { artifacts: ['{"n":12345678901234567890}'] } }, 'output.artifacts[0].n'],
  [{ input: '{"context":{"order":12345678901234567890}}' }, 'context.order'],
])('a number in JSON text that parsing would round is refused by name: %j', (sent, name) => {
  enforces('inexact_numbers_refused');
  const { problems, meant } = refused(continueWorkflowTool, { ackToken: ACK, ...sent });
  expect(problems).toEqual([{ kind: 'inexact_number', name, number: '12345678901234567890' }]);
  expect(meant).toBeUndefined();
});

it('a wrapper that cannot be read or contradicts what is beside it is reported, and no token is lost', () => {
  const broken = { input: `{"ackToken":"${ACK}","output":{"notesMarkdown":"cut o` };
  expect(refused(continueWorkflowTool, broken)).toMatchObject({
    problems: [{ kind: 'broken_json', name: 'input' }],
    read: { ackToken: ACK },
  });
  expect(refused(continueWorkflowTool, { ackToken: ACK, input: '{"output":' })).toMatchObject({
    problems: [{ kind: 'broken_json', name: 'input' }],
    read: { ackToken: ACK },
  });
  const other = { ackToken: ACK, context: { a: 1 }, arguments: { context: { a: 2 } } };
  expect(refused(continueWorkflowTool, other).problems).toEqual([
    { kind: 'twice', name: 'arguments.context', meant: 'context' },
  ]);
  expect(refused(continueWorkflowTool, { ackToken: ACK, input: 'some words' }).problems).toEqual([
    { kind: 'unknown', name: 'input' },
  ]);
});

it('a required group that is corrected to nothing is reported as missing, and no call is offered', () => {
  const tool = TOOLS.find(({ name }) => name === 'checkpoint_workflow');
  const read = readArguments(tool?.arguments ?? {}, { checkpointToken: ACK, output: '[]' });
  expect(read._unsafeUnwrapErr()).not.toHaveProperty('meant');
});

it('what is far too much is counted and refused as a whole, not read one by one', () => {
  enforces('call_limits');
  const many = Object.fromEntries(Array.from({ length: 40_000 }, (_, i) => [`name${i}`, 1]));
  const problemsOf = (sent: JsonObject) => refused(continueWorkflowTool, sent).problems;
  expect(refused(continueWorkflowTool, { ackToken: ACK, ...many })).toMatchObject({
    problems: [{ kind: 'too_many', name: '', found: 40_001, max: 64 }],
    read: { ackToken: ACK },
  });
  expect(problemsOf({ output: many })).toEqual([{ kind: 'too_many', name: 'output', found: 40_000, max: 64 }]);
  for (const item of [{}, 'text', []]) {
    const artifacts = Array.from({ length: 200_000 }, () => item);
    const problem = { kind: 'too_many', name: 'output.artifacts', found: 200_000, max: 1_000 };
    expect(problemsOf({ ackToken: ACK, output: { artifacts } })).toEqual([problem]);
  }
  expect(problemsOf({ ackToken: ACK, output: '['.repeat(100_000) })).toEqual([
    { kind: 'broken_json', name: 'output', isTooLarge: true },
  ]);
  const long = 'a/'.repeat(100_000);
  expect(refused(listWorkflowsTool, { workspacePath: long, query: long }).problems).toMatchObject([
    { kind: 'too_long', name: 'query', bytes: 200_000, bytesMax: 4_096 },
    { kind: 'too_long', name: 'workspacePath' },
  ]);
});

it('any input gets an answer, and a corrected call is itself valid', () => {
  const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<JsonValue>;
  const names = TOOLS.flatMap((tool) => Object.keys(tool.arguments));
  const name = fc.oneof(fc.constantFrom(...names, 'notes', 'ack', '__proto__', 'constructor'), fc.string());
  const text = fc.constantFrom(ACK, LONG_ACK, `the ${ACK}`, '{"a":1}', 'full auto', '[]', '"');
  fc.assert(
    fc.property(fc.constantFrom(...TOOLS), fc.array(fc.tuple(name, fc.oneof(json, text))), (tool, entries) => {
      const read = readArguments(tool.arguments, Object.fromEntries(entries));
      const meant = read.isOk() ? read.value : read.error.meant;
      if (meant !== undefined) expect(readArguments(tool.arguments, meant)._unsafeUnwrap()).toEqual(meant);
    }),
  );
});
