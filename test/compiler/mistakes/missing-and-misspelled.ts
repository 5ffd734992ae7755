import { replaced } from '../json-leaves.ts';
import {
  inSteps,
  isMisspellable,
  type JsonObject,
  misspelled,
  type Operator,
  operator,
  renamedKey,
  stepsOf,
} from './mistake.ts';

/** A step whose key of these is misspelled must not run unguarded. */
const GATES: readonly string[] = [
  'runCondition',
  'requireConfirmation',
  'userDependency',
  'outputContract',
  'validationCriteria',
  'assessmentRefs',
  'checks',
  'assurance',
  'sets',
  'accountsFor',
  'collects',
  'loop',
];

/** What was left out, misspelled, or written as another kind of value. */
export const MISSING_AND_MISSPELLED: readonly Operator[] = [
  operator('leave out a field that every workflow needs', (document) =>
    ['id', 'name', 'description', 'steps'].map((name) => ({
      code: 'missing_field',
      path: [],
      document: replaced(document, [name], undefined),
    })),
  ),
  inSteps('leave out the id of a step', 'standard', { code: 'missing_field', put: () => ({ id: undefined }), at: [] }),
  inSteps('leave out the title of a step', 'standard', {
    code: 'missing_field',
    put: () => ({ title: undefined }),
    at: [],
  }),
  inSteps('leave out the prompt', 'prompted', { code: 'prompt_missing', put: () => ({ prompt: undefined }), at: [] }),
  inSteps('leave out the body of a loop', 'loop', { code: 'missing_field', put: () => ({ body: undefined }), at: [] }),
  inSteps('write both prompt and promptBlocks', 'prompted', {
    code: 'prompt_twice',
    put: () => ({ promptBlocks: { goal: 'Twice.' } }),
    at: ['promptBlocks'],
  }),
  inSteps('write prompt blocks without a block', 'prompted', {
    code: 'prompt_missing',
    put: () => ({ prompt: undefined, promptBlocks: {} }),
    at: ['promptBlocks'],
  }),
  operator('misspell a key of the top level', (document) =>
    Object.keys(document as JsonObject)
      .filter(isMisspellable)
      .map((key) => ({
        code: 'unknown_key',
        isWarning: true,
        hasFix: true,
        path: [misspelled(key)],
        document: renamedKey(document as JsonObject, key, misspelled(key)),
      })),
  ),
  operator('misspell a key of a step', (document) =>
    stepsOf(document, 'standard').flatMap(({ path, value }) =>
      Object.keys(value as JsonObject)
        .filter((key) => isMisspellable(key) && !['prompt', 'promptBlocks', 'title'].includes(key))
        .map((key) => ({
          code: 'unknown_key',
          isWarning: !GATES.includes(key),
          hasFix: true,
          path: [...path, misspelled(key)],
          document: replaced(document, path, renamedKey(value as JsonObject, key, misspelled(key))),
        })),
    ),
  ),
  inSteps('add a key that does not exist', 'any', {
    code: 'unknown_key',
    isWarning: true,
    put: () => ({ zzz_unheard_of: 1 }),
    at: ['zzz_unheard_of'],
  }),
  inSteps('give the title as a number', 'standard', { code: 'wrong_type', put: () => ({ title: 7 }), at: ['title'] }),
  inSteps('give the prompt as null', 'prompted', { code: 'wrong_type', put: () => ({ prompt: null }), at: ['prompt'] }),
  inSteps('give guidance as one text', 'standard', {
    code: 'wrong_type',
    put: () => ({ guidance: 'One.' }),
    at: ['guidance'],
  }),
  inSteps('give a condition as a text', 'any', {
    code: 'wrong_type',
    put: () => ({ runCondition: 'x > 1' }),
    at: ['runCondition'],
  }),
  operator('give the list of steps as an object', (document) => [
    { code: 'wrong_type', path: ['steps'], document: replaced(document, ['steps'], { a: 1 }) },
  ]),
  operator('write no steps', (document) => [
    { code: 'wrong_value', path: ['steps'], document: replaced(document, ['steps'], []) },
  ]),
  inSteps('misspell the type of a step', 'loop', {
    code: 'wrong_value',
    hasFix: true,
    put: () => ({ type: 'lop' }),
    at: ['type'],
  }),
];
