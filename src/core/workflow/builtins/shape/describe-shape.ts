import type { JsonValue } from '../../../json/json-value.ts';
import { quote } from '../../../json/quote.ts';
import { BYTES_MAX, isObject, partOf, type Shape, variantsOf } from '../shape.ts';

/** What a value may be, in the words in which agents and authors are told. */
export function describeShape(shape: Shape): string {
  const variants = variantsOf(shape);
  if (variants.length > 0) return variants.map(describeShape).join(' or ');
  if (shape['const'] !== undefined) return plain(shape['const']);
  const values = shape['enum'];
  if (Array.isArray(values)) return values.map(plain).join(' | ');
  switch (shape['type']) {
    case 'string':
      return describeText(shape);
    case 'integer':
      return describeInteger(shape);
    case 'array':
      return describeList(shape);
    case 'object':
      return describeObject(shape);
    default:
      return 'any JSON';
  }
}

/** The fields of an object, in the order of the shape. */
export function fieldNames(shape: Shape): readonly string[] {
  return Object.keys(partOf(shape, 'properties') ?? {});
}

export function isRequired(shape: Shape, name: string): boolean {
  const required = shape['required'];
  return Array.isArray(required) && required.includes(name);
}

function plain(value: JsonValue): string {
  return typeof value === 'string' ? value : quote(value);
}

function describeText(shape: Shape): string {
  if (shape['format'] === 'id') return 'id of lower-case letters, digits, _ and -';
  const { minLength } = shape;
  const least = typeof minLength === 'number' && minLength > 1 ? `, at least ${minLength} characters` : '';
  const most = shape[BYTES_MAX] === undefined ? '' : `, at most ${plain(shape[BYTES_MAX])} bytes`;
  return `text${least}${most}`;
}

function describeInteger({ minimum, maximum }: Shape): string {
  const from = typeof minimum === 'number' ? ` from ${minimum}` : '';
  return `whole number${from}${typeof maximum === 'number' ? ` to ${maximum}` : ''}`;
}

function describeList(shape: Shape): string {
  const least = typeof shape['minItems'] === 'number' ? `, at least ${shape['minItems']}` : '';
  const most = typeof shape['maxItems'] === 'number' ? `, at most ${shape['maxItems']}` : '';
  return `list of ${describeShape(partOf(shape, 'items') ?? {})}${least}${most}`;
}

function describeObject(shape: Shape): string {
  const fields = fieldNames(shape).map((name) => {
    const field = partOf(partOf(shape, 'properties') ?? {}, name) ?? {};
    return `${name}${isRequired(shape, name) ? '' : '?'}: ${describeShape(field)}`;
  });
  const others = shape['additionalProperties'];
  const more = isObject(others) ? [Object.keys(others).length === 0 ? '…' : `any name: ${describeShape(others)}`] : [];
  const inside = [...fields, ...more];
  return inside.length === 1 && inside[0] === '…' ? 'object' : `{${inside.join(', ')}}`;
}
