import type { JsonValue } from '../../json/json-value.ts';
import { quote } from '../../json/quote.ts';
import { nearest } from '../../text/spelling.ts';
import { COMPARISONS, type Comparison, type Condition } from '../compiled/condition.ts';
import { plainValue, type SourceArray, type SourceNode, type SourceObject } from '../source/source-node.ts';
import { contextName } from './read-names.ts';
import {
  asObject,
  checkKeys,
  choiceOf,
  describe,
  field,
  type Reader,
  reportError,
  reportMissing,
  wrongType,
} from './reader.ts';
import type { WholeCondition } from './syntax.ts';

const COMBINATIONS = ['and', 'or', 'not'] as const;
export const NAMED_KINDS = ['always_true', 'always_false', 'loop_control', 'context', 'condition_ref'] as const;

/** A condition: a comparison, a combination, a reference, or nothing at all, which is always true. */
export function readCondition(reader: Reader, node: SourceNode): Condition | undefined {
  const condition = readWholeCondition(reader, node);
  // The decision about a loop is noted where it stands, and reported where it may not stand.
  return condition?.kind === 'loop_control' ? { kind: 'always' } : condition;
}

/** The same where the decision about a loop may stand for it. */
export function readWholeCondition(reader: Reader, node: SourceNode): WholeCondition | undefined {
  const object = asObject(reader, node, 'A condition');
  if (object === undefined) return undefined;
  if (object.fields.size === 0) return { kind: 'always' };
  if (object.fields.has('kind')) return readNamed(reader, object);
  const combination = COMBINATIONS.find((name) => object.fields.has(name));
  return combination === undefined ? readComparison(reader, object) : readCombination(reader, object, combination);
}

/** The condition of an entry of `conditions`, beside its id. */
export function readNamedCondition(reader: Reader, object: SourceObject): WholeCondition | undefined {
  return object.fields.has('kind') ? readNamed(reader, object) : reportMissing(reader, object, 'kind');
}

function readNamed(reader: Reader, object: SourceObject): WholeCondition | undefined {
  const kindNode = field(object, 'kind');
  const kind = kindNode && choiceOf(reader, kindNode, { what: '"kind" of a condition', choices: NAMED_KINDS });
  switch (kind) {
    case 'always_true':
      checkKeys(reader, object, { keys: ['id', 'kind'], isClosed: true });
      return { kind: 'always' };
    case 'always_false':
      checkKeys(reader, object, { keys: ['id', 'kind'], isClosed: true });
      return { kind: 'never' };
    case 'condition_ref':
      return readReference(reader, object);
    case 'loop_control':
      return readLoopControl(reader, object);
    case 'context':
      return readContext(reader, object);
    default:
      return undefined;
  }
}

function readReference(reader: Reader, object: SourceObject): Condition | undefined {
  checkKeys(reader, object, { keys: ['id', 'kind', 'conditionId'], isClosed: true });
  const node = field(object, 'conditionId');
  if (node === undefined) return reportMissing(reader, object, 'conditionId');
  if (node.kind === 'string') {
    reader.uses.conditions.push({ at: node.pointer, conditionId: node.value });
    return { kind: 'ref', conditionId: node.value };
  }
  return reportError(reader, node, wrongType('"conditionId"', 'a text', node));
}

function readLoopControl(reader: Reader, object: SourceObject): WholeCondition | undefined {
  checkKeys(reader, object, { keys: ['id', 'kind', 'continueWhen', 'loopId'], isClosed: true });
  const node = field(object, 'continueWhen');
  const continueWhen = node && choiceOf(reader, node, { what: '"continueWhen"', choices: ['continue', 'stop'] });
  if (node !== undefined && continueWhen === undefined) return undefined;
  reader.uses.loopControls.set(object.pointer, continueWhen);
  return { kind: 'loop_control' };
}

/** The comparison stands in a `condition` of its own or beside the kind. */
function readContext(reader: Reader, object: SourceObject): WholeCondition | undefined {
  const inner = field(object, 'condition');
  if (inner !== undefined) {
    checkKeys(reader, object, { keys: ['id', 'kind', 'condition'], isClosed: true });
    reader.uses.wrapped.set(object.pointer, inner.pointer);
    return readWholeCondition(reader, inner);
  }
  const rest = new Map([...object.fields].filter(([name]) => name !== 'kind' && name !== 'id'));
  return readWholeCondition(reader, { ...object, fields: rest });
}

