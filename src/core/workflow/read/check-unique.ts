import type { CompilerFinding } from '../finding.ts';

/** Names in one list must differ: whatever refers to them means just one. */
export function checkUnique<const Name extends string>(
  found: readonly ({ readonly at: string } & { readonly [name in Name]: string })[],
  { what, name }: { readonly what: string; readonly name: Name },
  findings: CompilerFinding[],
): void {
  const seen = new Set<string>();
  for (const one of found) {
    if (seen.has(one[name])) findings.push(duplicate(what, one[name], `${one.at}/${name}`));
    seen.add(one[name]);
  }
}

export function duplicate(what: string, id: string, at: string): CompilerFinding {
  return { code: 'duplicate_id', severity: 'error', at, message: `The ${what} "${id}" is used twice. Rename one.` };
}
