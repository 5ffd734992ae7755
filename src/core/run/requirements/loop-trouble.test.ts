import { describe, expect, it } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { attemptAt } from '../../../../test/examples/step-attempt.ts';
import type { LoopId } from '../../log/ids.ts';
import { loopControl } from '../../workflow/builtins/run-contracts.ts';
import type { LoopTrouble } from '../walk/walk.ts';
import { troubleUnmet } from './loop-trouble.ts';

const body = [{ id: 'work', title: 'W', prompt: 'P' }];
const loop = (id: string, rest: object) => ({
  id,
  type: 'loop',
  title: id,
  loop: { maxIterations: 3, ...rest },
  body: [{ ...body[0], id: `${id}-work` }],
});
const conditionSource = { kind: 'artifact_contract', contractRef: 'wr.contracts.loop_control' };
const place = attemptAt({
  steps: [
    body[0],
    loop('decided', { type: 'while', conditionSource }),
    loop('each', { type: 'forEach', items: 'files' }),
    loop('count', { type: 'for', count: 'times' }),
    loop('waiting', { type: 'until', condition: { var: 'ready', equals: true } }),
    loop('rounds', { type: 'while', condition: { var: 'currentIteration', lt: 9 } }),
    {
      ...loop('groups', { type: 'forEach', items: 'groups', itemVar: 'group' }),
      body: [loop('members', { type: 'forEach', items: 'group.all.members' })],
    },
  ],
});
const unmetBy = (trouble: LoopTrouble) => troubleUnmet(trouble, place);
const at = { kind: 'workflow_step', stepId: 'work' };
const leave = 'If the loop should end and you cannot end it this way, stop and ask the user.';
const id = (text: string) => text as LoopId;

describe('a loop at its limit', () => {
  const limit = (loopId: string, isByArtifact: boolean) =>
    unmetBy({ kind: 'limit_reached', loopId: id(loopId), iteration: 2, maxIterations: 3, isByArtifact });
  const unmet = (loopId: string, how = 'and its condition does not end it') => ({
    reason: 'unexpected:invariant_violation',
    pointer: at,
    message: `Loop "${loopId}" reached its limit of 3 rounds ${how}.`,
    details: { loopId, iteration: 2, maxIterations: 3 },
    requirement: `loop_limit:${loopId}`,
  });

  it('a loop at its limit that a decision continued can be left by another decision', () => {
    enforces('loop_limit_behaviour');
    const summary = '<fill: what is done, and what is open>';
    const { kind } = loopControl.example;
    expect(limit('decided', true)).toEqual({
      ...unmet('decided', 'without a decision to stop'),
      suggestedFix: `End the loop and say what is still open: send this step again with the artifact in the next call. ${leave}`,
      form: { artifacts: [{ kind, loopId: 'decided', decision: 'stop', summary }] },
    });
  });

  it('a loop at its limit that its condition continues can be left by context values', () => {
    enforces('loop_limit_behaviour');
    expect(limit('waiting', false)).toEqual({
      ...unmet('waiting'),
      suggestedFix: `If this is true, send this step again with context {"ready":true}, which ends the loop. ${leave}`,
      form: { context: { ready: '<fill: true, or another value>' } },
    });
  });

  it('a loop at its limit that no context can end is left to the author and the user', () => {
    expect(limit('rounds', false)).toEqual({
      ...unmet('rounds'),
      suggestedFix: `Send this step again with context values that end the loop. ${leave}`,
    });
  });
});

it('a loop that iterates with nothing to do is explained as such', () => {
  expect(unmetBy({ kind: 'nothing_due', loopId: id('each'), iteration: 7, passed: 400 })).toEqual({
    reason: 'unexpected:invariant_violation',
    pointer: at,
    message: 'Loop "each" ran 8 rounds with nothing to do (400 steps skipped).',
    suggestedFix: `Send this step again with context values that make a step of the loop due or end the loop. ${leave}`,
    details: { loopId: 'each', iteration: 7, passed: 400 },
    requirement: 'loop_idle:each',
  });
});

