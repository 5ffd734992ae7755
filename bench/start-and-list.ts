import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../src/core/json/json-value.ts';
import { manyWorkflows, WALKED } from '../test/examples/walked-workflows.ts';
import { freshStore, inFolder } from './bench-store.ts';
import { benchMachine, benchServices } from './engine/bench-services.ts';
import { appLayer, type Call, type Layer, mcpLayer } from './engine/layers.ts';
import { measure, noFigures } from './figures.ts';
import { budgeted, median, type Row } from './row.ts';

const WORKFLOWS = 50;
const ROUNDS = 300;
const INSPECTED_STEPS = 300;
const LIST_CPU_MS_MAX = 1.5;
const INSPECT_CPU_MS_MAX = 5;
const START_CPU_MS_MAX = 6;

/** Listing a team's workflows, and starting one of them inside and outside of a git repository. */
export async function benchStartAndList(): Promise<readonly Row[]> {
  return inFolder(async (root) => {
    const walked = WALKED.map(({ source }) => source);
    const machine = benchMachine(root, [...walked, longWorkflow(), ...manyWorkflows(WORKFLOWS - walked.length - 1)]);
    const repository = join(root, 'repository');
    makeRepository(repository);
    const services = benchServices(machine, freshStore(machine.data));
    const mcp = await mcpLayer(services, machine.workspace);
    const app = appLayer(services, machine.workspace);
    const list = { tool: 'list_workflows', arguments: {} };
    const starts = WALKED.flatMap(({ name, start }) => [
      ask(`start, ${name}, app, outside of git`, app, { tool: 'start_workflow', arguments: start }),
      ...[machine.workspace, repository].map((workspacePath) =>
        ask(`start, ${name}, mcp, ${workspacePath === repository ? 'in a repository' : 'outside of git'}`, mcp, {
          tool: 'start_workflow',
          arguments: { ...start, workspacePath },
        }),
      ),
    ]);
    const lists = [ask(`list of ${WORKFLOWS} workflows, mcp`, mcp, list)];
    const inspects = [
      ask(`inspect of ${INSPECTED_STEPS} steps, mcp`, mcp, {
        tool: 'inspect_workflow',
        arguments: { workflowId: 'bench.long' },
      }),
    ];
    const asked = [...starts, ...lists, ...inspects];
    for (let i = 0; i < ROUNDS; i++) {
      for (const { layer, call, figures } of asked) (await measure(figures, layer.ready(call)))();
    }
    const rows = (of: typeof asked, max: number) =>
      of.map(({ metric, figures }) => budgeted(metric, median(figures.cpu), { max, unit: 'ms' }));
    return [...rows(lists, LIST_CPU_MS_MAX), ...rows(inspects, INSPECT_CPU_MS_MAX), ...rows(starts, START_CPU_MS_MAX)];
  });
}

function ask(metric: string, layer: Layer, call: Call) {
  return { metric: `${metric}, CPU`, layer, call, figures: noFigures() };
}

function longWorkflow(): JsonObject {
  const steps = Array.from({ length: INSPECTED_STEPS }, (_, i) => ({
    id: `step-${i}`,
    title: `Step ${i}`,
    prompt: 'Do this part of the work and write down what you find.',
    ...(i % 3 === 0 ? { runCondition: { var: 'depth', equals: 'deep' } } : {}),
  }));
  return { id: 'bench.long', name: 'Long', description: 'Many steps.', steps };
}

function makeRepository(path: string): void {
  mkdirSync(path);
  const git = (...args: readonly string[]) => execFileSync('git', ['-C', path, ...args], { stdio: 'ignore' });
  git('init', '-b', 'main');
  git('-c', 'user.name=bench', '-c', 'user.email=bench@example.org', 'commit', '--allow-empty', '-m', 'first');
}
