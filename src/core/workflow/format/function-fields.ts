import type { JsonValue } from '../../json/json-value.ts';
import type { SourceNode } from '../source/source-node.ts';
import {
  built,
  choice,
  defaulted,
  either,
  flag,
  json,
  jsonList,
  type Kind,
  list,
  located,
  needed,
  object,
  optional,
  text,
  texts,
  type Value,
} from './field.ts';
import { field, type Reader, replaceWith, reportWarning } from './reader.ts';
import { mapObject } from './text-walk.ts';

/** Widest first. */
const FUNCTION_SCOPES = ['workflow', 'loop', 'step'] as const;
type FunctionScope = (typeof FUNCTION_SCOPES)[number];

const name = text(128, { use: 'label' });

export const parameter = object('parameter', {
  name: needed(name, 'Its name.'),
  type: optional(name, 'What kind of value it is, in a word.'),
  description: optional(text(512, { use: 'label' }), 'What it is for.'),
  required: optional(flag, 'Whether a call must give it; yes, unless it has a default.', { as: 'isRequired' }),
  default: optional(json('value'), 'Its value when a call does not give one.'),
  enum: optional(jsonList('value'), 'The values it may have.', { as: 'choices' }),
});

export type ParameterSyntax = {
  readonly name: string;
  readonly type?: string;
  readonly description?: string;
  readonly isOptional?: boolean;
  readonly default?: JsonValue;
  readonly choices?: readonly JsonValue[];
};

const parameterKind: Kind<ParameterSyntax> = built(
  either('a name or an object', name, parameter),
  (read): ParameterSyntax => {
    if (typeof read === 'string') return { name: read };
    const { at: _, isRequired, choices = [], ...rest } = read;
    const isOptional = isRequired === false || rest.default !== undefined;
    return { ...rest, ...(isOptional ? { isOptional } : {}), ...(choices.length === 0 ? {} : { choices }) };
  },
  (read, change) => mapObject(parameter.data, read, change) as ParameterSyntax,
);

export const functionDefinition = object('functionDefinition', {
  name: needed(text(128, { use: 'label', form: 'function_name', names: 'local' }), 'Referred to as `"name()"`.'),
  definition: needed(text(4096, { use: 'text' }), 'The text that is shown with the steps that refer to it.'),
  parameters: defaulted(list(parameterKind), 'Names, or objects that say more about each.', { otherwise: [] }),
  scope: optional(choice(FUNCTION_SCOPES), 'From where it is visible; the place where it stands, if left out.'),
});

export type FunctionSyntax = Omit<Value<typeof functionDefinition>, 'scope'> & {
  /** From where it is visible. After reading it stands with the step, loop or workflow that this names. */
  readonly scope: FunctionScope;
};

/** The functions that are defined at a place: for it, or for something wider that it is part of. */
export function functionDefinitions(place: FunctionScope): Kind<readonly FunctionSyntax[]> {
  return list(
    built(
      functionDefinition,
      (read, node, reader): FunctionSyntax => ({ ...read, scope: scopeOf(reader, node, { read, place }) }),
    ),
  );
}

/** A definition reaches as far as the place it stands at, or further. */
function scopeOf(
  reader: Reader,
  node: SourceNode,
  { read, place }: { readonly read: Value<typeof functionDefinition>; readonly place: FunctionScope },
): FunctionScope {
  const { scope = place } = read;
  if (FUNCTION_SCOPES.indexOf(scope) <= FUNCTION_SCOPES.indexOf(place)) return scope;
  const message = `This stands with the ${place}, so the whole ${place} sees it. To limit it to one ${scope}, move it there.`;
  reportWrongScope(reader, (node.kind === 'object' ? field(node, 'scope') : undefined) ?? node, { place, message });
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

const functionName = text(128, { use: 'label', form: 'function_name' });

export const functionReferences = list(located('name', functionName));

export const functionCall = object('functionCall', {
  name: needed(functionName, 'A function that is visible here.'),
  args: defaulted(texts('argument'), 'A text for each parameter.', { otherwise: {} }),
});

export type FunctionCall = Value<typeof functionCall>;
