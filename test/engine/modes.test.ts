import { ok } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import type { Autonomy } from '../../src/core/log/autonomy.ts';
import { GAPS_LISTED_MAX } from '../../src/core/log/budgets.ts';
import type { GivenReply } from '../../src/core/log/operation/stored-reply.ts';
import { enforces } from '../enforces.ts';
import { type Engine, engine, eventsOf, stepOf, told, withFile } from '../examples/engine.ts';

const REPORT = { kind: 'wr.verification_report', checks: [{ name: 'x', outcome: 'pass' }], summary: 'All pass.' };
const CLAIM = { kind: 'wr.capability_observation', capability: 'web_browsing', status: 'available' };

/** What an agent is told when it sends nothing at first and then the suggested call, step by step. */
async function walked(mode: Autonomy): Promise<readonly unknown[]> {
  const agent = engine();
  const seen: unknown[] = [];
  let at = await agent.start('test.modes', { mode });
  while (at.structured['isComplete'] === false) {
    const blocked = await agent.send(at);
    seen.push([stepOf(at), told(at, 'nextIntent'), codesOf(blocked), told(blocked, 'nextIntent')]);
    at = blocked.structured['kind'] === 'blocked' ? await agent.sendNext(blocked) : blocked;
    expect(at.structured['kind']).toBe('ok');
  }
  // What guided mode asks the user, a full-auto mode leaves to the agent, and says so.
  const isAsked = mode === 'guided';
  expect(told(at, 'gaps')).toMatchObject(
    isAsked ? [] : [{ severity: 'info', details: { confirmation: 'decided_by_agent' } }],
  );
  expect(at.text.includes('Decided by the agent, without asking the user: "')).toBe(!isAsked);
  expect(at.text).toContain('No gaps are open.');
  return seen;
}

const WAIT = 'await_user_confirmation';
const WORK = 'perform_pending_then_continue';

test('guided and stopping for the user block alike; they differ in confirmations alone', async () => {
  enforces('blocking_modes_differ_in_confirmations', 'next_intent_of_blocks', 'require_confirmation_guided');
  enforces('confirmation_in_full_auto', 'human_approval_is_user_dependency', 'coordinator_eval_needs_gate_verdict');
  enforces('block_writes_no_gap');
  const rest = [
    ['chosen', WAIT, ['USER_ONLY_DEPENDENCY'], WAIT],
    ['approved', WAIT, ['USER_ONLY_DEPENDENCY'], WAIT],
    ['reported', WORK, ['MISSING_REQUIRED_OUTPUT'], WORK],
    ['noted', WORK, ['MISSING_REQUIRED_OUTPUT'], WORK],
    ['reported-again', WORK, ['MISSING_REQUIRED_OUTPUT'], WORK],
  ];
  const confirmed = (intent: string) => ['confirmed', intent, ['MISSING_REQUIRED_OUTPUT'], WORK];
  const gated = (intent: string) => ['gated', intent, ['MISSING_REQUIRED_OUTPUT'], WORK];
  expect(await walked('guided')).toEqual([confirmed(WAIT), ...rest.slice(0, 3), gated(WAIT), ...rest.slice(3)]);
  expect(await walked('full_auto_stop_on_user_deps')).toEqual([
    confirmed(WORK),
    ...rest.slice(0, 3),
    gated(WORK),
    ...rest.slice(3),
  ]);
});

