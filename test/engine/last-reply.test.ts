import { expect, test } from 'vitest';
import { dueCheck, recordCheck } from '../../src/app/run/attest-check.ts';
import { inspectSession } from '../../src/app/sessions/inspect-session.ts';
import type { RunId, SessionId } from '../../src/core/log/ids.ts';
import { commandDigest } from '../../src/core/run/evidence/judge-check.ts';
import { runData } from '../../src/core/sessions/describe-session.ts';
import { enforces } from '../enforces.ts';
import { type Engine, engine, withFile } from '../examples/engine.ts';
import { AT_TERMINAL, answerId } from '../examples/gates.ts';
import { sha256 } from '../examples/sha256.ts';

const step = (id: string, more: object = {}) => ({ id, title: `Step ${id}`, prompt: 'Do it.', ...more });
const FILE = {
  id: 'test.skipping',
  name: 'Skipping',
  description: 'Skips steps.',
  steps: [
    step('a'),
    step('b', { runCondition: { var: 'size', equals: 'large' } }),
    step('c'),
    step('d', { runCondition: { var: 'risk', equals: 'high' } }),
  ],
};

async function lastReply(context: object) {
  const { start, send, show } = engine({ listing: () => withFile(FILE) });
  const begun = await start('test.skipping');
  const second = await send(begun, { notes: 'Done.', context: { ...context } });
  const last = await send(second, { notes: 'Done.' });
  return { begun, second, last, shown: await show(last) };
}

test('the last reply says what was done and skipped, and why', async () => {
  enforces('last_reply_is_true', 'position_counts_line');
  const { begun, second, last, shown } = await lastReply({ size: 'small', risk: 'low' });
  for (const { text, structured } of [last, shown]) {
    expect(text).toContain(
      [
        '2 steps done. 2 steps were skipped:',
        '- "Step b": because size is "small".',
        '- "Step d": because risk is "low".',
        '',
        'No gaps are open. Every required output was sent.',
      ].join('\n'),
    );
    expect(structured['result']).toEqual({
      stepsDone: 2,
      skipped: [
        { stepId: 'b', title: 'Step b', reason: 'because size is "small".' },
        { stepId: 'd', title: 'Step d', reason: 'because risk is "low".' },
      ],
    });
  }
  expect([begun, second].map(({ structured }) => structured['pending'])).toMatchObject([
    { position: { index: 1 } },
    { position: { index: 2, of: 2 } },
  ]);
  expect(begun.text).toContain('· step 1: Step a');
  expect(second.text).toContain('· step 2 of 2: Step c');
});

test('the last reply does not claim that everything was handed in if a step was skipped for want of a value', async () => {
  enforces('last_reply_is_true');
  const { last } = await lastReply({ size: 'small' });
  expect(last.text).toContain('- "Step d": "risk" was never set.');
  expect(last.text).not.toContain('Everything that is checked');
  expect(last.text).toContain(
    'No gaps are open, but steps were skipped because a value was never set. Tell the user which.',
  );
});

test('an accepted artifact comes back in the recap, in a few lines inside the recorded block', async () => {
  enforces('artifacts_come_back');
  const { start, send, show } = engine({ listing: () => withFile(FILE) });
  const artifact = { kind: 'x.note', topic: 'Next call: x {}', parts: ['one', 'two'] };
  const second = await send(await start('test.skipping'), { notes: 'Done.', artifacts: [artifact] });
  const { text, structured } = await show(second);
  expect(text).toContain(
    '\n> Artifact "x.note" of step "Step a":\n>   topic: Next call: x {}\n>   parts (first of 2): one\n',
  );
  expect(structured['recap']).toMatchObject({
    artifacts: [{ title: 'Step a', kind: 'x.note', text: 'topic: Next call: x {}\nparts (first of 2): one' }],
  });
});

const MANY = {
  id: 'test.many',
  name: 'Many',
  description: 'Hands in many results.',
  steps: Array.from({ length: 40 }, (_, i) => step(`s${i}`)),
};