function readCombination(
  reader: Reader,
  object: SourceObject,
  combination: (typeof COMBINATIONS)[number],
): Condition | undefined {
  const others = COMBINATIONS.filter((name) => name !== combination && object.fields.has(name));
  checkKeys(reader, object, { keys: [combination, ...others], isClosed: true });
  if (others.length > 0) return reportExtra(reader, object, others);
  const node = field(object, combination);
  if (node === undefined) return undefined;
  if (combination === 'not') {
    const condition = readCondition(reader, node);
    return condition && { kind: 'not', condition };
  }
  if (node.kind !== 'array') return reportError(reader, node, wrongType(`"${combination}"`, 'a list', node));
  return readAll(reader, node, combination);
}

function readAll(reader: Reader, node: SourceArray, kind: 'and' | 'or'): Condition | undefined {
  if (node.items.length === 0) {
    const message = `"${kind}" of nothing is always ${kind === 'and'}. List at least one condition.`;
    return reportError(reader, node, { code: 'wrong_value', message });
  }
  const conditions = node.items.map((item) => readCondition(reader, item));
  return conditions.every((condition) => condition !== undefined) ? { kind, conditions } : undefined;
}

function readComparison(reader: Reader, object: SourceObject): Condition | undefined {
  const used = COMPARISONS.filter((comparison) => object.fields.has(comparison));
  const variable = readVariable(reader, object);
  const [comparison, ...others] = used;
  if (comparison === undefined) return reportOperator(reader, object);
  checkKeys(reader, object, { keys: ['var', ...used], isClosed: true });
  if (others.length > 0) return reportExtra(reader, object, others);
  const value = comparedValue(reader, object, comparison);
  return variable === undefined || value === undefined ? undefined : { kind: 'compare', variable, comparison, value };
}

/** One report for each operator too many. Which of them was meant only the author knows, so none is taken out. */
function reportExtra(reader: Reader, object: SourceObject, others: readonly string[]): undefined {
  for (const name of others) {
    const extra = object.fields.get(name);
    if (extra === undefined) continue;
    const message = `One condition makes one comparison. Drop "${name}", or join both with "and".`;
    const place = { pointer: extra.value.pointer, span: extra.nameSpan };
    reportError(reader, place, { code: 'two_operators', message });
  }
}

function readVariable(reader: Reader, object: SourceObject): string | undefined {
  const node = field(object, 'var');
  if (node === undefined) return reportMissing(reader, object, 'var');
  return contextName(reader, node, '"var"');
}

function reportOperator(reader: Reader, object: SourceObject): undefined {
  const stray = [...object.fields.values()].find(({ name }) => name !== 'var');
  const meant = stray && nearest(stray.name, COMPARISONS);
  const place = stray === undefined ? object : { pointer: stray.value.pointer, span: stray.nameSpan };
  return reportError(reader, place, {
    code: 'unknown_operator',
    message: `A condition compares with one of ${COMPARISONS.join(', ')}.`,
    fix:
      stray === undefined || meant === undefined
        ? undefined
        : { title: `Rename it to "${meant}"`, edits: [{ ...stray.nameSpan, text: quote(meant) }] },
  });
}

const NEEDS: { readonly [comparison in Comparison]?: 'list' | 'text' | 'number' } = {
  in: 'list',
  gt: 'number',
  gte: 'number',
  lt: 'number',
  lte: 'number',
  startsWith: 'text',
  endsWith: 'text',
  matches: 'text',
};

function comparedValue(reader: Reader, object: SourceObject, comparison: Comparison): JsonValue | undefined {
  const node = field(object, comparison);
  if (node === undefined) return undefined;
  const needed = NEEDS[comparison];
  const isFit =
    needed === undefined ||
    (needed === 'list' && node.kind === 'array') ||
    (needed === 'text' && node.kind === 'string') ||
    (needed === 'number' && (node.kind === 'number' || isNumericText(node)));
  if (isFit && comparison === 'matches' && node.kind === 'string') {
    reader.uses.patterns.push({ at: node.pointer, pattern: node.value, flags: '' });
  }
  if (isFit) return plainValue(node);
  return reportError(reader, node, {
    code: 'wrong_type',
    message: `"${comparison}" compares with a ${needed}, not ${describe(node)}.`,
  });
}

function isNumericText(node: SourceNode): boolean {
  return node.kind === 'string' && node.value.trim() !== '' && Number.isFinite(Number(node.value));
}
