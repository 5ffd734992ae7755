import { err, ok, type Result } from 'neverthrow';
import { type Coverage, coverageOf } from '../../core/author/coverage.ts';
import { type DocumentProblem, problemAt, readDocument } from '../../core/author/read-document.ts';
import { type Scenario, type ScenarioFile, scenarioFileSchema } from '../../core/author/scenario.ts';
import { nearest } from '../../core/text/spelling.ts';
import { shellWord } from '../../core/text/words.ts';
import type { CompiledWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';
import type { InvalidFile, ListedWorkflow } from '../catalog/catalog.ts';
import { authorCatalog } from './author-catalog.ts';
import type { AuthorServices } from './author-services.ts';
import {
  type Asked,
  findTargets,
  isScenarioPath,
  isWithin,
  type NothingOwn,
  nothingOwn,
  scenarioPathOf,
  scopeOf,
  type TargetRefusal,
  type TargetScope,
  workflowPathOf,
} from './find-targets.ts';
import { type Rehearsal, rehearsal } from './rehearsal.ts';
import { type TestedScenario, testScenario } from './test-scenario.ts';

/** A scenario file with its results, or with what is wrong with it. */
export type TestedFile = {
  readonly path: string;
  readonly workflowId?: string;
  readonly problems: readonly DocumentProblem[];
  readonly scenarios: readonly TestedScenario[];
  readonly coverage?: Coverage;
};

export type TestedFiles = {
  readonly scope: TargetScope;
  readonly files: readonly TestedFile[];
  /** Workflows without scenarios, by id or by path. */
  readonly untested: readonly string[];
};

/** Called before each scenario of a workflow. */
type OnTested = (step: { readonly workflowId: string; readonly done: number; readonly total: number }) => void;

/** Plays the selected scenarios. */
export async function testWorkflows(
  author: AuthorServices,
  asked: Asked,
  tick: OnTested = () => undefined,
): Promise<Result<TestedFiles, ScenarioRefusal>> {
  const found = await scenarioFiles(author, asked);
  if (found.isErr()) return err(found.error);
  const { scope, paths, untested } = found.value;
  const beside = paths.map(workflowPathOf).filter((path) => author.files.kindOf(path) === 'file');
  const { catalog } = await authorCatalog(author, beside);
  const files: TestedFile[] = [];
  for (const path of paths) {
    const read = await readScenarios(author, path);
    if (read.isErr()) {
      files.push({ path, problems: read.error, scenarios: [] });
      continue;
    }
    const { workflowId } = read.value.file;
    const { found: workflow } = await catalog.find(workflowId, author.workspace);
    const problems = problemsWith(read.value, workflow);
    if (problems.length > 0 || workflow.kind !== 'found') {
      files.push({ path, workflowId, problems, scenarios: [] });
      continue;
    }
    const stage = async () => rehearsal(await author.services(catalog));
    const how = { author, workflow: workflow.listed.workflow, tick };
    files.push({ path, ...(await playAll(stage, read.value.file, how)) });
  }
  return ok({ scope, files, untested });
}

type Read = { readonly file: ScenarioFile; readonly text: string };

async function readScenarios(
  { files }: AuthorServices,
  path: string,
): Promise<Result<Read, readonly DocumentProblem[]>> {
  const text = files.read(path);
  if (text.isErr())
    return err([{ line: 1, column: 1, pointer: '', message: `Cannot read this file (${text.error.code}).` }]);
  return readDocument(text.value, scenarioFileSchema).map((file) => ({ file, text: text.value }));
}

type Found = Awaited<ReturnType<Awaited<ReturnType<typeof authorCatalog>>['catalog']['find']>>['found'];

/** Problems of scenarios that only their workflow shows. */
function problemsWith({ file, text }: Read, found: Found): readonly DocumentProblem[] {
  const { workflowId, scenarios } = file;
  switch (found.kind) {
    case 'unknown': {
      const { id } = found.meant;
      const hint = id === undefined ? '' : ` Did you mean "${id}"?`;
      return [problemAt(text, '/workflowId', `Unknown workflow "${workflowId}".${hint}`)];
    }
    case 'invalid': {
      const message = `"${workflowId}" does not compile. Run "workrail workflow check ${shellWord(found.invalid.file.path)}" to see why.`;
      return [problemAt(text, '/workflowId', message)];
    }
    case 'found':
      return scenarios
        .flatMap((scenario, i) => unknownSteps(scenario, `/scenarios/${i}`, found.listed.workflow))
        .map(({ pointer, message }) => problemAt(text, pointer, message));
  }
}

function unknownSteps(scenario: Scenario, at: string, { steps }: CompiledWorkflow) {
  const known = steps.map(({ stepId }): string => stepId);
  const named = [
    ...(scenario.steps ?? []).map((step, i) => ({ stepId: step.at, pointer: `${at}/steps/${i}/at` })),
    ...(scenario.expect.path ?? []).map((stepId, i) => ({ stepId, pointer: `${at}/expect/path/${i}` })),
  ];
  return named
    .filter(({ stepId }) => !known.includes(stepId))
    .map(({ stepId, pointer }) => {
      const meant = nearest(stepId, known);
      const hint = meant === undefined ? `The workflow's steps are ${known.join(', ')}.` : `Did you mean "${meant}"?`;
      return { pointer, message: `Unknown step "${stepId}". ${hint}` };
    });
}

async function playAll(
  stage: () => Promise<Rehearsal>,
  { workflowId, scenarios }: ScenarioFile,
  {
    author: { workspace, yieldNow },
    workflow,
    tick,
  }: { readonly author: AuthorServices; readonly workflow: CompiledWorkflow; readonly tick: OnTested },
): Promise<Omit<TestedFile, 'path'>> {
  const played: Awaited<ReturnType<typeof testScenario>>[] = [];
  const modesOf = ({ modes, mode = 'guided' }: Scenario) => modes ?? [mode];
  const total = scenarios.flatMap(modesOf).length;
  for (const scenario of scenarios) {
    for (const mode of modesOf(scenario)) {
      tick({ workflowId, done: played.length, total });
      const asked = { workflowId, workspace, scenario, mode, number: played.length, yieldNow };
      played.push(await testScenario(stage, asked));
    }
  }
  const met = {
    stepIds: played.flatMap((one) => one.met.stepIds),
    outcomes: played.flatMap((one) => one.met.outcomes),
  };
  const tested = played.map((one) => one.tested);
  return { workflowId, problems: [], scenarios: tested, coverage: coverageOf(workflow, met) };
}

export type ScenarioRefusal = TargetRefusal | NothingOwn | { readonly code: 'no_scenarios'; readonly path: string };

/** Scenario files, and workflows without one. */
export type ScenarioFiles = {
  readonly scope: TargetScope;
  readonly paths: readonly string[];
  /** Workflows by id, or by path if a folder was named. Routines need no scenarios. */
  readonly untested: readonly string[];
};

/** The selected scenario files: those beside the named workflows, the author's own, or all. */
async function scenarioFiles(author: AuthorServices, asked: Asked): Promise<Result<ScenarioFiles, ScenarioRefusal>> {
  const scope = scopeOf(author, asked);
  return scope.kind === 'named' ? namedScenarios(author, asked.names) : scenariosIn(author, scope);
}

async function scenariosIn(
  author: AuthorServices,
  scope: Exclude<TargetScope, { kind: 'named' }>,
): Promise<Result<ScenarioFiles, ScenarioRefusal>> {
  const { all } = await authorCatalog(author);
  const isMeant = ({ file }: ListedWorkflow | InvalidFile) =>
    scope.kind === 'all' || isWithin(author, scope.folders, file.path);
  const workflows = all.workflows.filter(isMeant);
  const invalid = all.invalid.filter(isMeant);
  if (workflows.length + invalid.length === 0) return err(nothingOwn(author));
  const beside = ({ file }: ListedWorkflow | InvalidFile) => scenarioPathOf(author.files.resolve(file.path));
  return ok({
    scope,
    paths: [...workflows, ...invalid].map(beside).filter((path) => isThere(author, path)),
    untested: workflows.filter((one) => one.kind === 'workflow' && !isThere(author, beside(one))).map(({ id }) => id),
  });
}

async function namedScenarios(
  author: AuthorServices,
  names: readonly string[],
): Promise<Result<ScenarioFiles, ScenarioRefusal>> {
  const targets = await findTargets(author, names);
  if (targets.isErr()) return err(targets.error);
  const isFolder = names.some((name) => author.files.kindOf(name) === 'folder');
  const paths = [...new Set(targets.value.map(scenarioPathOf))];
  const missing = paths.find((path) => !isThere(author, path));
  if (missing !== undefined && !isFolder) return err({ code: 'no_scenarios', path: missing });
  const untested = targets.value.filter(
    (path) => !isScenarioPath(path) && !path.includes('/routines/') && !isThere(author, scenarioPathOf(path)),
  );
  return ok({ scope: { kind: 'named' }, paths: paths.filter((path) => isThere(author, path)), untested });
}

function isThere({ files }: AuthorServices, path: string): boolean {
  return files.kindOf(path) === 'file';
}
