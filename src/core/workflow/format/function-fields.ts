import type { JsonValue } from '../../json/json-value.ts';
import type { SourceNode } from '../source/source-node.ts';
import * as f from './field.ts';
import { field, type Reader, replaceWith, reportWarning } from './reader.ts';
import { mapObject } from './text-walk.ts';

/** Widest first. */
const FUNCTION_SCOPES = ['workflow', 'loop', 'step'] as const;
type FunctionScope = (typeof FUNCTION_SCOPES)[number];

const name = f.text(128, { use: 'label' });

export const parameter = f.object('parameter', {
  name: f.needed(name, 'Its name.'),
  type: f.optional(name, 'What kind of value it is, in a word.'),
  description: f.optional(f.text(512, { use: 'label' }), 'What it is for.'),
  required: f.optional(f.flag, 'Whether a call must give it; yes, unless it has a default.', { as: 'isRequired' }),
  default: f.optional(f.json('value'), 'Its value when a call does not give one.'),
  enum: f.optional(f.jsonList('value'), 'The values it may have.', { as: 'choices' }),
});

export type ParameterSyntax = {
  readonly name: string;
  readonly type?: string;
  readonly description?: string;
  readonly isOptional?: boolean;
  readonly default?: JsonValue;
  readonly choices?: readonly JsonValue[];
};

const parameterKind: f.Kind<ParameterSyntax> = f.built(
  f.either('a name or an object', name, parameter),
  (read): ParameterSyntax => {
    if (typeof read === 'string') return { name: read };
    const { at: _, isRequired, choices = [], ...rest } = read;
    const isOptional = isRequired === false || rest.default !== undefined;
    return { ...rest, ...(isOptional ? { isOptional } : {}), ...(choices.length === 0 ? {} : { choices }) };
  },
  (read, change) => mapObject(parameter.data, read, change) as ParameterSyntax,
);

export const functionDefinition = f.object('functionDefinition', {
  name: f.needed(f.text(128, { use: 'label', form: 'function_name', names: 'local' }), 'Referred to as `"name()"`.'),
  definition: f.needed(f.text(4096, { use: 'prompt' }), 'The text that is shown with the steps that refer to it.'),
  parameters: f.optionalList(f.list(parameterKind), 'Names, or objects that say more about each.'),
  scope: f.optional(f.choice(FUNCTION_SCOPES), 'From where it is visible; the place where it stands, if left out.'),
});

export type FunctionSyntax = Omit<f.Value<typeof functionDefinition>, 'scope'> & {
  /** From where it is visible. After reading it stands with the step, loop or workflow that this names. */
  readonly scope: FunctionScope;
};

/** The functions that are defined at a place: for it, or for something wider that it is part of. */
export function functionDefinitions(place: FunctionScope): f.Kind<readonly FunctionSyntax[]> {
  return f.list(
    f.built(
      functionDefinition,
      (read, node, reader): FunctionSyntax => ({ ...read, scope: scopeOf(reader, node, { read, place }) }),
    ),
  );
}

/** A definition reaches as far as the place it stands at, or further. */
function scopeOf(
  reader: Reader,
  node: SourceNode,
  { read, place }: { readonly read: f.Value<typeof functionDefinition>; readonly place: FunctionScope },
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

const functionName = f.text(128, { use: 'label', form: 'function_name' });

export const functionReferences = f.list(f.located('name', functionName));

export const functionCall = f.object('functionCall', {
  name: f.needed(functionName, 'A function that is visible here.'),
  args: f.defaulted(f.texts('argument'), 'A text for each parameter.', { otherwise: {} }),
});

export type FunctionCall = f.Value<typeof functionCall>;
