import type { SourceNode, SourceObject } from '../source/source-node.ts';
import { KEYS } from './keys.ts';
import { TEXT_LIMITS } from './limits.ts';
import {
  asObject,
  checkKeys,
  choiceOf,
  field,
  type Reader,
  readText,
  reportError,
  reportMissing,
  textOf,
  wrongType,
} from './reader.ts';
import type { BlockText, PromptBlocks } from './syntax.ts';

/** A prompt in parts. A part is a text, or texts and bundled texts in turn. */
export function readPromptBlocks(reader: Reader, node: SourceNode): PromptBlocks | undefined {
  const object = asObject(reader, node, '"promptBlocks"');
  if (object === undefined) return undefined;
  checkKeys(reader, object, { keys: KEYS.promptBlocks });
  const goalNode = field(object, 'goal');
  const goal = goalNode && readBlockText(reader, goalNode);
  if (!KEYS.promptBlocks.some((name) => saysSomething(field(object, name)))) {
    const message = 'The prompt has no blocks. Write at least a "goal".';
    reportError(reader, object, { code: 'prompt_missing', message });
  }
  return {
    ...(goal === undefined ? {} : { goal }),
    constraints: readBlockList(reader, object, 'constraints'),
    procedure: readBlockList(reader, object, 'procedure'),
    outputRequired: readOutputRequired(reader, object),
    verify: readBlockList(reader, object, 'verify'),
  };
}

/** Whether there is anything in a block; what is wrong with it is told elsewhere. */
function saysSomething(node: SourceNode | undefined): boolean {
  if (node?.kind === 'array') return node.items.some(saysSomething);
  return node?.kind === 'object' ? node.fields.size > 0 : node !== undefined;
}

/** A list of parts; a single text counts as a list of one. */
function readBlockList(reader: Reader, object: SourceObject, name: string): readonly BlockText[] {
  const node = field(object, name);
  if (node === undefined) return [];
  if (node.kind === 'string' || isParts(node)) return [readBlockText(reader, node) ?? []].filter(hasText);
  if (node.kind === 'array') return node.items.map((item) => readBlockText(reader, item) ?? []).filter(hasText);
  reportError(reader, node, wrongType(`"${name}"`, 'a text or a list of texts', node));
  return [];
}

function readOutputRequired(reader: Reader, object: SourceObject): PromptBlocks['outputRequired'] {
  const node = field(object, 'outputRequired');
  if (node === undefined) return [];
  if (node.kind !== 'object') {
    reportError(reader, node, wrongType('"outputRequired"', 'an object of texts', node));
    return [];
  }
  return [...node.fields.values()].flatMap(({ name, value }) => {
    const text = readBlockText(reader, value);
    return text === undefined ? [] : [{ name, text }];
  });
}

/** Parts written as a bare list: `[{kind:"text",…},{kind:"ref",…}]`, not a list of such lists. */
function isParts(node: SourceNode): boolean {
  return (
    node.kind === 'array' &&
    node.items.length > 0 &&
    node.items.every((item) => item.kind === 'object' && item.fields.has('kind'))
  );
}

function readBlockText(reader: Reader, node: SourceNode): BlockText | undefined {
  if (node.kind === 'string') {
    const text = textOf(reader, node, { what: 'A prompt block', bytesMax: TEXT_LIMITS.prompt });
    return text === undefined ? undefined : [{ kind: 'text', text }];
  }
  const parts = node.kind === 'array' ? node.items : [node];
  return parts.flatMap((part) => readPart(reader, part) ?? []);
}

function readPart(reader: Reader, node: SourceNode): BlockText[number] | undefined {
  if (node.kind === 'string') {
    const text = textOf(reader, node, { what: 'A part of a prompt block', bytesMax: TEXT_LIMITS.prompt });
    return text === undefined ? undefined : { kind: 'text', text };
  }
  const object = asObject(reader, node, 'A part of a prompt block');
  const kindNode = object && field(object, 'kind');
  if (object === undefined) return undefined;
  if (kindNode === undefined) return reportMissing(reader, object, 'kind');
  const kind = choiceOf(reader, kindNode, { what: '"kind" of a part', choices: ['text', 'ref'] });
  if (kind === 'text') {
    checkKeys(reader, object, { keys: KEYS.textPart, isClosed: true });
    const text = readText(reader, object, { name: 'text', bytesMax: TEXT_LIMITS.prompt, isRequired: true });
    return text === undefined ? undefined : { kind: 'text', text };
  }
  if (kind === undefined) return undefined;
  checkKeys(reader, object, { keys: KEYS.refPart, isClosed: true });
  const refId = readText(reader, object, { name: 'refId', bytesMax: TEXT_LIMITS.id, isRequired: true });
  return refId === undefined ? undefined : { kind: 'ref', refId, at: `${object.pointer}/refId` };
}

function hasText(text: BlockText): boolean {
  return text.length > 0;
}
