import { replaced } from '../json-leaves.ts';
import {
  added,
  consequence,
  inSteps,
  type JsonObject,
  listOf,
  type Operator,
  operator,
  ref,
  triage,
  work,
} from './mistake.ts';

const summary = { name: 'summary', definition: 'Short.', parameters: ['of'] };

/** Names of things that are not there, or are used wrongly. */
export const REFERENCES: readonly Operator[] = [
  inSteps('refer to a condition that is not there', 'any', {
    code: 'unknown_condition',
    put: () => ({ runCondition: ref('zzz-nowhere') }),
    at: ['runCondition', 'conditionId'],
  }),
  operator('misspell the name of a condition', (document) =>
    listOf(document, 'conditions').flatMap((one) => {
      const id = String((one as JsonObject)['id']);
      const steps = [...listOf(document, 'steps'), work('added', { runCondition: ref(`${id}x`) })];
      const path = ['steps', String(steps.length - 1), 'runCondition', 'conditionId'];
      return [{ code: 'unknown_condition', hasFix: true, path, document: replaced(document, ['steps'], steps) }];
    }),
  ),
  inSteps('ask for a contract that is not there', 'standard', {
    code: 'unknown_contract',
    put: () => ({ output: undefined, outputContract: { contractRef: 'project.contracts.own' } }),
    at: ['outputContract', 'contractRef'],
  }),
  inSteps('misspell a contract', 'standard', {
    code: 'unknown_contract',
    hasFix: true,
    put: () => ({ output: undefined, outputContract: { contractRef: 'wr.contracts.finding' } }),
    at: ['outputContract', 'contractRef'],
  }),
  inSteps('write a schema in place of a contract', 'standard', {
    code: 'missing_field',
    put: () => ({ output: undefined, outputContract: { schema: { type: 'object' } } }),
    at: ['outputContract'],
  }),
  inSteps('refer to an assessment that is not there', 'standard', {
    code: 'unknown_assessment',
    put: () => ({ assessmentRefs: ['zzz-nowhere'], assessmentConsequences: [] }),
    at: ['assessmentRefs', '0'],
  }),
  operator('draw a consequence from a level that is not there', (document) =>
    listOf(document, 'assessments').map((one) => {
      const rest = {
        assessmentRefs: [(one as JsonObject)['id'] ?? null],
        assessmentConsequences: [consequence('zzz')],
      };
      const steps = [...listOf(document, 'steps'), work('added', rest)];
      const path = ['steps', String(steps.length - 1), 'assessmentConsequences', '0', 'when', 'anyEqualsLevel'];
      return { code: 'unknown_level', path, document: replaced(document, ['steps'], steps) };
    }),
  ),
  added('give a dimension a single level', {
    list: 'assessments',
    entry: { id: 'added', purpose: 'P.', dimensions: [{ id: 'd', purpose: 'P.', levels: ['only'] }] },
    code: 'wrong_value',
    at: ['dimensions', '0', 'levels'],
  }),
  inSteps('refer to a function that is not there', 'standard', {
    code: 'unknown_function',
    put: () => ({ functionReferences: ['zzzNowhere()'] }),
    at: ['functionReferences', '0'],
  }),
  added('call a template that is not there', {
    list: 'steps',
    entry: { id: 'added', templateCall: { templateId: 'nobody.templates.routine.zzz', args: {} } },
    code: 'unknown_template',
    at: ['templateCall', 'templateId'],
  }),
  added('misspell a template', {
    list: 'steps',
    entry: { id: 'added', type: 'template_call', templateId: 'project.templates.routine.traige', args: {} },
    code: 'unknown_template',
    hasFix: true,
    at: ['templateId'],
  }),
  added('leave out an argument of a template', {
    list: 'steps',
    entry: { id: 'added', templateCall: { templateId: triage, args: {} } },
    code: 'missing_argument',
    at: ['templateCall', 'args'],
  }),
  added('misspell an argument of a template', {
    list: 'steps',
    entry: { id: 'added', type: 'template_call', templateId: triage, args: { subjcet: 'x' } },
    code: 'unknown_argument',
    isWarning: true,
    hasFix: true,
    at: ['args', 'subjcet'],
  }),
  added('probe a capability that is not there', {
    list: 'steps',
    entry: {
      id: 'added',
      templateCall: { templateId: 'wr.templates.capability_probe', args: { capability: 'magic' } },
    },
    code: 'wrong_value',
    at: ['templateCall', 'args', 'capability'],
  }),
  added('switch on a feature that is not there', {
    list: 'features',
    entry: 'wr.features.zzz',
    code: 'unknown_feature',
    at: [],
  }),
  added('misspell a feature', {
    list: 'features',
    entry: { id: 'wr.features.memory_contxt' },
    code: 'unknown_feature',
    hasFix: true,
    at: ['id'],
  }),
  added('set a feature wrongly', {
    list: 'features',
    entry: { id: 'wr.features.subagent_guidance', config: { maxParallel: 0 } },
    code: 'wrong_value',
    at: ['config', 'maxParallel'],
  }),
  added('set a feature that has nothing to set', {
    list: 'features',
    entry: { id: 'wr.features.mode_guidance', config: { loud: true } },
    code: 'wrong_value',
    at: ['config'],
  }),
  inSteps('include a text that is not there', 'prompted', {
    code: 'unknown_ref',
    put: () => ({ prompt: undefined, promptBlocks: { goal: [{ kind: 'ref', refId: 'docs/style.md' }] } }),
    at: ['promptBlocks', 'goal', '0', 'refId'],
  }),
  inSteps('include a text where none may stand', 'prompted', {
    code: 'ref_misplaced',
    put: () => ({
      prompt: undefined,
      promptBlocks: { outputRequired: { a: [{ kind: 'ref', refId: 'wr.refs.memory_usage' }] } },
    }),
    at: ['promptBlocks', 'outputRequired', 'a', '0', 'refId'],
  }),
  added('misspell a function in a call', {
    list: 'steps',
    entry: work('added', { functionDefinitions: [summary], functionCalls: [{ name: 'sumary', args: { of: 'x' } }] }),
    code: 'unknown_function',
    hasFix: true,
    at: ['functionCalls', '0', 'name'],
  }),
  added('leave out an argument of a function', {
    list: 'steps',
    entry: work('added', { functionDefinitions: [summary], functionCalls: [{ name: 'summary' }] }),
    code: 'missing_argument',
    at: ['functionCalls', '0'],
  }),
  added('hand a function what it does not take', {
    list: 'steps',
    entry: work('added', { functionDefinitions: [summary], functionCalls: [{ name: 'summary', args: { off: 'x' } }] }),
    code: 'unknown_argument',
    hasFix: true,
    at: ['functionCalls', '0', 'args', 'off'],
  }),
  added('let a function reach a loop that is not there', {
    list: 'steps',
    entry: work('added', { functionDefinitions: [{ ...summary, scope: 'loop' }] }),
    code: 'wrong_scope',
    isWarning: true,
    hasFix: true,
    at: ['functionDefinitions', '0', 'scope'],
  }),
  added('put a text where only a routine is accepted', {
    list: 'extensionPoints',
    entry: { slotId: 'added', purpose: 'P.', default: `${triage}s`, acceptedKinds: ['routine'] },
    code: 'wrong_kind',
    hasFix: true,
    at: ['default'],
  }),
];
