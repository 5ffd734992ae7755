import { expect } from 'vitest';
import type { Store } from '../../src/app/ports/store.ts';
import type { SessionEvent } from '../../src/core/log/event.ts';
import type { ObservationData } from '../../src/core/log/events/run-events.ts';
import type { RunId, SessionId } from '../../src/core/log/ids.ts';
import type { GivenReply } from '../../src/core/log/operation/stored-reply.ts';
import { fileWith } from '../catalog/catalog-of.ts';
import { type Engine, engine, tokenOf } from '../examples/engine.ts';

/** One run of the store, as a person would describe it. */
export type StoredRun = {
  readonly name: string;
  readonly workflow: keyof typeof WORKFLOW_NAMES;
  readonly at: number;
  readonly root: string;
  readonly branch?: string;
  readonly sha?: string;
  /** One for each step that was done; all of them end the run. */
  readonly notes: readonly string[];
  /** Saved where the run stands. */
  readonly saved?: string;
  /** Saved before the first step was done. */
  readonly savedFirst?: string;
  /** Sent for the next step and turned down. */
  readonly rejected?: string;
  /** Replaces the last step: that one was done again from the step before. */
  readonly redone?: string;
  /** The run whose session it joins. */
  readonly joins?: string;
};

export type GoldenRun = StoredRun & {
  readonly sessionId: SessionId;
  readonly runId: RunId;
  readonly start: GivenReply;
};

export const WORKFLOW_NAMES = {
  'team.login_fix': 'Mend the login',
  'team.review': 'Review in small steps',
  'team.release-notes': 'Ｒｅｌｅａｓｅ notes für alle',
  'team.caf': 'Café ﬁnder',
} as const;

const STEPS = ['one', 'two', 'three'];
export const STEP_COUNT = STEPS.length;

const FILES = Object.entries(WORKFLOW_NAMES).map(([id, name]) => {
  const steps = STEPS.map((step) => ({
    id: step,
    title: `Step ${step}`,
    prompt: `Do ${step}.`,
    validationCriteria: [{ type: 'regex', pattern: '^[^!]', message: 'Not like that.' }],
  }));
  const file = { id, name, description: 'For the store.', metaGuidance: ['Say what you saw.'], steps };
  return fileWith(JSON.stringify(file), { ref: `workflows/${id}.json` });
});

const SHOP = '/work/shop';
const BLOG = '/work/blog';
const sha = (digit: string) => digit.repeat(40);

/** Every tier, every tie and what Unicode does to words, each at least twice. */
export const STORED_RUNS: readonly StoredRun[] = [
  {
    name: 'same commit, old',
    workflow: 'team.review',
    at: 100,
    root: SHOP,
    branch: 'main',
    sha: sha('a'),
    notes: ['x'],
  },
  {
    name: 'same commit, new',
    workflow: 'team.review',
    at: 900,
    root: SHOP,
    branch: 'dev',
    sha: sha('a'),
    notes: ['y'],
  },
  {
    name: 'same commit elsewhere',
    workflow: 'team.review',
    at: 950,
    root: BLOG,
    branch: 'main',
    sha: sha('a'),
    notes: [],
  },
  { name: 'long commit', workflow: 'team.caf', at: 150, root: BLOG, sha: `sha256:${'d'.repeat(64)}`, notes: ['z'] },
  {
    name: 'branch exact',
    workflow: 'team.review',
    at: 200,
    root: SHOP,
    branch: 'feature/login',
    sha: sha('b'),
    notes: ['x'],
  },
  {
    name: 'branch longer',
    workflow: 'team.review',
    at: 300,
    root: SHOP,
    branch: 'feature/login-2',
    sha: sha('c'),
    notes: ['x'],
  },
  {
    name: 'branch longer, done',
    workflow: 'team.review',
    at: 310,
    root: SHOP,
    branch: 'feature/login/ui',
    notes: ['x', 'y', 'z'],
  },
  { name: 'branch shorter', workflow: 'team.review', at: 320, root: SHOP, branch: 'feature', notes: ['x'] },
  { name: 'branch in other case', workflow: 'team.review', at: 330, root: SHOP, branch: 'Feature/Login', notes: ['x'] },
  { name: 'branch elsewhere', workflow: 'team.review', at: 990, root: BLOG, branch: 'feature/login', notes: ['x'] },
  {
    name: 'note with both words',
    workflow: 'team.review',
    at: 400,
    root: SHOP,
    notes: ['Login fails after a timeout.'],
  },
  { name: 'note with one word', workflow: 'team.review', at: 410, root: SHOP, notes: ['Login works.'] },
  { name: 'note with half a word', workflow: 'team.review', at: 420, root: SHOP, notes: ['Logins and timeouts.'] },
  {
    name: 'words in an older note',
    workflow: 'team.review',
    at: 430,
    root: SHOP,
    notes: ['login timeout', 'Something else.'],
  },
  {
    name: 'words saved at the tip',
    workflow: 'team.review',
    at: 440,
    root: SHOP,
    notes: ['Nothing.'],
    saved: 'LOGIN: timeout!',
  },
  {
    name: 'words saved on the way',
    workflow: 'team.review',
    at: 450,
    root: SHOP,
    notes: ['Nothing.'],
    savedFirst: 'login, timeout',
  },
  {
    name: 'words in both',
    workflow: 'team.review',
    at: 460,
    root: BLOG,
    notes: ['The timeout.'],
    saved: 'Of the login.',
  },
  {
    name: 'words turned down',
    workflow: 'team.review',
    at: 470,
    root: SHOP,
    notes: ['Nothing.'],
    rejected: '!login timeout',
  },
  {
    name: 'words replaced',
    workflow: 'team.review',
    at: 480,
    root: SHOP,
    notes: ['Fine.', 'login timeout'],
    redone: 'All new.',
  },
  { name: 'wide letters', workflow: 'team.review', at: 490, root: SHOP, notes: ['Ｌｏｇｉｎ ＴＩＭＥＯＵＴ'] },
  { name: 'joined by a dash', workflow: 'team.review', at: 500, root: SHOP, notes: ['login-timeout and log_in'] },
  { name: 'ligature', workflow: 'team.review', at: 510, root: BLOG, notes: ['The ﬁle №5 is ok'] },
  { name: 'Kelvin sign', workflow: 'team.review', at: 515, root: BLOG, notes: ['300 K and İstanbul, naïve'] },
  { name: 'no Latin letter', workflow: 'team.review', at: 520, root: BLOG, notes: ['ログイン が 遅い'] },
  { name: 'cut mark', workflow: 'team.review', at: 525, root: BLOG, notes: ['done\n\n[TRUNCATED]'] },
  { name: 'workflow by id', workflow: 'team.login_fix', at: 530, root: SHOP, notes: [] },
  { name: 'workflow by id, elsewhere', workflow: 'team.login_fix', at: 540, root: BLOG, notes: [] },
  { name: 'workflow by wide name', workflow: 'team.release-notes', at: 550, root: BLOG, notes: [] },
  { name: 'workflow with accents', workflow: 'team.caf', at: 560, root: BLOG, notes: [] },
  { name: 'tied by time, one step', workflow: 'team.caf', at: 600, root: '/tie', notes: ['q'] },
  { name: 'tied by time, two steps', workflow: 'team.caf', at: 600, root: '/tie', notes: ['q', 'q'] },
  { name: 'tied by all, first', workflow: 'team.caf', at: 610, root: '/tie', notes: ['q'] },
  { name: 'tied by all, second', workflow: 'team.caf', at: 610, root: '/tie', notes: ['q'] },
  { name: 'tied by all, third', workflow: 'team.caf', at: 610, root: '/tie', notes: ['q'] },
  {
    name: 'done and newest',
    workflow: 'team.caf',
    at: 1_000,
    root: SHOP,
    branch: 'main',
    notes: ['login', 'b', 'timeout login'],
  },
  {
    name: 'second run of a session',
    workflow: 'team.login_fix',
    at: 620,
    root: '/tie',
    notes: ['r'],
    joins: 'tied by all, first',
  },
];