describe('a run that never stops', () => {
  test('never-stop mode never blocks: what is missing is recorded as critical gaps, and the last reply lists them all', async () => {
    enforces('never_stop_never_blocks', 'contract_gap_in_never_stop', 'disclosure_mandatory');
    enforces('final_reply_lists_open_gaps', 'user_dependency_behaviour');
    const agent = engine();
    const begun = await agent.start('test.modes', { mode: 'full_auto_never_stop' });
    const replies = await untilOver(agent, begun);
    expect(replies.map((reply) => [reply.structured['kind'], (told(reply, 'gaps') as unknown[]).length])).toEqual([
      ...Array(6).fill(['ok', 1]),
      ['ok', 8],
    ]);
    const summed = eventsOf(agent, 'gap_recorded').map(({ data }) => [
      data.severity,
      `${data.reason.category}:${data.reason.detail}`,
      data.details?.['requirement'],
      data.resolution.kind,
    ]);
    const missing = 'contract_violation:missing_required_output';
    expect(summed).toEqual([
      ['critical', missing, 'notes:confirmed', 'unresolved'],
      ['info', 'user_only_dependency:needs_user_approval', 'confirmation:confirmed', 'unresolved'],
      ['critical', 'user_only_dependency:needs_user_choice', 'user_dependency:scope', 'unresolved'],
      ['critical', 'user_only_dependency:needs_user_approval', 'approval:approved', 'unresolved'],
      ['critical', missing, 'output_contract:wr.contracts.verification_report', 'unresolved'],
      ['critical', missing, 'gate:gated', 'unresolved'],
      ['critical', missing, 'notes:noted', 'unresolved'],
      ['critical', missing, 'output_contract:wr.contracts.verification_report', 'unresolved'],
    ]);
    const over = replies.at(-1) ?? expect.fail();
    expect(requirementsOf(over)).toEqual(summed.map(([, , requirement]) => requirement));
    const critical = eventsOf(agent, 'gap_recorded').filter(({ data }) => data.severity === 'critical');
    for (const { data } of critical) expect(over.text).toContain(data.summary);
    expect((await agent.show(over)).structured['gaps']).toEqual(told(over, 'gaps'));
  });

  test('never-stop mode closes a gap when its requirement is met later on the line', async () => {
    enforces('gap_resolution_written_by_engine', 'final_reply_lists_open_gaps');
    const agent = engine();
    let at = await agent.start('test.modes', { mode: 'full_auto_never_stop' });
    for (let i = 0; i < 5; i++) at = await agent.send(at);
    const opened = eventsOf(agent, 'gap_recorded').map(({ data }) => data);
    const blank = await agent.send(at, { notes: 'Noted.', context: { scope: ' ' } });
    expect(eventsOf(agent, 'gap_recorded')).toHaveLength(opened.length);
    const over = await agent.send(blank, { artifacts: [REPORT], context: { scope: 'all of it' } });
    const closing = eventsOf(agent, 'gap_recorded')
      .map(({ scope, data }) => [scope.nodeId, data.resolution] as const)
      .slice(opened.length);
    const node = await agent.node(over);
    expect(closing).toEqual([
      [node, { kind: 'resolves', resolvesGapId: opened[2]?.gapId }],
      [node, { kind: 'resolves', resolvesGapId: opened[4]?.gapId }],
    ]);
    expect(requirementsOf(over)).toEqual([
      'notes:confirmed',
      'confirmation:confirmed',
      'approval:approved',
      'gate:gated',
    ]);
  });

  test('never-stop mode lists the gaps of its own line, and none of another branch', async () => {
    enforces('final_reply_lists_open_gaps');
    const agent = engine();
    const begun = await agent.start('test.skips', { mode: 'full_auto_never_stop' });
    await untilOver(agent, begun);
    const last = await agent.send(await agent.show(begun), { notes: 'One.' });
    expect(requirementsOf(await agent.send(last))).toEqual(['notes:last']);
  });

  test('notes of one iteration do not close the gap of another', async () => {
    enforces('gap_resolution_written_by_engine');
    const agent = engine();
    const files = ['a.ts', 'b.ts', 'c.ts'];
    const begun = await agent.start('test.first_loop', { context: { files }, mode: 'full_auto_never_stop' });
    const second = await agent.send(begun);
    const third = await agent.send(await agent.send(second, { notes: 'Looked at b.' }));
    const over = await agent.send(third, { notes: 'Done.' });
    expect(requirementsOf(over)).toEqual(['notes:each-file@0::look', 'notes:each-file@2::look']);
  });

  test('never-stop mode passes a loop without its list, with a gap that a later list does not close', async () => {
    enforces('loop_for_excess_at_run_time', 'never_stop_never_blocks');
    const agent = engine();
    const begun = await agent.start('test.first_loop', { mode: 'full_auto_never_stop' });
    expect([stepOf(begun), requirementsOf(begun)]).toEqual(['wrap-up', ['loop_items:each-file']]);
    const over = await agent.send(begun, { notes: 'Done.', context: { files: ['a.ts'] } });
    expect(requirementsOf(over)).toEqual(['loop_items:each-file']);
  });

  test('a waiting run continues without its list once it is in never-stop mode', async () => {
    enforces('never_stop_never_blocks', 'mode_governs_its_attempt');
    const agent = engine();
    const waiting = await agent.start('test.first_loop');
    expect(waiting.structured).toMatchObject({ kind: 'blocked', pending: null });
    const next = await agent.send(waiting, { mode: 'full_auto_never_stop' });
    expect([stepOf(next), requirementsOf(next)]).toEqual(['wrap-up', ['loop_items:each-file']]);
  });

  test('never-stop mode iterates without a decision up to the limit, records that once, and leaves the loop', async () => {
    enforces('loop_limit_behaviour', 'loop_control_missing_is_not_exit', 'unexpected_writes_no_extra_gap');
    const agent = engine();
    const begun = await agent.start('test.loops', { context: { files: [] }, mode: 'full_auto_never_stop' });
    const replies = await untilOver(agent, begun, { notes: 'x' });
    const steps = [begun, ...replies].map(stepOf);
    expect(steps).toEqual(['plan', 'try-it', 'decide', 'try-it', 'decide', 'wrap-up', undefined]);
    expect(requirementsOf(replies.at(-1) ?? expect.fail())).toEqual([
      'loop_control:refine',
      'loop_control:refine',
      'loop_limit:refine',
    ]);
    const limit = eventsOf(agent, 'gap_recorded').at(-1)?.data;
    expect(limit).toMatchObject({
      severity: 'critical',
      reason: { category: 'unexpected', detail: 'invariant_violation' },
      details: { loopId: 'refine', iteration: 1, maxIterations: 2 },
    });
  });

  test('never-stop mode takes no claim for a capability, and records once that it is missing', async () => {
    enforces('capability_weak_never_unlocks', 'gap_resolution_written_by_engine');
    const agent = engine();
    const probe = await agent.start('test.powers', { mode: 'full_auto_never_stop' });
    const unavailable = { ...CLAIM, status: 'unavailable' };
    const read = await agent.send(probe, { artifacts: [unavailable] });
    const claimed = await agent.send(read, { notes: 'x', artifacts: [CLAIM] });
    const over = (await untilOver(agent, claimed, { notes: 'x' })).at(-1) ?? expect.fail();
    expect(requirementsOf(over)).toEqual(['capability:web_browsing']);
    expect(eventsOf(agent, 'capability_observed').map(({ data }) => data.provenance.kind)).toEqual([
      'probe_step',
      'manual_claim',
    ]);
    // An agent that goes back to the probe and shows it has nothing left open.
    const shown = await agent.send(await agent.show(probe), { artifacts: [CLAIM] });
    expect(requirementsOf((await untilOver(agent, shown, { notes: 'x' })).at(-1) ?? expect.fail())).toEqual([]);
  });

  test('never-stop mode lists a limited number of gaps, and says how many more there are', async () => {
    enforces('cut_text_said_in_reply', 'final_reply_lists_open_gaps');
    const rounds = GAPS_LISTED_MAX + 10;
    const body = [{ id: 'look', title: 'Look', prompt: 'Look.' }];
    const loop = { type: 'for', count: rounds, maxIterations: rounds };
    const steps = [{ id: 'each', title: 'Each', type: 'loop', loop, body }];
    const agent = engine({ listing: () => withFile({ id: 'test.more', name: 'More', description: 'Many.', steps }) });
    const begun = await agent.start('test.more', { mode: 'full_auto_never_stop' });
    const over = (await untilOver(agent, begun)).at(-1) ?? expect.fail();
    expect(told(over, 'gaps')).toHaveLength(GAPS_LISTED_MAX);
    expect(told(over, 'warnings')).toMatchObject([{ code: 'text_cut', details: { parts: ['10 more open gaps'] } }]);
  });
});

