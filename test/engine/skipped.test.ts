import { expect, test } from 'vitest';
import { enforces } from '../enforces.ts';
import { type Engine, engine, stepOf, tokenOf, told, withFile } from '../examples/engine.ts';
import { filledCall } from '../examples/filled-call.ts';

const warnings = (reply: Parameters<typeof told>[0]) => told(reply, 'warnings');

test('a step that is skipped for an unset value is reported, and one call runs it', async () => {
  enforces('unset_skip_warned', 'replay_returns_recorded_reply');
  const agent = engine();
  const begun = await agent.start('test.skips');
  const last = await agent.send(begun, { notes: 'One.' });
  expect(stepOf(last)).toBe('last');
  const [call = expect.fail()] = calls(last);
  expect(warnings(last)).toEqual([
    {
      code: 'skipped_for_unset_value',
      message:
        'Skipped because context does not have "size": split, shrink. To run those steps, send your last output again with the right values:',
      details: { steps: ['split', 'shrink'], keys: ['size'] },
      suggestedCall: {
        tool: 'continue_workflow',
        arguments: { ackToken: expect.stringMatching(/^ack_/), context: { size: '<fill: large, or another value>' } },
      },
    },
  ]);
  expect(last.text).toContain(`continue_workflow ${JSON.stringify(call.arguments)}`);
  expect(last.text.match(/^Warning: /gm)).toHaveLength(1);

  // It stays the same whatever comes after it: more steps on this line, and the branch itself.
  await agent.send(last, { notes: 'Two.' });
  const split = await sendAgain(agent, call, 'One.');
  expect(stepOf(split)).toBe('split');
  expect(warnings(split)).toEqual([]);
  expect(await agent.send(begun, { notes: 'One.' })).toEqual(last);
  expect(await sendAgain(agent, call, 'One.')).toEqual(split);
});

test('a step that is skipped for a value that was set is not reported', async () => {
  enforces('unset_skip_warned');
  const agent = engine();
  const begun = await agent.start('test.skips', { context: { size: 'small' } });
  const last = await agent.send(begun, { notes: 'One.' });
  expect([stepOf(last), warnings(last)]).toEqual(['last', []]);
});

test('a first step that is skipped for an unset value is reported at the start', async () => {
  enforces('unset_skip_warned');
  const due = (id: string, pattern: string) => ({ runCondition: { var: 'risk', [id]: pattern } });
  const steps = [
    { id: 'deep', title: 'Deep', prompt: 'Dig.', ...due('matches', '^h') },
    { id: 'wide', title: 'Wide', prompt: 'Look.' },
  ];
  const file = { id: 'test.begins', name: 'Begins', description: 'Skips its first step.', steps };
  const begun = await engine({ listing: () => withFile(file) }).start('test.begins');
  expect([stepOf(begun), warnings(begun)]).toEqual([
    'wide',
    [
      {
        code: 'skipped_for_unset_value',
        message:
          'Skipped because context does not have "risk": deep. To run that step, start again with context like {"risk":"<fill: value of risk>"}.',
        details: { steps: ['deep'], keys: ['risk'] },
      },
    ],
  ]);
});

test('what a blocked attempt sent need not be sent again', async () => {
  const agent = engine();
  const begun = await agent.start('test.skips');
  const blocked = await agent.send(begun, { context: { other: 1 } });
  const last = await agent.send(blocked, { notes: 'One.' });
  const [call = expect.fail()] = calls(last);
  expect(stepOf(await sendAgain(agent, call, 'One.'))).toBe('split');
  expect(tokenOf(last, 'ackToken')).not.toBe(call.arguments.ackToken);
});

type Suggested = { readonly arguments: { readonly ackToken: string; readonly context: { readonly size: string } } };

function calls(reply: Parameters<typeof told>[0]): readonly Suggested[] {
  return (warnings(reply) as unknown as readonly { readonly suggestedCall: Suggested }[]).map(
    (one) => one.suggestedCall,
  );
}

/** As the warning says: with the last output and the blanks filled in. */
function sendAgain(agent: Engine, call: Suggested, notes: string) {
  const { ackToken, context } = filledCall(call).arguments;
  return agent.send({ text: '', structured: { ackToken } }, { notes, context });
}

test.each([
  ['while', { var: 'open', equals: true }, '<fill: true, or another value>'],
  ['until', { not: { var: 'open', equals: true } }, '<fill: true, or another value>'],
])('a %s loop that never runs because its value is unset is reported', async (type, condition, blank) => {
  enforces('unset_skip_warned');
  const body = [{ id: 'round', title: 'Round', prompt: 'Go.' }];
  const loop = { type, maxIterations: 3, conditionSource: { kind: 'context_variable', condition } };
  const steps = [
    { id: 'rounds', title: 'Rounds', type: 'loop', loop, body },
    { id: 'end', title: 'End', prompt: 'End it.' },
  ];
  const file = { id: 'test.never', name: 'Never', description: 'Has a loop that may not run.', steps };
  const agent = engine({ listing: () => withFile(file) });
  const begun = await agent.start('test.never');
  expect(stepOf(begun)).toBe('end');
  expect(warnings(begun)).toMatchObject([
    {
      code: 'skipped_for_unset_value',
      message: expect.stringContaining(`"open":"${blank}"`),
      details: { steps: ['rounds'], keys: ['open'] },
    },
  ]);
  expect(warnings(await agent.start('test.never', { context: { open: false } }))).toEqual([]);
});
