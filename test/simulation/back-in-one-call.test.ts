import { expect, it } from 'vitest';
import { memoryStore } from '../../src/adapters/memory-store/memory-store.ts';
import { nodeHasher } from '../../src/adapters/system.ts';
import type { JsonObject } from '../../src/core/json/json-value.ts';
import type { ObservationData } from '../../src/core/log/events/run-events.ts';
import { answerCall, type CallServices } from '../../src/mcp/answer-call.ts';
import { recentReplies } from '../../src/mcp/explain/recent-replies.ts';
import { resumeReplyShape } from '../../src/mcp/reply-shapes.ts';
import { enforces } from '../enforces.ts';
import { filledArguments } from '../examples/filled-call.ts';
import { isLong, share } from '../volume.ts';
import { TIMEOUT_MS } from './agent/play/volume.ts';
import { servicesOver } from './agent/world/services-over.ts';
import { SMALL_FILES, SMALL_WORKFLOWS } from './agent/world/small-workflows.ts';
import { COMMON_FILES, workflowFile } from './agent/world/workflow-files.ts';
import { type SeededRandom, seededRandom } from './seeded-random.ts';

const STORES = Number(process.env['WORKRAIL_RESUMED_STORES'] ?? (isLong ? 1_000 : 15));
const SEED = Number(process.env['WORKRAIL_SEED'] ?? 20_261_115);
const REPLY_BYTES_MAX = 10_000;

const RULED = {
  id: 'sim.ruled',
  name: 'Ruled',
  description: 'With rules that hold all the time.',
  metaGuidance: ['Change one thing at a time.', 'Say what you measured.'],
  steps: Array.from({ length: 12 }, (_, i) => ({ id: `s${i}`, title: `Part ${i}`, prompt: `Do part ${i} of it.` })),
};
/** The same, and every report has to say something that nobody says by chance. */
const STRICT = {
  ...RULED,
  id: 'sim.strict',
  steps: RULED.steps.map((step) => ({
    ...step,
    validationCriteria: { type: 'contains', value: 'MEASURED', message: 'Say what you MEASURED.' },
  })),
};
const FILES = [
  ...SMALL_FILES,
  ...[RULED, STRICT].map((file) =>
    workflowFile({ name: `${file.id}.json`, text: JSON.stringify(file) }, { kind: 'project' }),
  ),
];
const WORKFLOWS = ['sim.ruled', 'sim.strict', 'sim.strict', ...SMALL_WORKFLOWS];
const HERE = '/work/here';
/** Where the server happens to run, which is nobody's workspace. */
const SERVER = '/work/server';
const ELSEWHERE = ['/work/there', '/work/here-too', '/'];

type Told = {
  readonly kind: string;
  readonly run: { readonly tag: string; readonly workflowId: string };
  readonly isComplete: boolean;
  readonly pending: { readonly prompt: string } | null;
  readonly nextCall: { readonly tool: string; readonly arguments: JsonObject };
  readonly stateToken: string;
  readonly ackToken: string;
  readonly checkpointToken: string;
};

/** An agent over a store of its own. */
type Agent = { readonly desk: CallServices; readonly chance: SeededRandom; readonly git: Git };

/** The branch that every folder is on; none where there is no Git. */
type Git = { branch: string | undefined };

function newAgent(seed: number): Agent {
  const chance = seededRandom(seed);
  const git: Git = { branch: chance.chance(0.5) ? 'main' : undefined };
  let nowMs = 1_700_000_000_000;
  const services = {
    ...servicesOver(memoryStore(nodeHasher.sha256), FILES),
    workspace: {
      observe: async (path: string | undefined) => (path === undefined ? [] : seenAt(path, git)),
      tree: async () => undefined,
    },
    clock: { nowMs: () => nowMs++ },
  };
  const desk = { services, recent: recentReplies(), place: { workingDir: SERVER, homeDir: '/home/me' } };
  return { desk, chance, git };
}

