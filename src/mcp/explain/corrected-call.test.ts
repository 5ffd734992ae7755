import { describe, expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { ROOT, RUN, SESSION } from '../../../test/examples/ids.ts';
import type { JsonObject } from '../../core/json/json-value.ts';
import { errorPointerSchema } from '../../core/log/blockers.ts';
import { runTag, workflowIdSchema } from '../../core/log/ids.ts';
import type { TokenPlace } from '../../core/token/token-refusal.ts';
import type { TOOLS } from '../answer-call.ts';
import { readArguments } from '../arguments/read-arguments.ts';
import { checkpointWorkflowTool } from '../tools/checkpoint-workflow-tool.ts';
import { continueWorkflowTool } from '../tools/continue-workflow-tool.ts';
import { startWorkflowTool } from '../tools/start-workflow-tool.ts';
import { explain, type Refusal } from './explain.ts';
import type { InputRefusal } from './explain-input.ts';
import type { KnownToken, Situation } from './situation.ts';

const workflowId = workflowIdSchema.parse('wr.first_steps');
const place: TokenPlace = { sessionId: SESSION, runId: RUN, nodeId: ROOT, tag: runTag(RUN), workflowId };
const other = { ...place, runId: 'run_other' as TokenPlace['runId'], tag: 'zzzz' };

const STATE: KnownToken = {
  slot: 'stateToken',
  text: 'st_here',
  isGuess: false,
  kind: 'state',
  tag: place.tag,
  workflowId,
  stateToken: 'st_here',
  ackToken: 'ack_here',
  checkpointToken: 'chk_here',
};
const ACK: KnownToken = { ...STATE, slot: 'ackToken', text: 'ack_here', kind: 'ack' };
const OTHER: KnownToken = { ...STATE, tag: 'zzzz', text: 'st_there', stateToken: 'st_there', ackToken: 'ack_there' };

const OUTPUT = { notesMarkdown: 'Did it.' };
const NOWHERE: Situation = {
  tool: 'continue_workflow',
  sent: { ackToken: 'ack_x', output: OUTPUT },
  tokens: [],
  recent: [],
};
const HERE: Situation = { ...NOWHERE, sent: { ackToken: 'ack_here', output: OUTPUT }, tokens: [ACK] };

const METHOD = 'utf8_bytes_of_rfc_8785_json';
const INPUT_REFUSALS: readonly InputRefusal[] = [
  { code: 'context_not_object' },
  { code: 'context_reserved_key', key: '__proto__' },
  { code: 'context_too_deep', depth: 50, depthMax: 48 },
  { code: 'context_too_large', part: 'argument', bytes: 300_000, bytesMax: 262_144, method: METHOD },
  { code: 'context_too_large', part: 'whole', bytes: 300_000, bytesMax: 262_144, method: METHOD },
  { code: 'not_json', offence: 'lone_surrogate', path: '/a' },
  { code: 'too_many_artifacts', count: 40, max: 32 },
  { code: 'artifact_too_large', position: 2, bytes: 300_000, bytesMax: 262_144 },
  { code: 'goal_too_large', bytes: 2_000, bytesMax: 1_024 },
];

describe('what is too large', () => {
  const sized = (refusal: InputRefusal) => explain(refusal, HERE).details ?? expect.fail(refusal.code);

  test('a value that is too large is reported with its size, the maximum, the method and advice', () => {
    enforces('error_budget_reports_sizes', 'context_budget_256k', 'artifact_limits');
    const large = INPUT_REFUSALS.filter(({ code }) => /large|deep|many/.test(code));
    expect(large).toHaveLength(6);
    for (const refusal of large) {
      expect(sized(refusal)).toMatchObject({
        measured: expect.any(Number),
        max: expect.any(Number),
        method: expect.any(String),
      });
    }
    for (const refusal of large.filter(({ code }) => code === 'context_too_large')) {
      const { pointer, advice } = sized(refusal);
      expect(errorPointerSchema.parse(pointer)).toEqual({ kind: 'context_budget' });
      expect(advice).toMatch(/references/);
    }
  });

  test('the corrected call leaves out the largest context value', () => {
    const context = { log: 'x'.repeat(1_000), ticket: 'AB-12', list: [1, 2] };
    const situation = { ...HERE, sent: { ackToken: 'ack_here', context, mode: 'guided' } };
    const refusal = {
      code: 'context_too_large',
      part: 'argument',
      bytes: 1_040,
      bytesMax: 1_000,
      method: METHOD,
    } as const;
    expect(explain(refusal, situation).nextCall).toEqual({
      tool: 'continue_workflow',
      arguments: { ackToken: 'ack_here', mode: 'guided', context: { ticket: 'AB-12', list: [1, 2] } },
    });
  });

  test('the corrected call keeps as many distinct artifacts as allowed', () => {
    const artifacts = Array.from({ length: 40 }, (_, i) => ({ kind: 'x', n: i % 35 }));
    const situation = { ...HERE, sent: { ackToken: 'ack_here', output: { ...OUTPUT, artifacts }, mode: 'guided' } };
    expect(explain({ code: 'too_many_artifacts', count: 40, max: 32 }, situation).nextCall).toEqual({
      tool: 'continue_workflow',
      arguments: { ackToken: 'ack_here', mode: 'guided', output: { ...OUTPUT, artifacts: artifacts.slice(0, 32) } },
    });
  });

  test('the corrected call shortens the goal', () => {
    const situation = { ...NOWHERE, tool: 'start_workflow', sent: { workflowId, goal: 'é'.repeat(1_000) } };
    expect(explain({ code: 'goal_too_large', bytes: 2_000, bytesMax: 1_024 }, situation).nextCall).toEqual({
      tool: 'start_workflow',
      arguments: { workflowId, goal: 'é'.repeat(512) },
    });
  });
});

describe('context that cannot be stored', () => {
  test('the corrected call renames a reserved context key at any depth', () => {
    enforces('context_reserved_keys_refused');
    const context = JSON.parse('{"a":[{"__proto__":1}],"b":2}') as JsonObject;
    const situation = { ...HERE, sent: { ackToken: 'ack_here', context } };
    expect(explain({ code: 'context_reserved_key', key: '__proto__' }, situation).nextCall?.arguments).toEqual({
      ackToken: 'ack_here',
      context: { a: [{ proto_value: 1 }], b: 2 },
    });
  });

  test('the corrected call leaves out what is nested too deeply', () => {
    const situation = { ...HERE, sent: { ackToken: 'ack_here', context: { deep: [[[1]]], flat: [1] } } };
    expect(explain({ code: 'context_too_deep', depth: 4, depthMax: 2 }, situation).nextCall?.arguments).toEqual({
      ackToken: 'ack_here',
      context: { flat: [1] },
    });
  });

  test('the corrected call replaces half a character', () => {
    const situation = { ...HERE, sent: { ackToken: 'ack_here', context: { a: 'x\ud800' } } };
    const { nextCall } = explain({ code: 'not_json', offence: 'lone_surrogate', path: '/a' }, situation);
    expect(nextCall?.arguments).toEqual({ ackToken: 'ack_here', context: { a: 'x\ufffd' } });
  });
});

describe('a call with the wrong token', () => {
  const answer = (refusal: Refusal, sent: JsonObject, tokens: readonly KnownToken[]) =>
    explain(refusal, { ...NOWHERE, sent, tokens });
  const slot: Refusal = {
    code: 'TOKEN_SCOPE_MISMATCH',
    mismatch: { kind: 'slot', slot: 'ackToken', expected: ['ack'], found: 'state', tag: place.tag },
  };

  test('a report with a stateToken is corrected with the ackToken of the same step', () => {
    enforces('state_token_with_payload_refused', 'context_never_echoed');
    const payload = { output: OUTPUT, context: { a: 1 }, mode: 'guided' };
    expect(answer({ code: 'payload_without_ack' }, { stateToken: 'st_here', ...payload }, [STATE])).toMatchObject({
      code: 'VALIDATION_ERROR',
      nextCall: { tool: 'continue_workflow', arguments: { ackToken: 'ack_here', ...payload } },
    });
  });

  test('a report for a complete run is corrected to a call that shows how it ended', () => {
    const { ackToken: _, ...complete } = STATE;
    const error = answer({ code: 'payload_without_ack' }, { stateToken: 'st_here', output: OUTPUT }, [complete]);
    expect(error.message).toBe(`Run ${place.tag} (wr.first_steps) is complete, so there is no step to report.`);
    expect(error.nextCall).toEqual({ tool: 'continue_workflow', arguments: { stateToken: 'st_here' } });
  });

  test('a call with a wrong token and nothing to record is corrected to only show the step', () => {
    for (const token of [STATE, { ...ACK, slot: 'stateToken' } as const]) {
      const { nextCall } = answer(slot, { [token.slot]: token.text }, [token]);
      expect(nextCall).toEqual({ tool: 'continue_workflow', arguments: { stateToken: 'st_here' } });
    }
  });

  test('tokens of two runs are both named, and the corrected call is for the reported step', () => {
    const mismatch = { kind: 'pair', state: other, operation: place } as const;
    const sent = { ackToken: 'ack_here', stateToken: 'st_there', output: OUTPUT };
    const error = answer({ code: 'TOKEN_SCOPE_MISMATCH', mismatch }, sent, [ACK, OTHER]);
    expect(error.message).toBe(
      `ackToken belongs to run ${place.tag} (wr.first_steps), stateToken to run zzzz (wr.first_steps).`,
    );
    expect(error.suggestion).toContain(
      'To continue run zzzz (wr.first_steps) instead, send the call again with "ackToken":"ack_there" and no other token.',
    );
    expect(error.nextCall).toEqual({ tool: 'continue_workflow', arguments: { ackToken: 'ack_here', output: OUTPUT } });
    expect(error.details).toMatchObject({ runs: [{ tag: place.tag }, { tag: 'zzzz', ackToken: 'ack_there' }] });
  });

  test('a wrong token next to an ackToken is left out of the corrected call', () => {
    const mismatch = { kind: 'pair', state: other, operation: place } as const;
    const sent = { ackToken: 'ack_here', stateToken: 'st_there' };
    const { nextCall, suggestion } = answer({ code: 'TOKEN_SCOPE_MISMATCH', mismatch }, sent, [ACK, OTHER]);
    expect(nextCall).toEqual({ tool: 'continue_workflow', arguments: { ackToken: 'ack_here' } });
    expect(suggestion).toContain(`To continue run ${place.tag} (wr.first_steps), send the corrected call.`);
  });

  test('an unreadable token is replaced by the one that matches the other token or is most similar', () => {
    const bad: Refusal = { code: 'TOKEN_BAD_SIGNATURE', kind: 'ack', keysTried: 1 };
    const sent = { ackToken: 'ack_bad', stateToken: 'st_here', output: OUTPUT };
    expect(answer(bad, sent, [STATE])).toMatchObject({
      message: expect.stringMatching(/^ackToken was changed/),
      nextCall: { arguments: { ackToken: 'ack_here', output: OUTPUT } },
    });
    expect(answer(bad, { ackToken: 'ack_her', output: OUTPUT }, [{ ...ACK, isGuess: true }])).toMatchObject({
      suggestion: expect.stringContaining('most similar'),
      nextCall: { arguments: { ackToken: 'ack_here', output: OUTPUT } },
    });
  });

  test('a call without a token names recent runs, and is never corrected: a server just started may know another run only', () => {
    const recent = [STATE, { ...OTHER, tag: 'zzzz' }];
    const ask = (runs: readonly KnownToken[]) =>
      explain({ code: 'token_missing' }, { ...NOWHERE, sent: { output: OUTPUT }, recent: runs });
    expect(ask([STATE])).toMatchObject({ details: { runs: [{ tag: place.tag, ackToken: 'ack_here' }] } });
    expect(ask([STATE]).nextCall).toBeUndefined();
    const look = explain({ code: 'token_missing' }, { ...NOWHERE, sent: {}, recent: [STATE] });
    expect(look).toMatchObject({ suggestion: expect.stringContaining('"stateToken":"st_here"') });
    expect(look.nextCall).toBeUndefined();
    expect(ask(recent)).toMatchObject({ details: { runs: [{ tag: place.tag }, { tag: 'zzzz' }] } });
    expect(ask(recent).nextCall).toBeUndefined();
  });

  test('a token that leads nowhere gets advice on how to find its run', () => {
    const format: Refusal = { code: 'TOKEN_INVALID_FORMAT', problem: { kind: 'empty' } };
    expect(explain(format, NOWHERE).suggestion).toContain('If you do not have it, call resume_session.');
  });

  test('a checkpoint without content is corrected with a placeholder', () => {
    const refusal = wrongArguments(checkpointWorkflowTool, { checkpointToken: 'chk_here' });
    const tokens = [{ ...STATE, slot: 'checkpointToken', text: 'chk_here', kind: 'checkpoint' } as const];
    const sent = { checkpointToken: 'chk_here' };
    const saved = { ...sent, output: { notesMarkdown: '<fill: what is done, and what is open>' } };
    const nextCall = { tool: 'checkpoint_workflow', arguments: saved };
    const situation = { ...NOWHERE, tool: 'checkpoint_workflow', sent, tokens };
    expect(explain(refusal, situation)).toMatchObject({ suggestion: expect.stringMatching(/^Send/), nextCall });
    const empty: Refusal = { code: 'nothing_to_keep', tag: place.tag, workflowId };
    expect(explain(empty, { ...situation, sent: { ...sent, output: {} } })).toMatchObject({ nextCall });
    expect(explain(refusal, { ...situation, tokens: [] }).nextCall).toBeUndefined();
  });
});

describe('invalid arguments', () => {
  test('all invalid arguments are reported at once, with the corrected call', () => {
    enforces('unknown_argument_named');
    const refusal = wrongArguments(continueWorkflowTool, { ack: 'ack_here', output: 'Did it.', mode: 'never stop' });
    const error = explain(refusal, { ...HERE, sent: refusal.read });
    expect(error.message).toMatch(/"ack".*"ackToken"\?.*"output\.notesMarkdown".*"never stop".*full_auto_never_stop/);
    expect(error.nextCall).toEqual({
      tool: 'continue_workflow',
      arguments: { ackToken: 'ack_here', output: { notesMarkdown: 'Did it.' }, mode: 'full_auto_never_stop' },
    });
  });

  test('a corrected call with invalid arguments also has the right token', () => {
    const refusal = wrongArguments(continueWorkflowTool, { token: 'st_here', output: 'Did it.' });
    const tokens = [{ ...STATE, slot: 'ackToken' } as const];
    expect(explain(refusal, { ...HERE, sent: refusal.read, tokens }).nextCall?.arguments).toEqual({
      ackToken: 'ack_here',
      output: { notesMarkdown: 'Did it.' },
    });
  });

  test('a start without a workflow is corrected to list_workflows', () => {
    const refusal = wrongArguments(startWorkflowTool, { workspacePath: '/repo' });
    const situation = { ...NOWHERE, tool: 'start_workflow', sent: refusal.read };
    expect(explain(refusal, situation).nextCall).toEqual({
      tool: 'list_workflows',
      arguments: { workspacePath: '/repo' },
    });
  });
});

describe('an unknown workflow', () => {
  const refusal: Refusal = {
    code: 'workflow_not_found',
    workflowId: 'wr.frist_steps',
    known: ['wr.hunt', workflowId],
    meant: { id: workflowId, choices: [workflowId] },
  };
  const situation = { ...NOWHERE, tool: 'start_workflow', sent: { workflowId: 'wr.frist_steps', goal: 'x' } };

  test('an unknown workflow is corrected to the most similar id', () => {
    expect(explain(refusal, situation).nextCall?.arguments).toEqual({ workflowId, goal: 'x' });
  });

  test('an unknown workflow without a similar id is corrected to list_workflows', () => {
    const lost = { ...refusal, workflowId: 'deploy-everything', meant: { choices: [] } };
    expect(explain(lost, situation)).toMatchObject({
      suggestion: `Choose one of: wr.hunt, wr.first_steps. If "deploy-everything" belongs to a project, send the project's absolute path as workspacePath.`,
      nextCall: { tool: 'list_workflows', arguments: {} },
    });
    const placed = { ...situation, sent: { ...situation.sent, workspacePath: '/repo' } };
    expect(explain(lost, placed)).toMatchObject({
      suggestion: 'Choose one of: wr.hunt, wr.first_steps.',
      nextCall: { tool: 'list_workflows', arguments: { workspacePath: '/repo' } },
    });
  });

  test('if the user has not accepted a source yet, no other workflow is suggested', () => {
    const waiting = ['This repository asks for the source "flows". The user can accept it: workrail source accept'];
    const placed = { ...situation, sent: { ...situation.sent, workspacePath: '/repo' } };
    const { message, suggestion, nextCall } = explain({ ...refusal, workflowId: 'team.upgrade', waiting }, placed);
    expect(message).toBe('Unknown workflow "team.upgrade". It may be in a source that the user has not accepted yet.');
    expect(suggestion).toMatch(/^Do not start another workflow instead\. .* accept it: workrail source accept$/);
    expect([`${message} ${suggestion}`.includes(workflowId), nextCall]).toEqual([false, undefined]);
  });

  test('where no workflow is installed, the user is asked to install WorkRail again', () => {
    const lost = { ...refusal, known: [], meant: { choices: [] } };
    expect(explain(lost, situation).suggestion).toContain('Ask the user to install WorkRail again.');
  });
});

function wrongArguments(tool: (typeof TOOLS)[number], sent: JsonObject) {
  const read = readArguments(tool.arguments, sent);
  return read.isErr() ? read.error : expect.fail('the tool takes it');
}
