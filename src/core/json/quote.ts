import { canonicalJson } from './canonical-json.ts';

/** A value as JSON writes it, for showing it to people and for putting it into a file. */
export function quote(value: unknown): string {
  const whole = typeof value === 'string' ? value.toWellFormed() : value;
  return canonicalJson(whole).unwrapOr('null');
}

/** JSON for people: one member a line. Nothing is hashed or signed in this form. */
export function readableJson(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
