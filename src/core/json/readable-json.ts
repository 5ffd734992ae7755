/** JSON for people: one member a line. Nothing is hashed or signed in this form. */
export function readableJson(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

/** A value in the middle of a sentence. */
export function quotedJson(value: unknown): string {
  return JSON.stringify(value) ?? 'undefined';
}
