import { err, ok, type Result } from 'neverthrow';
import { authorCatalog } from '../../author/author-catalog.ts';
import type { AuthorServices } from '../../author/author-services.ts';
import { findTargets, isScenarioPath, scenarioPathOf, type TargetRefusal } from '../../author/find-targets.ts';
import type { InvalidFile, ListedWorkflow } from '../../catalog/catalog.ts';
import { type Asked, isWithin, type NothingOwn, nothingOwn, scopeOf, type TargetScope } from '../files/scope.ts';

export type ScenarioRefusal = TargetRefusal | NothingOwn | { readonly code: 'no_scenarios'; readonly path: string };

/** Files of scenarios, and what has none. */
export type ScenarioFiles = {
  readonly scope: TargetScope;
  readonly paths: readonly string[];
  /** Workflows by id, or by path where a folder was named. What is there only to be called needs none of its own. */
  readonly untested: readonly string[];
};

/** The scenarios that are meant: beside the workflows that were named, that are one's own, or that there are. */
export async function scenarioFiles(
  bench: AuthorServices,
  asked: Asked,
): Promise<Result<ScenarioFiles, ScenarioRefusal>> {
  const scope = scopeOf(bench, asked);
  return scope.kind === 'named' ? namedScenarios(bench, asked.names) : scenariosIn(bench, scope);
}

async function scenariosIn(
  bench: AuthorServices,
  scope: Exclude<TargetScope, { kind: 'named' }>,
): Promise<Result<ScenarioFiles, ScenarioRefusal>> {
  const { all } = await authorCatalog(bench);
  const isMeant = ({ file }: ListedWorkflow | InvalidFile) =>
    scope.kind === 'all' || isWithin(bench, scope.folders, file.path);
  const workflows = all.workflows.filter(isMeant);
  const invalid = all.invalid.filter(isMeant);
  if (workflows.length + invalid.length === 0) return err(nothingOwn(bench));
  const beside = ({ file }: ListedWorkflow | InvalidFile) => scenarioPathOf(bench.files.resolve(file.path));
  return ok({
    scope,
    paths: [...workflows, ...invalid].map(beside).filter((path) => isThere(bench, path)),
    untested: workflows.filter((one) => one.kind === 'workflow' && !isThere(bench, beside(one))).map(({ id }) => id),
  });
}

async function namedScenarios(
  bench: AuthorServices,
  names: readonly string[],
): Promise<Result<ScenarioFiles, ScenarioRefusal>> {
  const targets = await findTargets(bench, names);
  if (targets.isErr()) return err(targets.error);
  const isFolder = names.some((name) => bench.files.kindOf(name) === 'folder');
  const paths = [...new Set(targets.value.map(scenarioPathOf))];
  const missing = paths.find((path) => !isThere(bench, path));
  if (missing !== undefined && !isFolder) return err({ code: 'no_scenarios', path: missing });
  const untested = targets.value.filter(
    (path) => !isScenarioPath(path) && !path.includes('/routines/') && !isThere(bench, scenarioPathOf(path)),
  );
  return ok({ scope: { kind: 'named' }, paths: paths.filter((path) => isThere(bench, path)), untested });
}

function isThere({ files }: AuthorServices, path: string): boolean {
  return files.kindOf(path) === 'file';
}
