import type { SourceNode, SourceObject } from '../source/source-node.ts';
import { KEYS } from './keys.ts';
import { TEXT_LIMITS } from './limits.ts';
import { readCondition } from './read-condition.ts';
import { readOutput } from './read-output.ts';
import type { StepHead } from './read-step.ts';
import { readTextMap } from './read-template-call.ts';
import {
  asObject,
  checkKeys,
  field,
  type Reader,
  readList,
  readText,
  readTexts,
  reportError,
  reportMissing,
} from './reader.ts';
import type { ParallelStep } from './syntax.ts';

export function readParallel(reader: Reader, object: SourceObject, head: StepHead): ParallelStep | undefined {
  const delegations = readList(reader, object, 'parallelDelegations').flatMap(
    (node) => readDelegation(reader, node) ?? [],
  );
  const synthesis = readSynthesis(reader, field(object, 'synthesis'));
  const agentRole = readText(reader, object, { name: 'agentRole', bytesMax: TEXT_LIMITS.agentRole });
  const list = field(object, 'parallelDelegations');
  if (list === undefined) return reportMissing(reader, object, 'parallelDelegations');
  if (list.kind === 'array' && list.items.length === 0) {
    return reportError(reader, list, {
      code: 'wrong_value',
      message: 'A parallel step needs at least one delegation.',
    });
  }
  return {
    ...head,
    kind: 'parallel',
    delegations,
    ...(agentRole === undefined ? {} : { agentRole }),
    ...(synthesis === undefined ? {} : { synthesis }),
  };
}

function readDelegation(reader: Reader, node: SourceNode): ParallelStep['delegations'][number] | undefined {
  const object = asObject(reader, node, 'A delegation');
  if (object === undefined) return undefined;
  checkKeys(reader, object, { keys: KEYS.delegation });
  const workflowId = readText(reader, object, { name: 'workflowId', bytesMax: TEXT_LIMITS.id, isRequired: true });
  const goal = readText(reader, object, { name: 'goal', bytesMax: TEXT_LIMITS.goal });
  const conditionNode = field(object, 'runCondition');
  const runCondition = conditionNode && readCondition(reader, conditionNode);
  const modelTier = readText(reader, object, { name: 'modelTier', bytesMax: TEXT_LIMITS.tag });
  if (workflowId === undefined) return undefined;
  return {
    at: object.pointer,
    workflowId,
    contextMapping: readTextMap(reader, field(object, 'contextMapping'), '"contextMapping"'),
    args: readTextMap(reader, field(object, 'args'), '"args"'),
    allowedTools: readTexts(reader, object, { name: 'allowedTools', bytesMax: TEXT_LIMITS.id }),
    ...(goal === undefined ? {} : { goal }),
    ...(runCondition === undefined ? {} : { runCondition }),
    ...(modelTier === undefined ? {} : { modelTier }),
  };
}

function readSynthesis(reader: Reader, node: SourceNode | undefined): ParallelStep['synthesis'] {
  const object = node && asObject(reader, node, '"synthesis"');
  if (object === undefined) return undefined;
  checkKeys(reader, object, { keys: KEYS.synthesis });
  const prompt = readText(reader, object, { name: 'prompt', bytesMax: TEXT_LIMITS.prompt });
  const { output } = readOutput(reader, object);
  return { ...(prompt === undefined ? {} : { prompt }), ...(output === undefined ? {} : { output }) };
}
