import { err, ok, type Result } from 'neverthrow';
import type { WorkspaceProblem } from '../../core/prompt/workspace-problem.ts';
import { knownWorkflow } from '../bench/files/known-workflow.ts';
import { authorCatalog } from './author-catalog.ts';
import type { AuthorServices } from './author-services.ts';

export type TargetRefusal =
  | {
      readonly code: 'target_unknown';
      readonly asked: string;
      readonly known: readonly string[];
      readonly workspaceProblem?: WorkspaceProblem;
    }
  | { readonly code: 'folder_empty'; readonly path: string };

const SCENARIO_FILE = '.test.json';

/** The file with the scenarios of a workflow file. */
export function scenarioPathOf(path: string): string {
  return isScenarioPath(path) ? path : `${path.replace(/\.json$/, '')}${SCENARIO_FILE}`;
}

/** The workflow file that scenarios lie beside. */
export function workflowPathOf(path: string): string {
  return isScenarioPath(path) ? `${path.slice(0, -SCENARIO_FILE.length)}.json` : path;
}

export function isScenarioPath(path: string): boolean {
  return path.endsWith(SCENARIO_FILE);
}

/** The files that are meant: files and folders by their path, workflows by their id. */
export async function findTargets(
  bench: AuthorServices,
  asked: readonly string[],
): Promise<Result<readonly string[], TargetRefusal>> {
  const { files } = bench;
  const paths = new Set<string>();
  for (const name of asked) {
    const found = await targetsOf(bench, name);
    if (found.isErr()) return err(found.error);
    for (const path of found.value) paths.add(files.resolve(path));
  }
  return ok([...paths]);
}

async function targetsOf(bench: AuthorServices, name: string): Promise<Result<readonly string[], TargetRefusal>> {
  const { files } = bench;
  const kind = files.kindOf(name);
  if (kind === 'file') return ok([name]);
  if (kind === 'folder') {
    const inside = files.list(name);
    return inside.length === 0 ? err({ code: 'folder_empty', path: name }) : ok(inside);
  }
  const { all } = await authorCatalog(bench);
  const found = knownWorkflow(all, name);
  if (found.kind === 'found') return ok([found.listed.file.path]);
  if (found.kind === 'invalid') return ok([found.invalid.file.path]);
  const problem = all.workspaceProblem === undefined ? {} : { workspaceProblem: all.workspaceProblem };
  return err({ code: 'target_unknown', asked: name, known: found.known, ...problem });
}
