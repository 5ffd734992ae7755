import { err, ok, type Result } from 'neverthrow';
import type { SessionHealth } from '../../core/log/health.ts';
import type { NodeId, RunId } from '../../core/log/ids.ts';
import { type DuePlace, duePlace } from '../../core/sessions/due-step.ts';
import { brokenState } from '../../core/sessions/session-state.ts';
import { snippetOf, wordsIn } from '../../core/text/search-words.ts';
import { nodeOf } from '../../core/views/run-graph.ts';
import type { SessionSummary } from '../../core/views/session-summary.ts';
import type { SessionView } from '../../core/views/session-view.ts';
import { SEARCHED_KINDS, type SearchedTexts, searchedTexts } from '../overview/searched-texts.ts';
import type { StoredSession } from '../ports/session-index.ts';
import type { StoreFailure } from '../ports/store-failure.ts';
import type { ReadServices } from '../services.ts';
import { type ListServices, newestSessions } from './list-sessions.ts';

export type SearchServices = ListServices &
  Pick<ReadServices, 'sessions' | 'artifacts' | 'snapshots' | 'pinnedWorkflows'>;

export type SearchRequest = {
  /** As `searchWords` gives them. */
  readonly words: readonly string[];
  /** How many sessions are read; those that the index already finds are among them whatever their number. */
  readonly readMax: number;
};

/** A place where words were found. */
export type SearchHit = {
  readonly kind: (typeof SEARCHED_KINDS)[number];
  readonly runId: RunId;
  /** The step that it was handed in with; a goal has none. */
  readonly place: DuePlace | undefined;
  readonly words: readonly string[];
  readonly snippet: string;
};

export type FoundSession = {
  readonly stored: StoredSession;
  /** The best places, best first. */
  readonly hits: readonly SearchHit[];
  readonly goal: string | undefined;
  /** Only the valid beginning of one that is not healthy was searched. */
  readonly health: SessionHealth;
};

export type SearchResult = {
  /** Best first. */
  readonly found: readonly FoundSession[];
  readonly searched: number;
  readonly total: number;
  /** Sessions of which nothing could be read, or only the beginning, and artifacts of all others. */
  readonly unreadable: { readonly sessions: number; readonly ends: number; readonly artifacts: number };
};

type Progress = (progress: { readonly done: number; readonly total: number }) => void;

/**
 * Sessions that hold every word, in their goals, notes and artifacts of all branches. The index tells where to look
 * first; it knows only the newest notes, so further sessions are read, newest first, as many as were asked for.
 */
export async function searchSessions(
  services: SearchServices,
  { words, readMax }: SearchRequest,
  onProgress: Progress = () => undefined,
): Promise<Result<SearchResult, StoreFailure>> {
  const stored = await newestSessions(services);
  if (stored.isErr()) return err(stored.error);
  const likely = stored.value.filter(({ summary }) => isLikely(summary, words));
  const rest = stored.value.filter((one) => !likely.includes(one));
  const read = [...likely, ...rest.slice(0, Math.max(0, readMax - likely.length))];
  const found: RankedFind[] = [];
  const unreadable = { sessions: 0, ends: 0, artifacts: 0 };
  for (const [done, one] of read.entries()) {
    onProgress({ done, total: read.length });
    const texts = await searchedTexts(services, one.sessionId);
    const isDamaged = texts !== undefined && brokenState(texts.health) === 'damaged';
    if (texts === undefined || (isDamaged && texts.view.nextEventIndex === 0)) unreadable.sessions += 1;
    else {
      if (isDamaged) unreadable.ends += 1;
      unreadable.artifacts += texts.unreadable;
      const find = await findIn(services, { stored: one, texts, words });
      if (find !== undefined) found.push(find);
    }
  }
  // The order of the list is kept among equals: newest first.
  const order = new Map(stored.value.map(({ sessionId }, i) => [sessionId, i]));
  const place = ({ session }: RankedFind) => order.get(session.stored.sessionId) ?? 0;
  found.sort((a, b) => a.tier - b.tier || place(a) - place(b));
  return ok({
    found: found.map(({ session }) => session),
    searched: read.length - unreadable.sessions,
    total: stored.value.length,
    unreadable,
  });
}

function isLikely(summary: SessionSummary | undefined, words: readonly string[]): boolean {
  return (summary?.runs ?? []).some(({ goal = '', recapTokens }) => {
    const inGoal = wordsIn(goal, words);
    return words.every((word) => inGoal.includes(word) || recapTokens.some((token) => token.includes(word)));
  });
}

type RankedFind = { readonly tier: number; readonly session: FoundSession };

const HITS_MAX = 3;
/** Behind what has all words in one place. */
const SPREAD_TIER = SEARCHED_KINDS.length;

type Looked = { readonly stored: StoredSession; readonly texts: SearchedTexts; readonly words: readonly string[] };

async function findIn(services: SearchServices, { stored, texts, words }: Looked): Promise<RankedFind | undefined> {
  const hits = texts.texts
    .map((text, i) => ({ text, i, words: wordsIn(text.text, words) }))
    .filter((hit) => hit.words.length > 0);
  const all = new Set(hits.flatMap((hit) => hit.words));
  if (all.size < words.length) return undefined;
  const rank = (kind: SearchHit['kind']) => SEARCHED_KINDS.indexOf(kind);
  // Of equal places the newest says most.
  hits.sort((a, b) => b.words.length - a.words.length || rank(a.text.kind) - rank(b.text.kind) || b.i - a.i);
  const [best] = hits;
  if (best === undefined) return undefined;
  const shown: SearchHit[] = [];
  for (const { text, words: here } of hits.slice(0, HITS_MAX)) {
    const { kind, runId, dueAt } = text;
    const place = dueAt === undefined ? undefined : await placeAt(services, texts.view, dueAt);
    shown.push({ kind, runId, place, words: here, snippet: snippetOf(text.text, here) });
  }
  const goal = texts.texts.find(({ kind }) => kind === 'goal')?.text;
  const tier = best.words.length === words.length ? rank(best.text.kind) : SPREAD_TIER;
  return { tier, session: { stored, hits: shown, goal, health: texts.health } };
}

async function placeAt(
  { snapshots, pinnedWorkflows }: SearchServices,
  { graph }: SessionView,
  nodeId: NodeId,
): Promise<DuePlace> {
  const { snapshotRef, workflowHash } = nodeOf(graph, nodeId);
  const snapshot = await snapshots.get(snapshotRef);
  const workflow = await pinnedWorkflows.get(workflowHash);
  return snapshot.isErr() ? { kind: 'untold' } : duePlace(snapshot.value, { workflow: workflow.unwrapOr(undefined) });
}