function seenAt(path: string, { branch }: Git): readonly ObservationData[] {
  const root: ObservationData = { key: 'repo_root', value: { type: 'path', value: path }, confidence: 'high' };
  if (branch === undefined) return [root];
  return [root, { key: 'git_branch', value: { type: 'short_string', value: branch }, confidence: 'high' }];
}

async function call({ desk }: Agent, tool: string, sent: JsonObject) {
  const result = await answerCall(desk, { name: tool, arguments: sent });
  expect(result.isError, JSON.stringify(result)).not.toBe(true);
  const content = result.content as readonly { readonly text: string }[];
  return { told: result.structuredContent as unknown as Told, text: content.map((part) => part.text).join('\n') };
}

type Work = { readonly workflowId: string; readonly workspace: string; readonly calls: number };
type Worked = { readonly told: Told; readonly lastMark: string; readonly goal: string };

/** Starts a run and follows its replies for a while. Goals and notes are of any length. */
async function work(agent: Agent, { workflowId, workspace, calls }: Work): Promise<Worked> {
  const { chance } = agent;
  const goal = `Goal ${chance.below(1_000_000)} ${'very '.repeat(chance.below(150))}important`;
  let { told } = await call(agent, 'start_workflow', { workflowId, workspacePath: workspace, goal });
  let lastMark = '';
  for (let i = 0; i < calls && !told.isComplete; i++) {
    const { tool, arguments: offered } = told.nextCall;
    const sent = filledArguments(offered);
    const { notesMarkdown = '', ...output } = (sent['output'] ?? {}) as JsonObject;
    lastMark = `mark ${chance.below(1_000_000)}`;
    const words = '"because" of this and that, '.repeat(chance.below(chance.chance(0.25) ? 400 : 12));
    const notes = `${lastMark}\n${words}\n${notesMarkdown}`;
    told = (await call(agent, tool, { ...sent, output: { ...output, notesMarkdown: notes } })).told;
  }
  return { told, lastMark, goal };
}

/** Work that has nothing to do with ours: in other places, or here and done, or here and open on another branch. */
async function otherWork(agent: Agent): Promise<void> {
  const { chance, git } = agent;
  for (let i = chance.below(3); i > 0; i--) {
    const workflowId = chance.pick(WORKFLOWS);
    await work(agent, { workflowId, workspace: chance.pick(ELSEWHERE), calls: chance.below(4) });
  }
  if (chance.chance(0.3)) await work(agent, { workflowId: 'sim.plain', workspace: HERE, calls: 4 });
  if (git.branch === undefined || chance.chance(0.5)) return;
  git.branch = 'another';
  await work(agent, { workflowId: 'sim.ruled', workspace: HERE, calls: chance.below(4) });
  git.branch = 'main';
}

async function ourWork(agent: Agent): Promise<Worked> {
  const { chance } = agent;
  const calls = chance.below(10);
  const work1 = await work(agent, { workflowId: chance.pick(WORKFLOWS), workspace: HERE, calls });
  const ours = work1.told.isComplete ? await work(agent, { workflowId: 'sim.ruled', workspace: HERE, calls }) : work1;
  if (chance.chance(0.3)) {
    const output = { notesMarkdown: 'Saved on the way.' };
    await call(agent, 'checkpoint_workflow', { checkpointToken: ours.told.checkpointToken, output });
  }
  return ours.told.run.workflowId === 'sim.strict' && chance.chance(0.7) ? turnedDown(agent, ours) : ours;
}

/** Ends with a long report that lacks what is asked for. */
async function turnedDown(agent: Agent, ours: Worked): Promise<Worked> {
  const { chance } = agent;
  const { tool, arguments: sent } = ours.told.nextCall;
  const lastMark = `draft ${chance.below(1_000_000)}`;
  const words = chance.pick(['plain words ', 'so "they" say\n', '\u0007\u001b bells ']);
  const notesMarkdown = `${lastMark}\n${words.repeat(chance.below(500))}`;
  const { told } = await call(agent, tool, { ...sent, output: { notesMarkdown } });
  expect(told.kind).toBe('blocked');
  return { ...ours, told, lastMark };
}

