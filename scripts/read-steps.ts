// Prints replies of bundled workflows as an agent gets them, so that somebody who knows nothing else can judge them.
// Usage: npm run read-steps [-- --seed N] [--count N] [--path WORKFLOW_ID] [--to FOLDER]
// Without --path: COUNT random steps (20 unless given), each from the first scenario that reaches it; the seed is printed.
// With --path: every reply of the workflow's first scenario, in order. --to writes one file for each reply.
import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { authorCatalog } from '../src/app/author/author-catalog.ts';
import { dryRun } from '../src/app/author/dry-run.ts';
import { isScenarioPath } from '../src/app/author/find-targets.ts';
import { openAuthor } from '../src/compose/open-author.ts';
import { readDocument } from '../src/core/author/read-document.ts';
import { type Scenario, scenarioFileSchema } from '../src/core/author/scenario.ts';
import { defined } from '../src/core/json/json-value.ts';
import { seededRandom } from '../test/simulation/seeded-random.ts';
import { drawnSeed } from '../test/volume.ts';

/** What stands for the step after the last. */
const END = '(end)';

type Reply = { readonly workflowId: string; readonly stepId: string; readonly text: string };

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    count: { type: 'string', default: '20' },
    path: { type: 'string' },
    to: { type: 'string' },
  },
});
const LIBRARY = resolve('workflows');
const { compilerId } = await import(`${process.cwd()}/scripts/build-options.mjs`);
const bundled = { folder: LIBRARY, library: resolve('dist/library.jsonl'), compiler: compilerId };
const author = openAuthor(bundled, mkdtempSync(join(tmpdir(), 'workrail-read-')));
const { catalog } = await authorCatalog(author, []);

const replies = values.path === undefined ? await randomSteps() : await playedReplies(values.path, 1);
if (values.to !== undefined) mkdirSync(values.to, { recursive: true });
for (const [i, { workflowId, stepId, text }] of replies.entries()) {
  const number = String(i + 1).padStart(2, '0');
  console.log(`${number} ${workflowId} ${stepId}`);
  if (values.to === undefined) console.log(`\n${text}\n`);
  else writeFileSync(join(values.to, `${number}.md`), `${text}\n`);
}

async function randomSteps(): Promise<readonly Reply[]> {
  const seed = Number(values.seed ?? drawnSeed());
  console.log(`seed ${seed}`);
  const ids = readdirSync(LIBRARY)
    .filter((name) => name.endsWith('.json') && !isScenarioPath(name))
    .map((name) => name.replace(/\.json$/, ''))
    .sort();
  const all = (await Promise.all(ids.map((id) => playedReplies(id, Number.POSITIVE_INFINITY)))).flat();
  const first = new Map<string, Reply>();
  for (const reply of all) {
    const step = `${reply.workflowId} ${reply.stepId}`;
    if (reply.stepId !== END && !first.has(step)) first.set(step, reply);
  }
  const random = seededRandom(seed);
  const left = [...first.values()];
  const count = Math.min(Number(values.count), left.length);
  return Array.from({ length: count }, () => left.splice(random.below(left.length), 1)).flat();
}

/** What an agent reads at each step of a workflow's first scenarios, in guided mode. */
async function playedReplies(workflowId: string, scenarioCount: number): Promise<readonly Reply[]> {
  const { found } = await catalog.find(workflowId, author.workspace);
  const text = author.files.read(join(LIBRARY, `${workflowId}.test.json`));
  if (found.kind !== 'found' || text.isErr()) throw new Error(`${workflowId} is not a bundled workflow`);
  const { scenarios } = readDocument(text.value, scenarioFileSchema)._unsafeUnwrap();
  const replies: Reply[] = [];
  for (const { goal, context, steps } of scenarios.filter(isGuided).slice(0, scenarioCount)) {
    const script = { mode: 'guided' as const, ...defined({ goal, context, steps }) };
    const watch = ({ reply, text: words }: { readonly reply: object; readonly text: string }) => {
      const { pending } = reply as { readonly pending?: { readonly stepId: string } | null };
      replies.push({ workflowId, stepId: pending?.stepId ?? END, text: words });
    };
    (await dryRun(author, { ...found, catalog }, { script, watch }))._unsafeUnwrap();
  }
  return replies;
}

function isGuided({ mode, modes }: Scenario): boolean {
  return (modes ?? [mode ?? 'guided']).includes('guided');
}
