import { err, ok, type Result } from 'neverthrow';
import type { AuthorBench } from '../author-bench.ts';
import { benchCatalog } from '../files/bench-catalog.ts';
import { findTargets, isScenarioPath, scenarioPathOf, type TargetRefusal } from '../files/find-targets.ts';

export type ScenarioRefusal = TargetRefusal | { readonly code: 'no_scenarios'; readonly path: string };

/** Files of scenarios, and what has none. */
export type ScenarioFiles = { readonly paths: readonly string[]; readonly untested: readonly string[] };

/** The scenarios that are meant: beside the workflows that were named, or all there are. */
export async function scenarioFiles(
  bench: AuthorBench,
  asked: readonly string[],
): Promise<Result<ScenarioFiles, ScenarioRefusal>> {
  const { files } = bench;
  const isThere = (path: string) => files.kindOf(path) === 'file';
  if (asked.length === 0) {
    const { all } = await benchCatalog(bench);
    const tested = all.workflows.map(({ id, file }) => ({ id, path: scenarioPathOf(files.resolve(file.path)) }));
    return ok({
      paths: tested.flatMap(({ path }) => (isThere(path) ? [path] : [])),
      untested: tested.flatMap(({ id, path }) => (isThere(path) ? [] : [id])),
    });
  }
  const targets = await findTargets(bench, asked);
  if (targets.isErr()) return err(targets.error);
  const isFolder = asked.some((name) => files.kindOf(name) === 'folder');
  const paths = [...new Set(targets.value.map(scenarioPathOf))];
  const missing = paths.find((path) => !isThere(path));
  if (missing !== undefined && !isFolder) return err({ code: 'no_scenarios', path: missing });
  const untested = targets.value.filter((path) => !isScenarioPath(path) && !isThere(scenarioPathOf(path)));
  return ok({ paths: paths.filter(isThere), untested });
}
