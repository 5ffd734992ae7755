import { canonicalJson } from './canonical-json.ts';

/** A value as JSON on one line, for messages and files. */
export function quote(value: unknown): string {
  const whole = typeof value === 'string' ? value.toWellFormed() : value;
  return canonicalJson(whole).unwrapOr('null');
}

/** JSON for people: one field per line. Nothing is hashed or signed in this form. */
export function readableJson(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
