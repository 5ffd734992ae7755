import type { Criteria, CriteriaRule } from '../compiled/criteria.ts';
import type { SourceArray, SourceNode, SourceObject } from '../source/source-node.ts';
import { KEYS } from './keys.ts';
import { TEXT_LIMITS } from './limits.ts';
import { readCondition } from './read-condition.ts';
import {
  asObject,
  checkKeys,
  field,
  type Reader,
  readChoice,
  readText,
  reportError,
  reportMissing,
  reportWarning,
  wrongType,
} from './reader.ts';

/** `g` and `u` are accepted and mean nothing: a check looks once, and always at whole characters. */
const FLAGS = /^[gimsu]*$/;
const MEANINGFUL_FLAGS = 'ims';

/** What the notes of a step must show: a list of rules, of which all count, or a combination. No rules are none. */
export function readCriteria(reader: Reader, node: SourceNode): Criteria | undefined {
  return node.kind === 'array' && node.items.length === 0 ? undefined : readPart(reader, node);
}

function readPart(reader: Reader, node: SourceNode): Criteria | undefined {
  if (node.kind === 'array') return combined(reader, 'and', node);
  const object = asObject(reader, node, '"validationCriteria"');
  if (object === undefined) return undefined;
  for (const kind of ['and', 'or'] as const) {
    const list = field(object, kind);
    if (list === undefined) continue;
    checkKeys(reader, object, { keys: [kind], isClosed: true });
    if (list.kind !== 'array') return reportError(reader, list, wrongType(`"${kind}"`, 'a list', list));
    return combined(reader, kind, list);
  }
  const negated = field(object, 'not');
  if (negated === undefined) return readRule(reader, object);
  checkKeys(reader, object, { keys: ['not'], isClosed: true });
  const criteria = readPart(reader, negated);
  return criteria && { kind: 'not', criteria };
}

function combined(reader: Reader, kind: 'and' | 'or', list: SourceArray): Criteria | undefined {
  if (list.items.length === 0) {
    return reportError(reader, list, { code: 'wrong_value', message: 'Write at least one rule here.' });
  }
  const criteria = list.items.map((item) => readPart(reader, item));
  const known = criteria.filter((one) => one !== undefined);
  if (known.length < criteria.length) return undefined;
  return known.length === 1 ? known[0] : { kind, criteria: known };
}

function readRule(reader: Reader, object: SourceObject): CriteriaRule | undefined {
  const kinds = ['contains', 'regex', 'length', 'schema'] as const;
  if (!object.fields.has('type')) return reportMissing(reader, object, 'type');
  const kind = readChoice(reader, object, { name: 'type', choices: kinds });
  const message = readText(reader, object, {
    name: 'message',
    bytesMax: TEXT_LIMITS.criteriaMessage,
    isRequired: true,
  });
  const conditionNode = field(object, 'condition');
  const when = conditionNode && readCondition(reader, conditionNode);
  if (kind === undefined || message === undefined) return undefined;
  const head = { message, ...(when === undefined ? {} : { when }) };
  switch (kind) {
    case 'contains':
      return containsRule(reader, object, head);
    case 'regex':
      return regexRule(reader, object, head);
    case 'length':
      return lengthRule(reader, object, head);
    case 'schema':
      checkKeys(reader, object, { keys: KEYS.schemaRule, isClosed: true });
      reportWarning(reader, object, {
        code: 'schema_rule_not_enforced',
        message: 'A schema rule is shown to the agent but not checked. Use an output contract for structured results.',
      });
      return { ...head, kind: 'schema' };
  }
}

type RuleHead = Pick<CriteriaRule, 'message' | 'when'>;

function containsRule(reader: Reader, object: SourceObject, head: RuleHead): CriteriaRule | undefined {
  checkKeys(reader, object, { keys: KEYS.containsRule, isClosed: true });
  const value = readText(reader, object, { name: 'value', bytesMax: TEXT_LIMITS.pattern, isRequired: true });
  return value === undefined ? undefined : { ...head, kind: 'contains', value };
}

function regexRule(reader: Reader, object: SourceObject, head: RuleHead): CriteriaRule | undefined {
  checkKeys(reader, object, { keys: KEYS.regexRule, isClosed: true });
  const pattern = readText(reader, object, { name: 'pattern', bytesMax: TEXT_LIMITS.pattern, isRequired: true });
  const flagsNode = field(object, 'flags');
  const flags = flagsNode?.kind === 'string' ? flagsNode.value : '';
  if (flagsNode !== undefined && (flagsNode.kind !== 'string' || !FLAGS.test(flags))) {
    const message = 'Flags may be i, m and s.';
    return reportError(reader, flagsNode, { code: 'wrong_value', message });
  }
  if (pattern === undefined) return undefined;
  const meaningful = [...MEANINGFUL_FLAGS].filter((flag) => flags.includes(flag)).join('');
  reader.uses.patterns.push({ at: field(object, 'pattern')?.pointer ?? object.pointer, pattern, flags: meaningful });
  return { ...head, kind: 'regex', pattern, flags: meaningful };
}

function lengthRule(reader: Reader, object: SourceObject, head: RuleHead): CriteriaRule | undefined {
  checkKeys(reader, object, { keys: KEYS.lengthRule, isClosed: true });
  const min = readCount(reader, object, 'min');
  const max = readCount(reader, object, 'max');
  if (min === undefined && max === undefined) return reportMissing(reader, object, 'min');
  if (min !== undefined && max !== undefined && min > max) {
    return reportError(reader, object, {
      code: 'wrong_value',
      message: `No text is ${min} to ${max} long. Swap them.`,
    });
  }
  return { ...head, kind: 'length', ...(min === undefined ? {} : { min }), ...(max === undefined ? {} : { max }) };
}

function readCount(reader: Reader, object: SourceObject, name: string): number | undefined {
  const node = field(object, name);
  if (node === undefined) return undefined;
  if (node.kind === 'number' && Number.isSafeInteger(node.value) && node.value >= 0) return node.value;
  return reportError(reader, node, wrongType(`"${name}"`, 'a whole number', node));
}
