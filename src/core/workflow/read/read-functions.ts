import type { SourceNode, SourceObject } from '../source/source-node.ts';
import type { FunctionSyntax } from '../syntax.ts';
import { checkUnique } from './check-unique.ts';
import { KEYS } from './keys.ts';
import { TEXT_LIMITS } from './limits.ts';
import {
  asObject,
  checkKeys,
  field,
  type Reader,
  readChoice,
  readList,
  readText,
  reportError,
  textOf,
} from './reader.ts';

export const FUNCTION_SCOPES = ['workflow', 'loop', 'step'] as const;
/** Either the bare name or a call with anything between the parentheses. */
const CALL = /^([A-Za-z_][A-Za-z0-9_]*)(?:\(.*\))?$/s;

export function readFunctions(reader: Reader, object: SourceObject): readonly FunctionSyntax[] {
  const found = readList(reader, object, 'functionDefinitions').flatMap((node) => readFunction(reader, node) ?? []);
  checkUnique(found, { what: 'function', name: 'name' }, reader.findings);
  return found;
}

/** `"name()"` refers to the definition `name`. */
export function readFunctionReferences(
  reader: Reader,
  object: SourceObject,
): readonly { readonly at: string; readonly name: string }[] {
  return readList(reader, object, 'functionReferences').flatMap((node) => {
    const text = textOf(reader, node, { what: 'A function reference', bytesMax: TEXT_LIMITS.name });
    const name = text && CALL.exec(text.trim())?.[1];
    if (name !== undefined && name !== '') return [{ at: node.pointer, name }];
    if (text !== undefined) {
      const message = 'A function reference is written "name()".';
      reportError(reader, node, { code: 'wrong_value', message });
    }
    return [];
  });
}

function readFunction(reader: Reader, node: SourceNode): FunctionSyntax | undefined {
  const object = asObject(reader, node, 'A function definition');
  if (object === undefined) return undefined;
  checkKeys(reader, object, { keys: KEYS.functionDefinition });
  const name = readText(reader, object, { name: 'name', bytesMax: TEXT_LIMITS.name, isRequired: true });
  const definition = readText(reader, object, {
    name: 'definition',
    bytesMax: TEXT_LIMITS.definition,
    isRequired: true,
  });
  readChoice(reader, object, { name: 'scope', choices: FUNCTION_SCOPES });
  const parameters = readList(reader, object, 'parameters').flatMap((one) => readParameter(reader, one) ?? []);
  if (name === undefined || definition === undefined) return undefined;
  const bare = CALL.exec(name.trim())?.[1];
  if (bare !== undefined) return { at: object.pointer, name: bare, definition, parameters };
  const message = 'The name of a function is made of letters, digits and "_", and begins with no digit.';
  return reportError(reader, field(object, 'name') ?? object, { code: 'bad_id', message });
}

function readParameter(reader: Reader, node: SourceNode): FunctionSyntax['parameters'][number] | undefined {
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
  if (name === undefined) return undefined;
  return { name, ...(type === undefined ? {} : { type }), ...(description === undefined ? {} : { description }) };
}