/** How many bytes it took to be back, as text and as data. */
async function comeBack(agent: Agent, { told: before, goal, lastMark }: Worked): Promise<readonly number[]> {
  const { told, text } = await call(agent, 'resume_session', { workspacePath: HERE });
  expect(resumeReplyShape.safeParse(told).error).toBeUndefined();
  expect([told.run.tag, told.pending]).toEqual([before.run.tag, before.pending]);
  const data = JSON.stringify(told);
  const rules = ['sim.ruled', 'sim.strict'].includes(told.run.workflowId) ? RULED.metaGuidance : [];
  for (const part of [
    goal,
    lastMark,
    ...rules,
    told.stateToken,
    told.checkpointToken,
    JSON.stringify(told.nextCall.arguments),
  ]) {
    expect(text).toContain(part);
    expect(data).toContain(part);
  }
  expect(text).toContain(told.pending?.prompt ?? '');
  const next = await call(agent, told.nextCall.tool, told.nextCall.arguments);
  expect(next.told.run.tag).toBe(before.run.tag);
  return [Buffer.byteLength(text), Buffer.byteLength(data)];
}

it(
  `one call in the workspace resumes the run, in ${STORES} stores from seed ${SEED}`,
  async () => {
    enforces('resume_strong_match_rehydrates', 'resume_strong_match_is_compact');
    let largest = 0;
    for (let seed = SEED; seed < SEED + STORES; seed++) {
      const agent = newAgent(seed);
      await otherWork(agent);
      const ours = await ourWork(agent);
      await otherWork(agent);
      const sizes = await comeBack(agent, ours).catch((cause: unknown) => {
        throw new Error(`not back with seed ${seed}`, { cause });
      });
      largest = Math.max(largest, ...sizes);
    }
    expect(largest).toBeLessThanOrEqual(REPLY_BYTES_MAX);
    // A store in which nothing was long would prove nothing.
    expect(largest).toBeGreaterThan(REPLY_BYTES_MAX / 2);
  },
  TIMEOUT_MS,
);

const BUNDLED = COMMON_FILES.flatMap(({ ref }) => /^(wr\.\w+)\.json$/.exec(ref)?.[1] ?? []);

it.each([
  ['plain', 'plain words '],
  ['of characters that take six bytes each as data', '\u0007\u001b'],
])(
  'resuming after any bundled workflow blocked a long report is short: the report and other goals are %s',
  async (kind, words) => {
    enforces('resume_strong_match_is_compact');
    const sizes: Record<string, number> = {};
    for (const workflowId of share(BUNDLED, { from: kind.length })) {
      const agent = newAgent(SEED);
      const goal = words.repeat(512).slice(0, 1_000);
      for (const workspacePath of ['/o/1', '/o/2', '/o/3', '/o/4', HERE]) {
        const { told } = await call(agent, 'start_workflow', { workflowId, workspacePath, goal });
        const notesMarkdown = words.repeat(Math.ceil(4_096 / words.length));
        await call(agent, 'continue_workflow', { ackToken: told.ackToken, output: { notesMarkdown } });
      }
      const { told, text } = await call(agent, 'resume_session', { workspacePath: HERE });
      expect(told.pending?.prompt, workflowId).toBeDefined();
      expect(text).toContain(told.pending?.prompt);
      sizes[workflowId] = Math.max(Buffer.byteLength(text), Buffer.byteLength(JSON.stringify(told)));
    }
    expect(BUNDLED.length).toBeGreaterThan(10);
    expect(Object.keys(sizes).length).toBeGreaterThan(BUNDLED.length / 5);
    expect(Object.entries(sizes).filter(([, bytes]) => bytes > REPLY_BYTES_MAX)).toEqual([]);
  },
  TIMEOUT_MS,
);