test('a mode governs the attempt it comes with and what follows from it; older nodes keep theirs', async () => {
  enforces('mode_governs_its_attempt', 'preferences_apply_forward', 'mode_never_refused');
  const agent = engine();
  const begun = await agent.start('test.plain');
  const second = await agent.send(begun, { mode: 'full_auto_never_stop' });
  expect([stepOf(second), told(second, 'preferences.autonomy')]).toEqual(['s2', 'full_auto_never_stop']);
  expect(told(second, 'gaps')).toHaveLength(1);
  expect(eventsOf(agent, 'preferences_changed').map(({ scope, data }) => [scope.nodeId, data.source])).toEqual([
    [await agent.node(begun), 'system'],
    [await agent.node(second), 'agent'],
  ]);
  const third = await agent.send(second);
  expect([stepOf(third), told(third, 'preferences.autonomy')]).toEqual(['s3', 'full_auto_never_stop']);

  const back = await agent.show(begun);
  expect(told(back, 'preferences.autonomy')).toBe('guided');
  expect((await agent.send(back)).structured['kind']).toBe('blocked');
  expect(await agent.send(begun, { mode: 'full_auto_never_stop' })).toEqual(second);

  const stopped = await agent.send(third, { mode: 'guided' });
  expect([stopped.structured['kind'], told(stopped, 'preferences.autonomy')]).toEqual(['blocked', 'guided']);
  expect(told(await agent.show(third), 'preferences.autonomy')).toBe('full_auto_never_stop');
  // It is in force for the retry as well, until another one is sent.
  expect((await agent.send(stopped)).structured['kind']).toBe('blocked');
  expect(stepOf(await agent.send(stopped, { notes: 'x' }))).toBe('s3');
});

