import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { layout } from '../../src/adapters/file-store/disk/disk.ts';
import { storeOf } from '../../src/adapters/file-store/file-store.ts';
import { resumeSession } from '../../src/app/resume/resume-session.ts';
import type { Services } from '../../src/app/services.ts';
import type { GivenReply } from '../../src/core/log/operation/stored-reply.ts';
import { rankRuns } from '../../src/core/resume/rank-runs.ts';
import { resumeQuestion } from '../../src/core/resume/resume-question.ts';
import { resumeReplyShape } from '../../src/mcp/reply-shapes.ts';
import { enforces } from '../enforces.ts';
import { storeFolder, storePartsIn } from '../store-folder.ts';
import { type GoldenRun, type GoldenStore, goldenStore } from './golden-store.ts';
import { type Asked, naiveRanking, naiveStrong } from './naive-ranking.ts';

const SHOP = '/work/shop';
const QUESTIONS: readonly Asked[] = [
  {},
  { query: ' ' },
  { gitHeadSha: 'a'.repeat(40) },
  { gitHeadSha: 'd'.repeat(64) },
  { gitHeadSha: 'a'.repeat(7) },
  { gitBranch: 'feature/login' },
  { gitBranch: 'feature' },
  { gitBranch: 'main', query: 'login timeout' },
  { gitHeadSha: 'b'.repeat(40), gitBranch: 'feature/login', query: 'login timeout' },
  { query: 'login timeout' },
  { query: 'TIMEOUT of the LOGIN' },
  { query: 'timeout, login! login' },
  { query: 'ｌｏｇｉｎ' },
  { query: 'login-timeout' },
  { query: 'log_in' },
  { query: 'file' },
  { query: 'ﬁle no5' },
  { query: '300 k' },
  { query: 'istanbul' },
  { query: 'na ve' },
  { query: 'ログイン' },
  { query: 'truncated' },
  { query: 'login_fix' },
  { query: 'release' },
  { query: 'release-notes' },
  { query: 'finder caf' },
  { query: 'mend login' },
  { query: 'nowhere' },
  { query: 'q' },
];
const PLACED = QUESTIONS.flatMap((asked) => [
  asked,
  ...[SHOP, '/work/blog', '/tie', '/gone'].map((workspace) => ({ ...asked, workspace })),
]);

let golden: GoldenStore;
beforeAll(async () => {
  golden = await goldenStore();
});

async function answerOf(services: Services, asked: Asked): Promise<GivenReply> {
  const { workspace: folder, ...clues } = asked;
  // Nothing of this machine may add to what is asked.
  const workspace = { observe: async () => [], tree: async () => undefined };
  const reply = (await resumeSession({ ...services, workspace }, { ...clues, workspace: folder }))._unsafeUnwrap();
  expect(resumeReplyShape.safeParse(reply.structured).error).toBeUndefined();
  return reply;
}

type Told = {
  readonly candidates?: readonly { readonly runId: string }[];
  readonly session?: { readonly runId: string };
  readonly resumed?: { readonly others: readonly { readonly runId: string }[] };
};

function namesIn({ structured }: GivenReply, runs: readonly GoldenRun[]) {
  const { candidates, session, resumed } = structured as unknown as Told;
  const name = ({ runId }: { readonly runId: string }) => runs.find((run) => run.runId === runId)?.name;
  return { strong: session && name(session), listed: candidates?.map(name), others: resumed?.others.map(name) };
}

