import { execFileSync } from 'node:child_process';
import type { JsonObject } from '../src/core/json/json-value.ts';
import { utf8Length } from '../src/core/text/utf8.ts';
import { publishedTools } from '../src/mcp/answer-call.ts';
import { WALKED, type WalkedWorkflow } from '../test/examples/walked-workflows.ts';
import { hastyStore, inFolder } from './bench-store.ts';
import { benchMachine, benchServices } from './engine/bench-services.ts';
import { appLayer, type Reply, textOf } from './engine/layers.ts';
import { startWalk, walk } from './engine/walker.ts';
import { budgeted, type Row } from './row.ts';

const STEPS = 40;
const TEXT_BYTES_MAX = 750;
const DATA_BYTES_MAX = 1_250;
const TOOLS_BYTES_MAX = 7_500;
const PACKED_BYTES_MAX = 3_000_000;
const UNPACKED_BYTES_MAX = 15_000_000;

/** Sizes in an agent's context and on a user's disk. */
export async function benchSizes(): Promise<readonly Row[]> {
  const tools = (how: Parameters<typeof publishedTools>[0]) =>
    utf8Length(JSON.stringify({ tools: publishedTools(how) }));
  const rows = [
    budgeted('tools/list', tools({}), { max: TOOLS_BYTES_MAX, unit: 'B' }),
    budgeted('tools/list with start_session', tools({ isSessionStartOn: true }), { max: TOOLS_BYTES_MAX, unit: 'B' }),
  ];
  for (const workflow of WALKED) rows.push(...(await inFolder((root) => overheads(root, workflow))));
  return [...rows, ...packed()];
}

/** The largest reply of a run, without the prompt of its step. */
async function overheads(root: string, workflow: WalkedWorkflow): Promise<readonly Row[]> {
  const machine = benchMachine(root, [workflow.source]);
  const layer = appLayer(benchServices(machine, hastyStore(machine.data)), machine.workspace);
  const walker = await startWalk(workflow, layer);
  const seen: { readonly text: number; readonly data: number }[] = [];
  for (let i = 0; i < STEPS; i++) {
    await walk(walker, layer, 1);
    seen.push(overhead(walker.at()));
  }
  const most = (of: 'text' | 'data') => Math.max(...seen.map((one) => one[of]));
  return [
    budgeted(`text beside the prompt, ${workflow.name}, at most`, most('text'), { max: TEXT_BYTES_MAX, unit: 'B' }),
    budgeted(`data beside the prompt, ${workflow.name}, at most`, most('data'), { max: DATA_BYTES_MAX, unit: 'B' }),
  ];
}

/**
 * The artifacts and the context of the form in the next call belong to what the step asks for. A long value that the
 * prompt names is part of the prompt, and results of earlier steps have a limit of their own; both are shown in one block.
 */
function overhead({ text, structured }: Reply): { readonly text: number; readonly data: number } {
  const prompt = textOf((structured['pending'] as JsonObject)['prompt']);
  const { arguments: next } = structured['nextCall'] as { readonly arguments: JsonObject };
  const { artifacts } = (next['output'] ?? {}) as JsonObject;
  const asked = [artifacts, next['context']].filter((one) => one !== undefined);
  const form = asked.reduce<number>((sum, one) => sum + utf8Length(JSON.stringify(one)), 0);
  const block = /^Recorded earlier by agents(?:.|\n)*?\n\n/m.exec(text)?.[0] ?? '';
  const { recorded } = structured;
  const results = recorded === undefined ? 0 : utf8Length(JSON.stringify({ recorded }));
  return {
    text: utf8Length(text) - utf8Length(prompt) - form - utf8Length(block),
    data: utf8Length(JSON.stringify(structured)) - utf8Length(JSON.stringify(prompt)) - form - results,
  };
}

/** The package as it would be published now. */
function packed(): readonly Row[] {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const [made] = JSON.parse(execFileSync('npm', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
  return [
    budgeted('packed package', made.size, { max: PACKED_BYTES_MAX, unit: 'B' }),
    budgeted('unpacked package', made.unpackedSize, { max: UNPACKED_BYTES_MAX, unit: 'B' }),
  ];
}
