const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"(?:\s*:)?|[{}]/g;

/**
 * A name that an object in a JSON text has twice: of its two values, a reader of the file may see the one that does not
 * count. The text must be valid. It is read from left to right, so that no depth of nesting is too much.
 */
export function repeatedName(json: string): string | undefined {
  const objects: Set<string>[] = [];
  for (const [token] of json.matchAll(TOKENS)) {
    if (token === '{') objects.push(new Set());
    else if (token === '}') objects.pop();
    else if (token.endsWith(':')) {
      const name: unknown = JSON.parse(token.slice(0, token.lastIndexOf('"') + 1));
      const names = objects.at(-1);
      if (typeof name !== 'string' || names === undefined) continue;
      if (names.has(name)) return name;
      names.add(name);
    }
  }
  return undefined;
}
