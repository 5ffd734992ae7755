import { canonicalJson } from './canonical-json.ts';
import type { JsonValue } from './json-value.ts';

/** A value as JSON writes it, for showing it to people and for putting it into a file. */
export function quote(value: JsonValue): string {
  const whole = typeof value === 'string' ? value.toWellFormed() : value;
  return canonicalJson(whole).unwrapOr('null');
}
