import { replaced } from '../json-leaves.ts';
import { added, inSteps, type Operator, operator } from './mistake.ts';

/** Texts that are too long or filled wrongly, and words of closed sets. */
export const TEXTS_AND_CHOICES: readonly Operator[] = [
  inSteps('leave a placeholder of the compiler', 'prompted', {
    code: 'placeholder_left',
    put: ({ prompt }) => ({ prompt: `${String(prompt).slice(0, 100)} {{wr.refs.memory_usage}}` }),
    at: ['prompt'],
  }),
  inSteps('fill a slot that is not there', 'prompted', {
    code: 'unknown_slot',
    put: () => ({ prompt: 'Use {{wr.bindings.zzz}}.' }),
    at: ['prompt'],
  }),
  inSteps('write a prompt that is too long', 'prompted', {
    code: 'text_too_long',
    put: () => ({ prompt: 'ü'.repeat(4097) }),
    at: ['prompt'],
  }),
  operator('write a name that is too long', (document) => [
    { code: 'text_too_long', path: ['name'], document: replaced(document, ['name'], 'x'.repeat(129)) },
  ]),
  operator('write an empty description', (document) => [
    { code: 'text_empty', path: ['description'], document: replaced(document, ['description'], '') },
  ]),
  inSteps('write an empty title', 'standard', { code: 'text_empty', put: () => ({ title: '' }), at: ['title'] }),
  inSteps('wait for a choice of no kind', 'standard', {
    code: 'choice_kind_missing',
    put: () => ({ userDependency: { reason: 'needs_user_choice', prompt: 'Which?' } }),
    at: ['userDependency'],
  }),
  inSteps('wait for a reason that is not there', 'standard', {
    code: 'wrong_value',
    hasFix: true,
    put: () => ({ userDependency: { reason: 'needs_user_aproval', prompt: 'May I?' } }),
    at: ['userDependency', 'reason'],
  }),
  inSteps('wait for a key with spaces', 'standard', {
    code: 'bad_id',
    hasFix: true,
    put: () => ({ userDependency: { reason: 'needs_user_artifact', contextKey: 'The Key', prompt: 'Which?' } }),
    at: ['userDependency', 'contextKey'],
  }),
  inSteps('misspell a gate', 'standard', {
    code: 'wrong_value',
    hasFix: true,
    put: () => ({ requireConfirmation: { kind: 'human_aproval' } }),
    at: ['requireConfirmation', 'kind'],
  }),
  operator('declare a capability that is not there', (document) => [
    {
      code: 'unknown_key',
      path: ['capabilities', 'telepathy'],
      document: replaced(document, ['capabilities'], { telepathy: 'required' }),
    },
  ]),
  operator('need a capability in a way that is not there', (document) => [
    {
      code: 'wrong_value',
      hasFix: true,
      path: ['capabilities', 'delegation'],
      document: replaced(document, ['capabilities'], { delegation: 'require' }),
    },
  ]),
  operator('recommend a mode that is not there', (document) => [
    {
      code: 'wrong_value',
      path: ['recommendedPreferences', 'recommendedAutonomy'],
      document: replaced(document, ['recommendedPreferences'], { recommendedAutonomy: 'yolo' }),
    },
  ]),
  added('delegate nothing', {
    list: 'steps',
    entry: { id: 'added', type: 'parallel', title: 'Added', parallelDelegations: [] },
    code: 'wrong_value',
    at: ['parallelDelegations'],
  }),
  operator('write a version that is none', (document) => [
    {
      code: 'wrong_value',
      isWarning: true,
      hasFix: true,
      path: ['version'],
      document: replaced(document, ['version'], 'v1.2'),
    },
  ]),
];
