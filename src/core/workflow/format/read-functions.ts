import { plainValue } from '../source/plain-value.ts';
import type { SourceNode, SourceObject } from '../source/source-node.ts';
import { KEYS } from './keys.ts';
import { TEXT_LIMITS } from './limits.ts';
import { readTextMap } from './read-template-call.ts';
import {
  asObject,
  checkKeys,
  field,
  type Reader,
  readChoice,
  readFlag,
  readList,
  readText,
  replaceWith,
  reportError,
  reportMissing,
  reportWarning,
  textOf,
} from './reader.ts';
import type { FunctionCall, FunctionSyntax, ParameterSyntax } from './syntax.ts';

/** Widest first. */
export const FUNCTION_SCOPES = ['workflow', 'loop', 'step'] as const;
type FunctionScope = (typeof FUNCTION_SCOPES)[number];

/** Either the bare name or a call with anything between the parentheses. */
const CALL = /^([A-Za-z_][A-Za-z0-9_]*)(?:\(.*\))?$/s;

/** The functions that are defined at a place: for it, or for something wider that it is part of. */
export function readFunctions(reader: Reader, object: SourceObject, place: FunctionScope): readonly FunctionSyntax[] {
  return readList(reader, object, 'functionDefinitions').flatMap((node) => readFunction(reader, node, place) ?? []);
}

/** `"name()"` refers to the definition `name`. */
export function readFunctionReferences(
  reader: Reader,
  object: SourceObject,
): readonly { readonly at: string; readonly name: string }[] {
  return readList(reader, object, 'functionReferences').flatMap((node) => {
    const name = functionName(reader, node, 'A function reference is written "name()".');
    return name === undefined ? [] : [{ at: node.pointer, name }];
  });
}

/** `{name, args}` asks for a function with what its parameters stand for. */
export function readFunctionCalls(reader: Reader, object: SourceObject): readonly FunctionCall[] {
  return readList(reader, object, 'functionCalls').flatMap((node) => {
    const call = asObject(reader, node, 'A function call');
    if (call === undefined) return [];
    checkKeys(reader, call, { keys: KEYS.functionCall });
    const args = readTextMap(reader, field(call, 'args'), '"args"');
    const nameNode = field(call, 'name');
    const name =
      nameNode === undefined
        ? reportMissing(reader, call, 'name')
        : functionName(reader, nameNode, 'Write the name of a function here, and what it is given into "args".');
    return name === undefined ? [] : [{ at: call.pointer, name, args }];
  });
}

function functionName(reader: Reader, node: SourceNode, message: string): string | undefined {
  const text = textOf(reader, node, { what: 'The name of a function', bytesMax: TEXT_LIMITS.name });
  if (text === undefined) return undefined;
  return CALL.exec(text.trim())?.[1] ?? reportError(reader, node, { code: 'wrong_value', message });
}

function readFunction(reader: Reader, node: SourceNode, place: FunctionScope): FunctionSyntax | undefined {
  const object = asObject(reader, node, 'A function definition');
  if (object === undefined) return undefined;
  checkKeys(reader, object, { keys: KEYS.functionDefinition });
  const name = readText(reader, object, { name: 'name', bytesMax: TEXT_LIMITS.name, isRequired: true });
  const definition = readText(reader, object, {
    name: 'definition',
    bytesMax: TEXT_LIMITS.definition,
    isRequired: true,
  });
  const scope = readScope(reader, object, place);
  const parameters = readList(reader, object, 'parameters').flatMap((one) => readParameter(reader, one) ?? []);
  if (name === undefined || definition === undefined) return undefined;
  const bare = CALL.exec(name.trim())?.[1];
  if (bare !== undefined) return { at: object.pointer, name: bare, definition, parameters, scope };
  const message = 'The name of a function is made of letters, digits and "_", and begins with no digit.';
  return reportError(reader, field(object, 'name') ?? object, { code: 'bad_id', message });
}

/** A definition reaches as far as the place it stands at, or further. */
function readScope(reader: Reader, object: SourceObject, place: FunctionScope): FunctionScope {
  const scope = readChoice(reader, object, { name: 'scope', choices: FUNCTION_SCOPES }) ?? place;
  if (FUNCTION_SCOPES.indexOf(scope) <= FUNCTION_SCOPES.indexOf(place)) return scope;
  const message = `This stands with the ${place}, so the whole ${place} sees it. To keep it to one ${scope}, move it there.`;
  reportWrongScope(reader, field(object, 'scope') ?? object, { place, message });
  return place;
}

/** Says that a scope does not count, and what counts in its place. */
export function reportWrongScope(
  reader: Reader,
  node: SourceNode,
  { place, message }: { readonly place: FunctionScope; readonly message: string },
): void {
  reportWarning(reader, node, { code: 'wrong_scope', message, fix: replaceWith(node, place) });
}

function readParameter(reader: Reader, node: SourceNode): ParameterSyntax | undefined {
  if (node.kind === 'string') {
    const bare = textOf(reader, node, { what: 'A parameter', bytesMax: TEXT_LIMITS.name });
    return bare === undefined ? undefined : { name: bare };
  }
  const object = asObject(reader, node, 'A parameter');
  if (object === undefined) return undefined;
  checkKeys(reader, object, { keys: KEYS.parameter });
  const name = readText(reader, object, { name: 'name', bytesMax: TEXT_LIMITS.name, isRequired: true });
  const type = readText(reader, object, { name: 'type', bytesMax: TEXT_LIMITS.name });
  const description = readText(reader, object, { name: 'description', bytesMax: TEXT_LIMITS.description });
  const isRequired = readFlag(reader, object, 'required');
  const fallback = field(object, 'default');
  const choices = readList(reader, object, 'enum').map(plainValue);
  if (name === undefined) return undefined;
  return {
    name,
    ...(type === undefined ? {} : { type }),
    ...(description === undefined ? {} : { description }),
    ...(isRequired === false || fallback !== undefined ? { isOptional: true } : {}),
    ...(fallback === undefined ? {} : { default: plainValue(fallback) }),
    ...(choices.length === 0 ? {} : { choices }),
  };
}
