import { err, ok } from 'neverthrow';
import { vi } from 'vitest';
import type { AuthorServices } from '../../src/app/author/author-services.ts';
import type { LocalServices } from '../../src/app/clients/local-services.ts';
import type { LoadRefusal } from '../../src/app/ports/session-store.ts';
import type { StoreFailure } from '../../src/app/ports/store-failure.ts';
import type { SessionAudit } from '../../src/app/ports/upkeep.ts';
import type { SourceServices } from '../../src/app/ports/workflow-sources.ts';
import type { UpkeepServices } from '../../src/app/services.ts';
import { runCommand } from '../../src/cli/main.ts';
import type {
  AnswerAccess,
  ApproverAccess,
  Ask,
  AttestAccess,
  BundleAccess,
  DemoStage,
  PassportAccess,
  Program,
  ServeOptions,
  SessionAccess,
} from '../../src/cli/program.ts';
import { assert } from '../../src/core/assert.ts';
import type { SessionId } from '../../src/core/log/ids.ts';
import { sessionRow } from '../../src/core/sessions/board-rows.ts';
import { NO_MARKS } from '../../src/core/sessions/session-state.ts';
import type { SessionSummary } from '../../src/core/sessions/session-summary.ts';
import { checkedView, foldEvents } from '../../src/core/views/session-view.ts';
import { SESSION } from '../examples/ids.ts';
import { SESSION_EVENTS } from '../examples/session.ts';
import { withoutProgress } from './without-progress.ts';

const noTeam = async () => assert(false, 'this world has no team') as never;
const NO_TEAM = { team: noTeam, serveTeam: noTeam, connect: noTeam, signIn: noTeam, signOut: noTeam };

type World = {
  readonly argv: readonly string[];
  readonly env?: Program['env'];
  /** Streams that are a terminal. Default: none. */
  readonly terminals?: readonly ('input' | 'output' | 'error')[];
  /** The width of the terminal. */
  readonly columns?: number;
  /** What the user types for `workrail`. */
  readonly calledAs?: string;
  /** Stored sessions with their audits. Only the example session can be read. */
  readonly audits?: readonly SessionAudit[];
  /** The summaries in the index. */
  readonly summaries?: readonly SessionSummary[];
  readonly listFails?: StoreFailure;
  /** Called before each audit. */
  readonly onAudit?: () => void;
  /** Called before a session is read. */
  readonly onLoad?: () => void;
  /** Exports and imports. */
  readonly bundleAccess?: BundleAccess;
  /** The stage of the demo. */
  readonly demoStage?: DemoStage;
  /** What an author works with. */
  readonly author?: AuthorServices;
  /** The sessions to view. */
  readonly sessionAccess?: SessionAccess;
  /** The machine that is being set up. */
  readonly setup?: LocalServices;
  /** The keys that sign and check. */
  readonly passports?: PassportAccess;
  /** Answers questions at the terminal. */
  readonly ask?: Partial<Ask>;
  readonly configProblems?: readonly string[];
  /** What changes and removes sessions. */
  readonly upkeep?: UpkeepServices;
  readonly answers?: AnswerAccess | undefined;
  readonly attest?: AttestAccess | undefined;
  readonly approvers?: ApproverAccess;
  /** The user's sources. */
  readonly sources?: SourceServices;
  /** The outcome of starting a server. */
  readonly serve?: (how: ServeOptions) => Awaited<ReturnType<Program['serve']>>;
  /** A bug to provoke, to see how it is reported. */
  readonly bug?: Error;
};

const unasked = async (): Promise<undefined> => {
  throw new Error('this was not to be asked');
};
const NOBODY_ASKED: Ask = { choose: unasked, confirm: unasked, pick: unasked, write: unasked, secret: unasked };

function fakeServers(world: World, calls: string[]): Pick<Program, 'console' | 'serve'> {
  return {
    console: async () =>
      ok({ newLink: () => 'http://127.0.0.1:7434/#code', openBrowser: async () => false, onEnter: () => undefined }),
    serve: async (how) => {
      calls.push('serve');
      return world.serve?.(how) ?? ok({});
    },
  };
}

type Ran = {
  readonly exitCode: number | undefined;
  readonly out: string;
  readonly talk: string;
  readonly calls: string[];
};