describe('a loop that cannot start', () => {
  const key = (name: string) => ({ kind: 'context_key', key: name });
  const send = (advice: string) =>
    `${advice}: send this step again with the \`context\` in the next call, filled in. ${leave}`;
  const files = ['<fill: one currentItem per entry>'];

  it('a loop with too many items asks for a shorter list in context', () => {
    enforces('loop_for_excess_at_run_time', 'loop_limit_behaviour');
    const many = (loopId: string, variable: string) =>
      unmetBy({ kind: 'too_many_items', loopId: id(loopId), variable, found: 12, maxIterations: 3 });
    const unmet = (loopId: string, variable: string) => ({
      reason: 'unexpected:invariant_violation',
      pointer: key(variable),
      message: `${loopId === 'each' ? 'The list "files" has 12 items' : '"times" is 12'}, but loop "${loopId}" takes at most 3 (its maxIterations). The loop has not started.`,
      details: { loopId, iteration: 0, maxIterations: 3, variable, found: 12 },
      requirement: `loop_items:${loopId}`,
    });
    expect(many('each', 'files')).toEqual({
      ...unmet('each', 'files'),
      suggestedFix: send('Shorten the list to 3 items, the most important first'),
      form: { context: { files } },
    });
    expect(many('count', 'times')).toEqual({
      ...unmet('count', 'times'),
      suggestedFix: send('Lower it to 3'),
      form: { context: { times: '<fill: whole number, 0 to 3>' } },
    });
  });

  it('a loop with items that are too large asks for smaller ones', () => {
    expect(
      unmetBy({ kind: 'items_too_large', loopId: id('each'), variable: 'files', bytes: 70_000, bytesMax: 65_536 }),
    ).toEqual({
      reason: 'contract_violation:invalid_required_output',
      pointer: key('files'),
      message:
        'Loop "each" iterates over the list "files", which has 70000 bytes as canonical JSON; the limit is 65536.',
      details: { loopId: 'each', variable: 'files', bytes: 70_000, bytesMax: 65_536 },
      suggestedFix: send('Shorten the list to at most 65536 bytes; name things instead of copying them'),
      requirement: 'loop_items:each',
      form: { context: { files } },
    });
  });

  it.each([
    { loopId: 'each', variable: 'files', wanted: 'list', found: 'nothing', how: 'missing' },
    { loopId: 'each', variable: 'files', wanted: 'list', found: 'a text', how: 'invalid' },
    { loopId: 'count', variable: 'times', wanted: 'count', found: 'nothing', how: 'missing' },
  ] as const)(
    'a loop that needs a $wanted and finds $found asks for one in context',
    ({ loopId, variable, wanted, found, how }) => {
      const [what, value] =
        wanted === 'list' ? ['a list', files] : ['a whole number (0 or more)', '<fill: whole number, 0 or more>'];
      expect(unmetBy({ kind: 'not_iterable', loopId: id(loopId), variable, wanted, found })).toEqual({
        reason: `contract_violation:${how}_required_output`,
        pointer: key(variable),
        message: `Loop "${loopId}" needs ${what} in context key "${variable}", but found ${found}.`,
        details: { loopId, variable, wanted, found },
        suggestedFix: send(`Set it to ${what}`),
        requirement: `loop_items:${loopId}`,
        form: { context: { [variable]: value } },
      });
    },
  );

  it.each(['Files', 'plan.files', 'häuser'])(
    'a loop over a key that is not valid in a pointer names the key in its message: %s',
    (variable) => {
      enforces('unsafe_context_key_points_at_step');
      const { pointer, message, form } = unmetBy({
        kind: 'not_iterable',
        loopId: id('each'),
        variable,
        wanted: 'list',
        found: 'nothing',
      });
      expect(pointer).toEqual(at);
      expect(message).toBe(`Loop "each" needs a list in context key "${variable}", but found nothing.`);
      expect(form).toEqual({ context: { [variable]: files } });
    },
  );

  it('the form for a loop with loops inside it has items with lists for them', () => {
    const variable = 'groups';
    const trouble = { kind: 'not_iterable', loopId: id('groups'), variable, wanted: 'list', found: 'nothing' } as const;
    expect(unmetBy(trouble).form).toEqual({ context: { groups: [{ all: { members: files } }] } });
  });

  it('the form for a list has items with the fields that the body of the loop uses', () => {
    const step = (rest: object) => ({ ...body[0], ...rest });
    const inner = (rest: object) => loop('inner', { type: 'forEach', items: 'file.parts', itemVar: 'part', ...rest });
    const used = attemptAt({
      conditions: [{ id: 'is-new', kind: 'context', var: 'file.meta.isNew', equals: true }],
      steps: [
        body[0],
        {
          ...loop('each', { type: 'forEach', items: 'files', itemVar: 'file' }),
          body: [
            step({
              id: 'a',
              title: 'Read {{file.path}}',
              prompt: 'Open {{ file.path }}, {{file.meta.size}}, {{other.x}}.',
            }),
            step({
              id: 'b',
              runCondition: {
                and: [
                  { var: 'file.kind', equals: 'x' },
                  { kind: 'condition_ref', conditionId: 'is-new' },
                ],
              },
            }),
            { ...inner({}), body: [step({ id: 'c', prompt: 'Read {{part.name}} of {{file.owner}}.' })] },
          ],
        },
      ],
    });
    const { form } = troubleUnmet(
      { kind: 'not_iterable', loopId: id('each'), variable: 'files', wanted: 'list', found: 'nothing' },
      used,
    );
    const value = (name: string) => `<fill: value of ${name}>`;
    expect(form).toEqual({
      context: {
        files: [
          {
            path: value('path'),
            meta: { size: value('meta.size'), isNew: value('meta.isNew') },
            kind: value('kind'),
            owner: value('owner'),
            parts: [{ name: value('name') }],
          },
        ],
      },
    });
  });

  const variable = 'group.all.members';
  const trouble = { kind: 'not_iterable', loopId: id('members'), variable, wanted: 'list', found: 'a text' } as const;
  const unmet = {
    reason: 'contract_violation:invalid_required_output',
    pointer: at,
    message: 'Loop "members" needs a list in context key "group.all.members", but found a text.',
    details: { loopId: 'members', variable, wanted: 'list', found: 'a text' },
    requirement: 'loop_items:members',
  };

  it('a loop over an item of an open outer loop has to be corrected before that loop', () => {
    expect(troubleUnmet(trouble, { ...place, openLoops: [{ loopId: 'groups' }] })).toEqual({
      ...unmet,
      suggestedFix: `Set it to a list. The value comes from an outer loop, which read it when it started. Go back to the step before that loop and correct it there. ${leave}`,
      earlierStep: { kind: 'before_loop', loopId: 'groups' },
    });
  });

  it('a loop over an item of an outer loop that is being entered is corrected in the list of that loop', () => {
    expect(unmetBy(trouble)).toEqual({
      ...unmet,
      suggestedFix: send('Set it to a list'),
      form: { context: { groups: [{ all: { members: files } }] } },
    });
  });
});
