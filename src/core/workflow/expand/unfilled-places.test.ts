import { expect, it } from 'vitest';
import { compiled, compileValue, found } from '../../../../test/compiler/compile-file.ts';
import { enforces } from '../../../../test/enforces.ts';

const step = { id: 'a', title: 'A', prompt: 'Do it.' };
const workflow = (rest: object, more: object = {}) =>
  compileValue({ id: 'test.places', name: 'N', description: 'D', steps: [{ ...step, ...rest }], ...more });

it.each<readonly [place: string, rest: object, more: object]>([
  ['/steps/0/guidance/1', { guidance: ['Look.', 'Mind {{ team.rules }}.'] }, {}],
  ['/steps/0/agentRole', { agentRole: 'You know {{stack}}.' }, {}],
  [
    '/steps/0/validationCriteria/0/message',
    { validationCriteria: [{ type: 'contains', value: 'x', message: '{{m}}' }] },
    {},
  ],
  [
    '/steps/0/userDependency/prompt',
    { userDependency: { reason: 'needs_user_secret_or_token', prompt: 'For {{env}}?' } },
    {},
  ],
  ['/metaGuidance/0', {}, { metaGuidance: ['Never touch {{legacy}}.'] }],
  ['/functionDefinitions/0/definition', {}, { functionDefinitions: [{ name: 'f', definition: 'Go to {{place}}.' }] }],
])('a value that is not put in where it stands is told: %s', (place, rest, more) => {
  enforces('unfilled_place_warned');
  const result = workflow(rest, more);
  expect(found(result).filter((one) => one.includes('place_not_filled'))).toEqual([
    `warning place_not_filled ${place}`,
  ]);
  expect(compiled(result).steps[0]?.stepId).toBe('a');
});

it('a placeholder that is filled in, or means itself, gives no warning', () => {
  enforces('unfilled_place_warned');
  const filled = {
    title: 'A {{b}}',
    prompt: 'Do {{c}}.',
    promptFragments: [{ id: 'f', text: 'And {{d}}.' }],
    validationCriteria: [{ type: 'contains', value: '{{e}}', message: 'Keep the braces { { } }.' }],
    guidance: ['{{wr.bindings.slot}}'],
  };
  const extensionPoints = [{ slotId: 'slot', purpose: 'For {{f}}.', default: 'x' }];
  expect(found(workflow(filled, { extensionPoints }))).toEqual([]);
});