export type GoldenStore = {
  readonly engine: Engine;
  readonly runs: readonly GoldenRun[];
  readonly events: readonly SessionEvent[];
};

/** Lives through all of it with the real use cases. */
export async function goldenStore(store?: Store, stored: readonly StoredRun[] = STORED_RUNS): Promise<GoldenStore> {
  let current: StoredRun | undefined;
  const made = engine({
    ...(store === undefined ? {} : { store }),
    listing: () => ({ files: FILES }),
    services: {
      clock: { nowMs: () => current?.at ?? 0 },
      workspace: { observe: async (path) => observed(path, current), tree: async () => undefined },
    },
  });
  const runs: GoldenRun[] = [];
  for (const run of stored) {
    current = run;
    runs.push(await live(made, run, runs));
  }
  current = undefined;
  return { engine: made, runs, events: made.events };
}

function observed(path: string | undefined, run: StoredRun | undefined): readonly ObservationData[] {
  const root = run?.root ?? path;
  const { branch, sha: commit } = run ?? {};
  return [
    ...(root === undefined ? [] : [seen('repo_root', 'path', root)]),
    ...(branch === undefined ? [] : [seen('git_branch', 'short_string', branch)]),
    ...(commit === undefined ? [] : [seen('git_head_sha', commit.length === 40 ? 'git_sha1' : 'sha256', commit)]),
  ];
}

function seen(key: string, type: string, value: string): ObservationData {
  return { key, value: { type, value }, confidence: 'high' } as ObservationData;
}

async function live(
  { start, send, save, show }: Engine,
  run: StoredRun,
  before: readonly GoldenRun[],
): Promise<GoldenRun> {
  const host = before.find(({ name }) => name === run.joins);
  const attachTo = host === undefined ? {} : { attachTo: tokenOf(host.start, 'stateToken') };
  const first = await start(run.workflow, { goal: `Goal of ${run.name}`, workspace: run.root, ...attachTo });
  if (run.savedFirst !== undefined) await save(first, run.savedFirst);
  let [reply, previous] = [first, first];
  for (const notes of run.notes) [reply, previous] = [await send(reply, { notes }), reply];
  if (run.redone !== undefined) {
    reply = await send(await show(previous), { notes: run.redone });
  }
  if (run.saved !== undefined) await save(reply, run.saved);
  if (run.rejected !== undefined) {
    const blocked = await send(reply, { notes: run.rejected });
    expect(blocked.structured['kind']).toBe('blocked');
  }
  return { ...run, ...(first.structured['session'] as { sessionId: SessionId; runId: RunId }), start: first };
}
