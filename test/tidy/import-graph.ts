import { posix } from 'node:path';

/** Which file imports which, type imports included. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

/** Reads static imports only: what is imported later cannot be part of a cycle at load. */
export function importGraph(files: readonly { readonly path: string; readonly text: string }[]): ImportGraph {
  const paths = new Set(files.map(({ path }) => path));
  return new Map(
    files.map(({ path, text }) => [
      path,
      [...text.matchAll(/^(?:import|export)\b[^;]*?\bfrom '(\.[^']+)';|^import '(\.[^']+)';/gm)]
        .map((match) => posix.join(posix.dirname(path), match[1] ?? match[2] ?? ''))
        .filter((target) => paths.has(target)),
    ]),
  );
}

/** Every group of files that import each other, each in order of path (Tarjan's strongly connected components). */
export function importCycles(graph: ImportGraph): readonly (readonly string[])[] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const cycles: string[][] = [];
  const visit = (file: string): number => {
    const at = order.size;
    order.set(file, at);
    lowest.set(file, at);
    open.push(file);
    for (const target of graph.get(file) ?? []) {
      const reached = order.has(target) ? (open.includes(target) ? (order.get(target) ?? at) : at) : visit(target);
      lowest.set(file, Math.min(lowest.get(file) ?? at, reached));
    }
    const low = lowest.get(file) ?? at;
    if (low === at) {
      const group = open.splice(open.indexOf(file));
      if (group.length > 1) cycles.push(group.sort());
    }
    return low;
  };
  for (const file of graph.keys()) if (!order.has(file)) visit(file);
  return cycles;
}
