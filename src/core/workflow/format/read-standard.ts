import { NON_ASSUMABLE_CHOICES, USER_ONLY_REASONS } from '../../log/reasons.ts';
import type { SourceNode, SourceObject } from '../source/source-node.ts';
import { KEYS } from './keys.ts';
import { TEXT_LIMITS } from './limits.ts';
import { readCondition } from './read-condition.ts';
import { readCriteria } from './read-criteria.ts';
import { readFunctionCalls, readFunctionReferences, readFunctions } from './read-functions.ts';
import { readContextKey, readName } from './read-names.ts';
import { readOutput } from './read-output.ts';
import { readPromptBlocks } from './read-prompt-blocks.ts';
import type { StepHead } from './read-step.ts';
import {
  asObject,
  checkKeys,
  checkUnique,
  field,
  type Reader,
  readChoice,
  readList,
  readText,
  readTexts,
  reportError,
  reportMissing,
  textOf,
} from './reader.ts';
import type { StandardStep } from './syntax.ts';

export function readStandard(reader: Reader, object: SourceObject, head: StepHead): StandardStep {
  const prompt = readPrompt(reader, object);
  const agentRole = readText(reader, object, { name: 'agentRole', bytesMax: TEXT_LIMITS.agentRole });
  const { output, hints } = readOutput(reader, object);
  const criteriaNode = field(object, 'validationCriteria');
  const criteria = criteriaNode && readCriteria(reader, criteriaNode);
  const userDependency = readUserDependency(reader, field(object, 'userDependency'));
  const verification = readVerification(reader, field(object, 'verification'));
  const audit = readAudit(reader, field(object, 'audit'));
  const rest = {
    guidance: [...readTexts(reader, object, { name: 'guidance', bytesMax: TEXT_LIMITS.guidance }), ...hints],
    fragments: readFragments(reader, object),
    assessmentRefs: readList(reader, object, 'assessmentRefs').flatMap((node) => readAssessmentRef(reader, node) ?? []),
    consequences: readList(reader, object, 'assessmentConsequences').flatMap(
      (node) => readConsequence(reader, node) ?? [],
    ),
    functions: readFunctions(reader, object, 'step'),
    functionReferences: readFunctionReferences(reader, object),
    functionCalls: readFunctionCalls(reader, object),
  };
  return {
    ...head,
    ...rest,
    kind: 'standard',
    // Without a prompt the file is refused; the step stays, so that what refers to it does not look wrong as well.
    prompt: prompt ?? { kind: 'text', text: '' },
    ...(agentRole === undefined ? {} : { agentRole }),
    ...(output === undefined ? {} : { output }),
    ...(criteria === undefined ? {} : { criteria }),
    ...(userDependency === undefined ? {} : { userDependency }),
    ...(verification === undefined ? {} : { verification }),
    ...(audit === undefined ? {} : { audit }),
  };
}

function readPrompt(reader: Reader, object: SourceObject): StandardStep['prompt'] | undefined {
  const blocksNode = field(object, 'promptBlocks');
  const hasPrompt = object.fields.has('prompt');
  if (hasPrompt && blocksNode !== undefined) {
    const message = 'A step has either "prompt" or "promptBlocks". Remove one of them.';
    return reportError(reader, blocksNode, { code: 'prompt_twice', message });
  }
  if (blocksNode !== undefined) {
    const blocks = readPromptBlocks(reader, blocksNode);
    return blocks && { kind: 'blocks', ...blocks };
  }
  if (!hasPrompt) {
    const message = 'A step needs a "prompt" or "promptBlocks" that say what to do.';
    return reportError(reader, object, { code: 'prompt_missing', message });
  }
  const text = readText(reader, object, { name: 'prompt', bytesMax: TEXT_LIMITS.prompt });
  return text === undefined ? undefined : { kind: 'text', text };
}

function readFragments(reader: Reader, object: SourceObject): StandardStep['fragments'] {
  const found = readList(reader, object, 'promptFragments').flatMap((node) => readFragment(reader, node) ?? []);
  checkUnique(found, { what: 'fragment', name: 'id' }, reader.findings);
  return found;
}

function readFragment(reader: Reader, node: SourceNode): StandardStep['fragments'][number] | undefined {
  const object = asObject(reader, node, 'A prompt fragment');
  if (object === undefined) return undefined;
  checkKeys(reader, object, { keys: KEYS.fragment });
  const id = readName(reader, object, { name: 'id', role: 'local' });
  const text = readText(reader, object, { name: 'text', bytesMax: TEXT_LIMITS.fragment, isRequired: true });
  const whenNode = field(object, 'when');
  const when = whenNode === undefined ? ({ kind: 'always' } as const) : readCondition(reader, whenNode);
  if (id === undefined || text === undefined || when === undefined) return undefined;
  return { at: object.pointer, id, when, text };
}