/** Runs a command line against a program without process, files or server. */
export async function runFake(world: World): Promise<Ran> {
  const { argv, env = {}, terminals = [] } = world;
  const ran = { out: '', talk: '' };
  const calls: string[] = [];
  const sessionAccess = async () => {
    assert(world.sessionAccess !== undefined, 'this world has nothing to look at');
    return world.sessionAccess;
  };
  const exitCode = await runCommand({
    version: '1.2.3',
    argv,
    env,
    terminal: {
      isInput: () => terminals.includes('input'),
      isOutput: () => terminals.includes('output'),
      isError: () => terminals.includes('error'),
      columns: () => world.columns,
    },
    write: (text) => {
      ran.out += text;
    },
    writeError: (text) => {
      ran.talk += text;
    },
    calledAs: () => world.calledAs ?? 'workrail',
    dataDir: async () => '/data/workrail',
    store: async () => {
      calls.push('store');
      if (world.bug !== undefined) throw world.bug;
      return fakeStore(world);
    },
    approvers: async () => world.approvers ?? (assert(false, 'nobody signs in this world') as never),
    ...NO_TEAM,
    demoStage: async () => {
      assert(world.demoStage !== undefined, 'this world has no theatre');
      return world.demoStage;
    },
    author: async () => {
      assert(world.author !== undefined, 'nobody writes workflows in this world');
      return world.author;
    },
    sessionListAccess: sessionAccess,
    sessionAccess,
    sources: async () => world.sources ?? (assert(false, 'this world has no sources') as never),
    attest: async () => {
      assert(world.attest !== undefined, 'nobody runs checks in this world');
      return world.attest;
    },
    answers: async () => {
      assert(world.answers !== undefined, 'nobody answers in this world');
      return world.answers;
    },
    upkeep: async () => {
      assert(world.upkeep !== undefined, 'nobody looks after sessions in this world');
      return world.upkeep;
    },
    bundleAccess: async () => {
      calls.push('bundleAccess');
      assert(world.bundleAccess !== undefined, 'this world exchanges nothing');
      return world.bundleAccess;
    },
    passports: async () => world.passports ?? (assert(false, 'this world has no keys') as never),
    setup: async () => {
      assert(world.setup !== undefined, 'this world sets nothing up');
      return world.setup;
    },
    ask: async () => {
      assert(world.ask !== undefined, 'nobody is asked in this world');
      return { ...NOBODY_ASKED, ...world.ask };
    },
    configProblems: async () => world.configProblems ?? [],
    ...fakeServers(world, calls),
  });
  // Tests about progress turn the clock themselves.
  return { exitCode, ...ran, talk: vi.isFakeTimers() ? ran.talk : withoutProgress(ran.talk), calls };
}

function fakeStore({
  audits = [],
  summaries = [],
  listFails,
  onAudit,
  onLoad,
}: World): Awaited<ReturnType<Program['store']>> {
  const notThere = (sessionId: SessionId) => err<never, LoadRefusal>({ code: 'session_not_found', sessionId });
  return {
    sessions: {
      list: async () => (listFails === undefined ? ok(audits.map(({ sessionId }) => sessionId)) : err(listFails)),
      makeDurable: async () => true,
      load: async (sessionId) => notThere(sessionId),
      loadValidPrefix: async (sessionId) => {
        onLoad?.();
        return sessionId === SESSION
          ? ok({ ...checkedView(foldEvents(SESSION_EVENTS), { kind: 'healthy' }), sessionId })
          : notThere(sessionId);
      },
      storedReply: async (sessionId) => notThere(sessionId),
    },
    sessionIndex: {
      summarise: () => Promise.reject(new Error('nothing is summarised here')),
      summaries: async () => ok(summaries),
      inspect: async (stored) => ok({ ...stored, health: { kind: 'healthy' } }),
      sessions: async () => {
        if (listFails !== undefined) return err(listFails);
        const summaryOf = (id: SessionId) => summaries.find(({ sessionId }) => sessionId === id);
        return ok(
          audits.map(({ sessionId }) => {
            const summary = summaryOf(sessionId);
            const health = summary === undefined ? undefined : ({ kind: 'healthy' } as const);
            return sessionRow({ sessionId, summary, health, marks: NO_MARKS });
          }),
        );
      },
    },
    audit: {
      audit: async (sessionId) => {
        onAudit?.();
        const audit = audits.find((one) => one.sessionId === sessionId);
        assert(audit !== undefined, `${sessionId} is not stored`);
        return ok(audit);
      },
    },
  };
}
