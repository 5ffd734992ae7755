import { resumeSession } from '../src/app/resume/resume-session.ts';
import { assert } from '../src/core/assert.ts';
import { canonicalJson } from '../src/core/json/canonical-json.ts';
import { SMALL_WORKFLOW } from '../test/examples/compiled.ts';
import { sessionWriter } from '../test/simulation/session-writer.ts';
import { append, benchSessionId, freshStore, hastyStore, inFolder, pinWorkflow } from './bench-store.ts';
import { type BenchMachine, benchMachine, benchServices } from './engine/bench-services.ts';
import { budgeted, median, type Row, timed } from './row.ts';

const RUNS = 7;
const WARM_CALLS = 40;
const PROJECTS = 50;
const BUDGETS = [
  { sessions: 1_000, firstMs: 60, warmMs: 4 },
  { sessions: 10_000, firstMs: 200, warmMs: 8 },
];

const WORKFLOW_TEXT = canonicalJson(SMALL_WORKFLOW)._unsafeUnwrap();
const NOTE = Array.from({ length: 220 }, (_, i) => `word${i % 90}`).join(' ');

/** Resuming without a token: to a choice of runs in a workspace, and to the one run that matches all words. */
export async function benchResume(): Promise<readonly Row[]> {
  return inFolder(async (root) => {
    const machine = benchMachine(root, []);
    const store = hastyStore(machine.data);
    await pinWorkflow(store);
    await store.keyring.open();
    const rows: Row[] = [];
    let filled = 0;
    for (const budget of BUDGETS) {
      for (; filled < budget.sessions; filled++) {
        for (const plan of plansOf(filled, machine)) await append(store.sessions, plan);
      }
      rows.push(...(await measure(machine, budget)));
    }
    return rows;
  });
}

/** Three steps with notes, in one of some dozen projects; every tenth is done. */
function plansOf(number: number, { workspace }: BenchMachine) {
  const writer = sessionWriter({ sessionId: benchSessionId(number), at: () => 1_700_000_000_000 + number });
  const project = number % PROJECTS;
  const observed = {
    git_branch: `branch-${number}`,
    repo_root: project === 0 ? workspace : `/work/project-${project}`,
  };
  let node = writer.startRun({ context: { goal: `goal number ${number}` }, observed }, WORKFLOW_TEXT);
  for (let step = 0; step < 3; step++) {
    const note = { name: `note ${step}`, text: `${NOTE} step${step} session${number}` };
    node = writer.advance(node, { note }, step === 2 && number % 10 === 9 ? 'complete' : undefined);
  }
  return writer.plans;
}

async function measure(
  machine: BenchMachine,
  { sessions, firstMs, warmMs }: (typeof BUDGETS)[number],
): Promise<readonly Row[]> {
  const questions = [
    { name: 'choice in a workspace', request: { workspace: machine.workspace }, has: 'candidates' },
    { name: 'brought back by words', request: { query: `step2 session${sessions - 5}` }, has: 'resumed' },
  ];
  const rows: Row[] = [];
  for (const { name, request, has } of questions) {
    const [first, warm]: [number[], number[]] = [[], []];
    for (let i = 0; i < RUNS; i++) {
      const services = benchServices(machine, freshStore(machine.data));
      const ask = async () => {
        const reply = await resumeSession(services, request);
        assert(reply.isOk() && has in reply.value.structured, `no ${has}: ${JSON.stringify(reply).slice(0, 300)}`);
      };
      first.push((await timed(ask)).cpuMs);
      for (let call = 0; call < WARM_CALLS; call++) warm.push((await timed(ask)).cpuMs);
    }
    rows.push(
      budgeted(`resume, ${sessions} sessions, ${name}, first call, CPU`, median(first), { max: firstMs, unit: 'ms' }),
      budgeted(`resume, ${sessions} sessions, ${name}, warm call, CPU`, median(warm), { max: warmMs, unit: 'ms' }),
    );
  }
  return rows;
}
