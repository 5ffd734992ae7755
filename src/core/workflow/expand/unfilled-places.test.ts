import { expect, it } from 'vitest';
import { compiled, compileValue, found } from '../../../../test/compiler/compile-file.ts';
import { enforces } from '../../../../test/enforces.ts';

const step = { id: 'a', title: 'A', prompt: 'Do it.' };
const workflow = (rest: object, more: object = {}) =>
  compileValue({ id: 'test.places', name: 'N', description: 'D', steps: [{ ...step, ...rest }], ...more });

it.each<readonly [place: string, rest: object, more: object]>([
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
])('a value that is not put in where it stands is warned about: %s', (place, rest, more) => {
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
    guidance: ['{{wr.bindings.slot}}', 'Mind {{ team.rules }}.'],
    agentRole: 'You know {{stack}}.',
    functionDefinitions: [{ name: 'f', definition: 'Go to {{place}}.' }],
  };
  const extensionPoints = [{ slotId: 'slot', purpose: 'For {{f}}.', default: 'x' }];
  expect(found(workflow(filled, { extensionPoints, metaGuidance: ['Never touch {{legacy}}.'] }))).toEqual([]);
});

it.each([
  ['{{ size | upper }}', 'Write {{size}}.'],
  ['{{i + 1}}', 'Write {{i}}.'],
  ['{{}}', 'Write {{name}}.'],
  ['{{ list[0].name }}', 'Write {{list}}.'],
  ['{{#if big}}', 'put the text into "promptFragments" with a "when", or use a loop.'],
  ['{{/each}}', 'put the text into "promptFragments" with a "when", or use a loop.'],
])('%s in a text that the agent reads is refused, and the message shows the supported form', (place, advice) => {
  enforces('unsupported_place_is_error');
  const texts = [{ prompt: `Do ${place}.` }, { guidance: [`Mind ${place}.`] }, { title: `The ${place}` }];
  for (const rest of texts) {
    const { kind, diagnostics } = workflow(rest);
    expect(kind).toBe('refused');
    expect(diagnostics.map(({ code }) => code)).toEqual(['place_unsupported']);
    expect(diagnostics[0]?.message).toContain(`The agent would see ${place} as written.`);
    expect(diagnostics[0]?.message).toContain(advice);
  }
});

it.each([
  ['Describe {{change}.', 'Write {{change}}.'],
  ['Describe {{ change in one line.', 'Write {{change}}.'],
  ['Describe {{change', 'Write {{change}}.'],
  ['Describe {team.lead}}, then stop.', 'Write {{team.lead}}.'],
  ['First {{a}} and {"b": 1}\\nthen {{c}.', 'Write {{c}}.'],
])('a missing brace in %s is refused, and the message shows the whole form', (prompt, advice) => {
  enforces('unsupported_place_is_error');
  const { kind, diagnostics } = workflow({ prompt: prompt.replace('\\n', '\n') });
  expect([kind, diagnostics.map(({ code }) => code)]).toEqual(['refused', ['place_unsupported']]);
  expect(diagnostics[0]?.message).toContain(advice);
});

it('the default of an extension point is read by the agent like a prompt', () => {
  enforces('unsupported_place_is_error');
  const point = (value: string) => ({ extensionPoints: [{ slotId: 's', purpose: 'P', default: value }] });
  expect(found(workflow({}, point('In {{ tone | upper }}.')))).toEqual([
    'warning place_unsupported /extensionPoints/0/default',
  ]);
  expect(found(workflow({}, point('In {{tone}}.')))).toEqual([]);
});

it('braces of build services, of command line tools and of JSON mean themselves', () => {
  enforces('unsupported_place_is_error');
  const prompt = `Run \`docker ps --format "{{.Names}}"\`; read $${'{{ a == b }}'}; send {"a":{"b":{}}}, set {{1}, {2}}; {"x": {depth}}; if (a) {\n  b }}.`;
  const checks = [{ id: 'up', run: 'docker ps --format "{{ json . }}"', minimum: 'asserted' }];
  expect(found(workflow({ prompt, checks }))).toEqual([]);
});
