import { describe, expect, test } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { blockedParts, given, partsAt } from '../../../../test/examples/replies.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { stepReply } from '../../prompt/reply/step-reply.ts';

const step = (id: string, prompt = 'Do it.', more: object = {}) => ({ id, title: `Step ${id}`, prompt, ...more });
const file = (...steps: readonly object[]) => ({ id: 'wr.keys', name: 'Keys', description: 'A workflow.', steps });
const isLarge = { var: 'size', equals: 'large' };

/** The context of the offered call after so many steps, where every step leaves these values. */
function offered(workflow: object, place: { readonly done?: number; readonly context?: JsonObject } = {}): unknown {
  const { nextCall } = given(stepReply(partsAt(workflow, place))).structured as {
    readonly nextCall: { readonly arguments: { readonly context?: unknown } };
  };
  return nextCall.arguments.context;
}

describe('context keys in the form of a step', () => {
  test('a step that names or lists a key is offered a blank with the values that conditions compare it with', () => {
    enforces('keys_to_set_in_form');
    const later = step('later', 'Do more.', { runCondition: { var: 'size', in: ['small', 'large'] } });
    const blank = { size: '<fill: small | large>' };
    expect(offered(file(step('a', 'Send context `size`.'), later))).toEqual(blank);
    expect(offered(file(step('a', 'Judge it.', { sets: ['size'] }), later))).toEqual(blank);
    expect(offered(file(step('a', 'Judge the size.'), later))).toBeUndefined();
    const known = { context: { size: 'small' } };
    expect(offered(file(step('a', 'Send context `size`.'), later), known)).toBeUndefined();
    expect(offered(file(step('a', 'Judge it.', { sets: ['size'] }), later), known)).toBeUndefined();
  });

  test('a corrected call asks for the keys of the step that have no value yet, and only for those', () => {
    const later = step('later', 'Do more.', { runCondition: { var: 'size', in: ['small', 'large'] } });
    const workflow = file(step('a', 'Judge it.', { sets: ['size', 'command'] }), later);
    const corrected = (context: JsonObject) => {
      const { nextCall } = given(stepReply(blockedParts(partsAt(workflow, { context })))).structured as {
        readonly nextCall: { readonly arguments: { readonly context?: unknown } };
      };
      return nextCall.arguments.context;
    };
    expect(corrected({})).toEqual({ size: '<fill: small | large>', command: '<fill: value of command>' });
    expect(corrected({ size: 'small' })).toEqual({ command: '<fill: value of command>' });
    expect(corrected({ size: 'small', command: 'npm test' })).toBeUndefined();
  });

  test('a key that a skipped step would have set is offered again, and one that was asked on every path is not', () => {
    const last = step('last', 'Do it.', { runCondition: isLarge });
    const sized = step('sized', 'Send context `size`.');
    const again = step('again', 'If not yet sent, send `size`.');
    expect(offered(file(sized, again, last), { done: 1 })).toBeUndefined();
    const maybe = { ...sized, runCondition: { var: 'kind', equals: 'new' } };
    expect(offered(file(maybe, again, last))).toEqual({ size: '<fill: large, or another value>' });
  });

  test('a routine that is started directly asks for its arguments in the first form, and for required ones until they have a value', () => {
    enforces('routine_arguments_in_first_form');
    const declared = [
      { name: 'plan', description: 'where the plan is' },
      { name: 'depth', description: 'how deep to look', required: false },
    ];
    const workflow = {
      ...file(step('a', 'Read {plan} to {depth}.'), step('b')),
      id: 'wr.routine-keys',
      arguments: declared,
    };
    const plan = '<fill: where the plan is>';
    expect(offered(workflow)).toEqual({ plan, depth: '<fill: how deep to look>' });
    expect(offered(workflow, { context: { plan: 'P.md' } })).toEqual({ depth: '<fill: how deep to look>' });
    expect(offered(workflow, { done: 1 })).toEqual({ plan });
    expect(offered(workflow, { done: 1, context: { plan: 'P.md' } })).toBeUndefined();
    const { text } = given(stepReply(partsAt(workflow, { context: { plan: 'P.md', depth: 2 } })));
    expect(text).toContain('Read "P.md" to 2.');
    const bare = given(stepReply(partsAt(workflow))).text;
    expect(bare).toContain('Read [unset: plan] to (not given).');
    expect(bare).toMatch(/values that are not in context: plan\./);
  });

  test('a key that several steps list is offered to each of them', () => {
    const last = step('last', 'Do it.', { runCondition: isLarge });
    const workflow = file(step('a', 'Judge it.', { sets: ['size'] }), step('b', 'Again.', { sets: ['size'] }), last);
    const context = { size: 'small' };
    expect(offered(workflow, { context, done: 1 })).toEqual({ size: '<fill: large, or another value>' });
  });

  test('in a later round of a loop the keys and lists of the round before are offered again', () => {
    const inner = {
      id: 'parts',
      type: 'loop',
      title: 'Parts',
      loop: { type: 'forEach', items: 'parts', maxIterations: 4, itemVar: 'part' },
      body: [step('build')],
    };
    const outer = {
      id: 'rounds',
      type: 'loop',
      title: 'Rounds',
      loop: { type: 'for', count: 2, maxIterations: 2 },
      body: [
        step('split', 'Send context `parts` and `size`.'),
        inner,
        step('large', 'Do it.', { runCondition: isLarge }),
      ],
    };
    const context = { parts: ['a'], size: 'small' };
    const workflow = file(outer);
    expect(offered(workflow, { context })).toBeUndefined();
    expect(offered(workflow, { context, done: 2 })).toEqual({
      parts: ['<fill: one part per entry>'],
      size: '<fill: large, or another value>',
    });
  });

  test('the key that ends a loop is offered in every round, also where it has a value', () => {
    const loop = {
      id: 'rounds',
      type: 'loop',
      title: 'Rounds',
      loop: { type: 'while', condition: { var: 'open', equals: true }, maxIterations: 5 },
      body: [step('work', 'Do it. Send `open` as false when nothing is left.')],
    };
    const workflow = file(step('count', 'Send context `open`.'), loop);
    const blank = { open: '<fill: true | false>' };
    expect(offered(workflow)).toEqual(blank);
    for (const done of [1, 2, 3]) expect(offered(workflow, { context: { open: true }, done })).toEqual(blank);
  });
});