test('prompts of later steps show accepted results within a limit, newest kept, and nothing of a blocked attempt', async () => {
  enforces('artifacts_come_back');
  const { start, send, show } = engine({ listing: () => withFile(MANY) });
  const first = { kind: 'x.first', found: 'the cause' };
  const shownIn = ({ structured }: { readonly structured: Readonly<Record<string, unknown>> }) => {
    const { artifacts = [] } = (structured['recorded'] ?? {}) as { artifacts?: readonly { title: string }[] };
    return artifacts;
  };
  const begun = await start('test.many');
  expect(shownIn(begun)).toEqual([]);
  const blocked = await send(begun, { artifacts: [first] });
  expect(shownIn(blocked)).toEqual([]);
  let last = await send(blocked, { notes: 'Done.' });
  // What a call itself sends is not repeated in its reply.
  expect(shownIn(last)).toEqual([]);
  last = await send(last, { notes: 'Done.' });
  const shown = { title: 'Step s0', kind: 'x.first', text: 'found: the cause' };
  expect(shownIn(last)).toEqual([shown]);
  expect(last.text).toContain('\n> Artifact "x.first" of step "Step s0":\n>   found: the cause\n');
  const decision = { kind: 'wr.loop_control', loopId: 'x', decision: 'stop' };
  for (let i = 0; i < 30; i++) last = await send(last, { notes: 'Done.', artifacts: i === 3 ? [decision] : [] });
  // However many steps ago it was handed in.
  expect(shownIn(last)).toEqual([shown]);
  expect((await show(last)).structured['recap']).toMatchObject({ artifacts: [shown, { kind: 'wr.loop_control' }] });
  const long = { kind: 'x.long', text: 'é'.repeat(300), list: ['é'.repeat(300)], other: ['é'.repeat(300)] };
  for (let i = 0; i < 4; i++) last = await send(last, { notes: 'Done.', artifacts: [long] });
  expect(shownIn(last).map(({ title }) => title)).toEqual(['Step s33', 'Step s34']);
  const block = /^Recorded earlier by agents(?:.|\n)*?\n\n/m.exec(last.text)?.[0] ?? '';
  expect(Buffer.byteLength(block)).toBeGreaterThan(400);
  expect(Buffer.byteLength(block)).toBeLessThanOrEqual(1_200);
});

test('a skipped loop counts with all of its steps, so that the numbers add up to the steps of the workflow', async () => {
  const loop = {
    id: 'rounds',
    type: 'loop',
    title: 'Rounds',
    runCondition: { var: 'size', equals: 'large' },
    loop: { type: 'for', count: 2, maxIterations: 2 },
    body: [step('x'), step('y'), step('z')],
  };
  const file = { ...FILE, steps: [step('a'), loop, step('c')] };
  const { start, send } = engine({ listing: () => withFile(file) });
  const second = await send(await start('test.skipping'), { notes: 'Done.', context: { size: 'small' } });
  const { text } = await send(second, { notes: 'Done.' });
  expect(text).toContain('2 steps done. 3 steps were skipped:\n- "Rounds" (3 steps): because size is "small".');
});

const ROUNDS = {
  id: 'test.rounds',
  name: 'Rounds',
  description: 'Does a checked step twice.',
  steps: [
    {
      ...step('again', { type: 'loop', prompt: undefined }),
      loop: { type: 'for', count: 2, maxIterations: 2 },
      body: [step('slice', { checks: [{ id: 'unit', run: 'npm test', minimum: 'reported' }] })],
    },
  ],
};

/** Records that the check of the step that is due passed at a commit. */
async function passedAt({ services }: Engine, from: Awaited<ReturnType<Engine['send']>>, commit: string) {
  const { sessionId, runId } = from.structured['session'] as { sessionId: SessionId; runId: RunId };
  const session = (await services.sessions.load(sessionId))._unsafeUnwrap();
  const found = (await dueCheck(services, session, { runId, checkId: 'unit' }))._unsafeUnwrap();
  const ended = { exitCode: 0, timedOut: false, durationMs: 5, headSha: commit.repeat(40) };
  const statement = { kind: 'check', checkId: 'unit', commandDigest: commandDigest('npm test', sha256), ...ended };
  const recorded = { statement, tail: '', attestationId: answerId(commit), by: AT_TERMINAL } as const;
  (await recordCheck(services, found, recorded as Parameters<typeof recordCheck>[2]))._unsafeUnwrap();
  return sessionId;
}

const REPORTED = {
  kind: 'wr.verification_report',
  summary: 'The tests pass.',
  checks: [{ name: 'unit', outcome: 'pass', evidence: '12 passed' }],
};

test.each([
  ['a', 'b'],
  ['a', undefined],
  [undefined, 'b'],
])('a check in a loop is shown with the run of its own round: %s, %s', async (...commits) => {
  enforces('last_reply_is_true');
  const run = engine({ listing: () => withFile(ROUNDS) });
  let reply = await run.start('test.rounds');
  const { sessionId } = reply.structured['session'] as { sessionId: SessionId };
  for (const commit of commits) {
    if (commit !== undefined) await passedAt(run, reply, commit);
    reply = await run.send(reply, { notes: 'Done.', artifacts: [REPORTED] });
  }
  const named = (text: string | undefined) => /at commit (\w)/.exec(text ?? '')?.[1];
  const line = /^- "Step slice": (.*)$/m.exec(reply.text)?.[1] ?? '';
  expect(line.split('; ').map(named)).toEqual(commits);
  const inspected = (await inspectSession(run.services, sessionId, 'standing'))._unsafeUnwrap();
  const [standing] = inspected.runs;
  expect(standing && runData(standing).checks?.map((check) => named(check.run))).toEqual(commits);
});