describe('coming back to a store of thirty-six runs', () => {
  it('the ranking cases cover every tier, both numbers of candidates, and clear and unclear answers', () => {
    const { runs, events } = golden;
    expect(runs.length).toBeGreaterThanOrEqual(30);
    const tiers = PLACED.flatMap((asked) => naiveRanking(runs, events, asked).map(({ tier }) => tier));
    expect([...new Set(tiers)].sort()).toEqual([1, 2, 3, 4, 5]);
    expect(new Set(PLACED.map((asked) => naiveStrong(runs, events, asked))).size).toBeGreaterThan(5);
  });

  it.each(PLACED.map((asked) => [JSON.stringify(asked), asked] as const))(
    '%s gives the locked order',
    async (_, asked) => {
      enforces('resume_tiers', 'resume_within_tier_order', 'resume_text_matching', 'resume_corpus_exclusions');
      const { runs, events, engine } = golden;
      const summaries = (await engine.services.sessionIndex.summaries())._unsafeUnwrap();
      const question = resumeQuestion(asked, { workspaces: asked.workspace === undefined ? [] : [asked.workspace] });
      const ranked = rankRuns(summaries, question);
      const named = ranked.map(({ run, tier }) => ({
        name: runs.find(({ runId }) => runId === run.runId)?.name,
        tier,
      }));
      expect(named).toEqual(naiveRanking(runs, events, asked));
    },
  );

  it.each(PLACED.map((asked) => [JSON.stringify(asked), asked] as const))(
    '%s shows the first five, or brings back the one that is surely meant',
    async (_, asked) => {
      enforces('resume_max_candidates', 'resume_strong_match_rehydrates', 'resume_strong_match_is_compact');
      const { runs, events, engine } = golden;
      const order = naiveRanking(runs, events, asked).map(({ name }) => name);
      const isWorkspaceOnly = Object.entries(asked).every(([key, value]) => key === 'workspace' || !value.trim());
      const open = runs.filter(({ root, notes }) => root === asked.workspace && notes.length < 3);
      const onlyOne = isWorkspaceOnly && open.length === 1 ? open[0]?.name : undefined;
      const strong = naiveStrong(runs, events, asked) ?? onlyOne;
      const reply = await answerOf(engine.services, asked);
      const first = order.slice(0, 5);
      expect(namesIn(reply, runs)).toEqual(
        strong === undefined
          ? { strong, listed: first, others: undefined }
          : { strong, listed: undefined, others: first.filter((name) => name !== strong).slice(0, 4) },
      );
      const own = runs.filter(({ root }) => asked.workspace === undefined || root === asked.workspace);
      const hasOwn = first.some((name) => own.some((run) => run.name === name));
      expect(JSON.stringify(reply.structured).includes('snippet')).toBe(strong === undefined && hasOwn);
    },
  );
});

describe('coming back by way of an index', () => {
  const damages: readonly (readonly [string, (root: string) => void])[] = [
    ['as it was written', () => undefined],
    ['deleted', (root) => rmSync(join(root, layout.cache), { recursive: true })],
    ['cut', (root) => truncateSync(join(root, layout.sessionIndex), 3_000)],
    ['older than most of the work', (root) => keepHalf(join(root, layout.sessionIndex))],
    ['full of something else', (root) => appendFileSync(join(root, layout.sessionIndex), '\n{"sum":"x"}\nxx\n')],
  ];

  /** A store with the answers that it gave itself. */
  let stored: { root: string; services: Services; answers: { asked: Asked; reply: GivenReply }[] };
  beforeAll(async () => {
    const root = mkdtempSync(join(tmpdir(), 'workrail-ranking-'));
    const { services } = (await goldenStore(storeOf(storePartsIn(root)))).engine;
    stored = { root, services, answers: [] };
    for (const asked of PLACED.filter((_question, i) => i % 9 === 0)) {
      stored.answers.push({ asked, reply: await answerOf(services, asked) });
    }
  });

  afterAll(() => rmSync(stored.root, { recursive: true }));

  it.each(damages)(
    'resuming through an index that is %s gives the same answers and writes nothing',
    async (_, damage) => {
      enforces('resume_is_read_only', 'resume_healthy_only', 'cache_is_never_truth');
      const folder = storeFolder();
      cpSync(stored.root, folder.root, { recursive: true });
      damage(folder.root);
      const left = filesIn(folder.root);
      const services = { ...stored.services, ...storeOf(folder) };
      for (const { asked, reply } of stored.answers) expect(await answerOf(services, asked)).toEqual(reply);
      expect(filesIn(folder.root)).toEqual(left);
    },
  );
});

/** The index as it was when half of its lines were written: some sessions are missing, others have gone on since. */
function keepHalf(index: string): void {
  const lines = readFileSync(index, 'utf8').split('\n');
  writeFileSync(index, `${lines.slice(0, lines.length >> 1).join('\n')}\n`);
}

function filesIn(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return `${path} ${readFileSync(path).toString('base64')}`;
    })
    .sort();
}