test('the risk policy does not change steps, blocks or gaps', async () => {
  enforces('risk_policy_guardrails');
  const seen = await Promise.all(
    (['conservative', 'balanced', 'aggressive'] as const).map(async (riskPolicy) => {
      const agent = engine({
        services: { defaults: async () => ok({ autonomy: 'full_auto_never_stop', riskPolicy }) },
      });
      const replies = await untilOver(agent, await agent.start('test.modes'));
      return replies.map((reply) => [stepOf(reply), requirementsOf(reply), told(reply, 'nextIntent')]);
    }),
  );
  expect([seen[1], seen[2]]).toEqual([seen[0], seen[0]]);
});

test('context values are not repeated in replies, in any mode and by any call', async () => {
  enforces('context_never_echoed');
  const agent = engine();
  const secret = 'not-to-be-told-4711';
  const begun = await agent.start('test.modes', { context: { secret, deep: { secret } } });
  const blocked = await agent.send(begun, { context: { other: secret } });
  const saved = await agent.save(blocked, 'Half way.');
  const replies = [begun, blocked, saved, await agent.show(saved), ...(await untilOver(agent, saved, NEVER_STOP))];
  expect(JSON.stringify(replies)).not.toContain(secret);
});

const NEVER_STOP = { mode: 'full_auto_never_stop' } as const;

/** Does every step the same way; the replies up to the last. */
async function untilOver(agent: Engine, from: GivenReply, sent = {}): Promise<readonly GivenReply[]> {
  const replies: GivenReply[] = [];
  for (let at = from; at.structured['isComplete'] === false; ) {
    at = await agent.send(at, sent);
    replies.push(at);
    expect(replies.length, 'a run that never stops comes to its end').toBeLessThan(1_000);
  }
  return replies;
}

function codesOf(reply: GivenReply): readonly string[] {
  return (told(reply, 'blockers') as unknown as readonly { readonly code: string }[]).map(({ code }) => code);
}

function requirementsOf(reply: GivenReply): readonly unknown[] {
  const gaps = told(reply, 'gaps') as unknown as readonly { readonly details?: { readonly requirement?: string } }[];
  return gaps.map(({ details }) => details?.requirement);
}