function readAssessmentRef(reader: Reader, node: SourceNode): StandardStep['assessmentRefs'][number] | undefined {
  const id = textOf(reader, node, { what: 'An assessment reference', bytesMax: TEXT_LIMITS.id });
  return id === undefined ? undefined : { at: node.pointer, id };
}

function readConsequence(reader: Reader, node: SourceNode): StandardStep['consequences'][number] | undefined {
  const object = asObject(reader, node, 'A consequence');
  const when = object && objectAt(reader, object, 'when');
  const effect = object && objectAt(reader, object, 'effect');
  if (object === undefined || when === undefined || effect === undefined) return undefined;
  checkKeys(reader, object, { keys: KEYS.consequence, isClosed: true });
  checkKeys(reader, when, { keys: KEYS.consequenceWhen, isClosed: true });
  checkKeys(reader, effect, { keys: KEYS.consequenceEffect, isClosed: true });
  if (effect.fields.has('kind')) readChoice(reader, effect, { name: 'kind', choices: ['require_followup'] });
  else reportMissing(reader, effect, 'kind');
  const anyEqualsLevel = readText(reader, when, { name: 'anyEqualsLevel', bytesMax: TEXT_LIMITS.id, isRequired: true });
  const forAssessment = readText(reader, when, { name: 'forAssessment', bytesMax: TEXT_LIMITS.id });
  const guidance = readText(reader, effect, { name: 'guidance', bytesMax: TEXT_LIMITS.consequence, isRequired: true });
  if (anyEqualsLevel === undefined || guidance === undefined) return undefined;
  return { at: object.pointer, anyEqualsLevel, guidance, ...(forAssessment === undefined ? {} : { forAssessment }) };
}

function objectAt(reader: Reader, object: SourceObject, name: string): SourceObject | undefined {
  const node = field(object, name);
  return node === undefined ? reportMissing(reader, object, name) : asObject(reader, node, `"${name}"`);
}

function readUserDependency(reader: Reader, node: SourceNode | undefined): StandardStep['userDependency'] {
  const object = node && asObject(reader, node, '"userDependency"');
  if (object === undefined) return undefined;
  checkKeys(reader, object, { keys: KEYS.userDependency, isClosed: true });
  const reason = object.fields.has('reason')
    ? readChoice(reader, object, { name: 'reason', choices: USER_ONLY_REASONS })
    : reportMissing(reader, object, 'reason');
  const choiceKind = readChoice(reader, object, { name: 'choiceKind', choices: NON_ASSUMABLE_CHOICES });
  const contextKey = readContextKey(reader, object);
  const prompt = readText(reader, object, { name: 'prompt', bytesMax: TEXT_LIMITS.question, isRequired: true });
  if (reason === 'needs_user_choice' && !object.fields.has('choiceKind')) {
    const message = `Only a choice an agent may not assume can wait for the user. Add "choiceKind": one of ${NON_ASSUMABLE_CHOICES.join(', ')}.`;
    return reportError(reader, object, { code: 'choice_kind_missing', message });
  }
  if (reason === undefined || prompt === undefined) return undefined;
  return {
    reason,
    prompt,
    ...(choiceKind === undefined ? {} : { choiceKind }),
    ...(contextKey === undefined ? {} : { contextKey }),
  };
}

function readVerification(reader: Reader, node: SourceNode | undefined): StandardStep['verification'] {
  const object = node && asObject(reader, node, '"verification"');
  if (object === undefined) return undefined;
  checkKeys(reader, object, { keys: KEYS.verification });
  const command = readText(reader, object, { name: 'command', bytesMax: TEXT_LIMITS.command });
  const prompt = readText(reader, object, { name: 'prompt', bytesMax: TEXT_LIMITS.prompt });
  return { ...(command === undefined ? {} : { command }), ...(prompt === undefined ? {} : { prompt }) };
}

function readAudit(reader: Reader, node: SourceNode | undefined): StandardStep['audit'] {
  const object = node && asObject(reader, node, '"audit"');
  if (object === undefined) return undefined;
  checkKeys(reader, object, { keys: KEYS.audit });
  const prompt = readText(reader, object, { name: 'prompt', bytesMax: TEXT_LIMITS.prompt });
  const rubric = readTexts(reader, object, { name: 'rubric', bytesMax: TEXT_LIMITS.guidance });
  return { rubric, ...(prompt === undefined ? {} : { prompt }) };
}
