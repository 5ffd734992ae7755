import { err, ok, type Result } from 'neverthrow';
import type { OnProgress } from '../../core/flow.ts';
import { quote } from '../../core/json/json-value.ts';
import type { SessionHealth } from '../../core/log/health.ts';
import type { NodeId, RunId, SessionId } from '../../core/log/ids.ts';
import type { SessionRow } from '../../core/sessions/board-rows.ts';
import { type DuePlace, duePlace } from '../../core/sessions/due-step.ts';
import { brokenState } from '../../core/sessions/session-state.ts';
import type { SessionSummary } from '../../core/sessions/session-summary.ts';
import { hasWordCode, snippetOf, textTokens, wordCode, wordsIn } from '../../core/text/search-words.ts';
import { contextValueAt } from '../../core/views/lineage.ts';
import { currentOutputs } from '../../core/views/node-facts.ts';
import { nodeOf } from '../../core/views/run-graph.ts';
import type { SessionView } from '../../core/views/session-view.ts';
import type { StoreFailure } from '../ports/store-failure.ts';
import type { ReadServices } from '../services.ts';
import { readOutputs } from './read-outputs.ts';
import { type ListServices, sessionBoard } from './session-board.ts';

/** What is searched. Among equal hits, the first kind ranks highest. */
export const SEARCHED_KINDS = ['goal', 'note', 'artifact'] as const;

type SearchedText = {
  readonly kind: (typeof SEARCHED_KINDS)[number];
  readonly runId: RunId;
  readonly dueAt: NodeId | undefined;
  readonly text: string;
};

/** The searchable texts of a session, and the number of unreadable ones. */
type SearchedTexts = {
  readonly view: SessionView;
  readonly texts: readonly SearchedText[];
  readonly unreadable: number;
  readonly health: SessionHealth;
};

/** Blocked and corrected outputs are not searched. */
async function searchedTexts(
  services: Pick<ReadServices, 'sessions' | 'artifacts'>,
  sessionId: SessionId,
): Promise<SearchedTexts | undefined> {
  const prefix = await services.sessions.loadValidPrefix(sessionId);
  if (prefix.isErr()) return undefined;
  const { view } = prefix.value;
  const texts: SearchedText[] = [];
  let unreadable = 0;
  for (const { runId, rootNodeId } of view.graph.runs.values()) {
    const goal = rootNodeId === undefined ? undefined : contextValueAt(view.context, rootNodeId, 'goal');
    if (typeof goal === 'string') texts.push({ kind: 'goal', runId, dueAt: undefined, text: goal });
  }
  for (const { nodeId, runId, kind, parentNodeId } of view.graph.nodes.values()) {
    // The outputs on a step node were sent for the step above.
    const dueAt = kind === 'step' ? (parentNodeId ?? nodeId) : nodeId;
    for (const output of await readOutputs(services.artifacts, currentOutputs(view.outputs, nodeId))) {
      if (output.kind === 'note') texts.push({ kind: 'note', runId, dueAt, text: output.text });
      else if (output.value === undefined) unreadable += 1;
      else texts.push({ kind: 'artifact', runId, dueAt, text: quote(output.value) });
    }
  }
  const health = prefix.value.kind === 'whole' ? ({ kind: 'healthy' } as const) : prefix.value.health;
  return { view, texts, unreadable, health };
}

type SearchServices = ListServices & Pick<ReadServices, 'sessions' | 'artifacts' | 'snapshots' | 'pinnedWorkflows'>;

export type SearchRequest = {
  /** As `searchWords` returns them. */
  readonly words: readonly string[];
  /** How many sessions to read. Those that the index finds are always read. */
  readonly readMax: number;
  /** Stops once so many were found: a common word may be in all of them. */
  readonly foundMax?: number;
  /** Hears of each session as soon as it is found; the best have tier 0. */
  readonly onFound?: (found: FoundSession, tier: number) => void;
};

/** A place where words were found. */
export type SearchHit = {
  readonly kind: (typeof SEARCHED_KINDS)[number];
  readonly runId: RunId;
  /** The step that it was sent for; a goal has none. */
  readonly place: DuePlace | undefined;
  readonly words: readonly string[];
  readonly snippet: string;
};

export type FoundSession = {
  readonly row: SessionRow;
  /** Best first. */
  readonly hits: readonly SearchHit[];
  readonly goal: string | undefined;
  /** Of an unhealthy session only the valid start was searched. */
  readonly health: SessionHealth;
};

export type SearchResult = {
  /** Best first. */
  readonly found: readonly FoundSession[];
  readonly searched: number;
  readonly total: number;
  /** Unreadable sessions, sessions of which only the start is readable, and unreadable artifacts in the others. */
  readonly unreadable: { readonly sessions: number; readonly ends: number; readonly artifacts: number };
};

/**
 * Finds sessions that contain every word in their goals, notes and artifacts, on all branches. Sessions that match in
 * the index are read first. The index only knows the newest notes, so further sessions are read, newest first, up to
 * the limit.
 */
export async function searchSessions(
  services: SearchServices,
  { words, readMax, foundMax = Number.POSITIVE_INFINITY, onFound }: SearchRequest,
  onProgress: OnProgress = () => undefined,
): Promise<Result<SearchResult, StoreFailure>> {
  const board = await sessionBoard(services);
  if (board.isErr()) return err(board.error);
  const { rows } = board.value;
  const codes = words.map((word) => ({ word, codes: textTokens(word).map(wordCode) }));
  const likely = new Set(rows.filter(({ summary }) => isLikely(summary, codes)));
  const rest = rows.filter((one) => !likely.has(one));
  const read = [...likely, ...rest.slice(0, Math.max(0, readMax - likely.size))];
  const found: RankedFind[] = [];
  const unreadable = { sessions: 0, ends: 0, artifacts: 0 };
  let looked = 0;
  for (const one of read) {
    if (found.length >= foundMax) break;
    onProgress({ done: looked, total: read.length });
    looked += 1;
    const texts = await searchedTexts(services, one.sessionId);
    const isDamaged = texts !== undefined && brokenState(texts.health) === 'damaged';
    if (texts === undefined || (isDamaged && texts.view.nextEventIndex === 0)) unreadable.sessions += 1;
    else {
      if (isDamaged) unreadable.ends += 1;
      unreadable.artifacts += texts.unreadable;
      const find = await findIn(services, { row: one, texts, words });
      if (find === undefined) continue;
      found.push(find);
      onFound?.(find.session, find.tier);
    }
  }
  // Equal hits stay in list order: newest first.
  const order = new Map(rows.map(({ sessionId }, i) => [sessionId, i]));
  const place = ({ session }: RankedFind) => order.get(session.row.sessionId) ?? 0;
  found.sort((a, b) => a.tier - b.tier || place(a) - place(b));
  return ok({
    found: found.map(({ session }) => session),
    searched: looked - unreadable.sessions,
    total: rows.length,
    unreadable,
  });
}

type CodedWord = { readonly word: string; readonly codes: readonly string[] };

/** The index knows the goals, and which whole words they and the newest notes have. */
function isLikely(summary: SessionSummary | undefined, coded: readonly CodedWord[]): boolean {
  const words = coded.map(({ word }) => word);
  return (summary?.runs ?? []).some(({ goal = '', wordCodes }) => {
    const inGoal = wordsIn(goal, words);
    const isKnown = ({ codes }: CodedWord) => codes.length > 0 && codes.every((code) => hasWordCode(wordCodes, code));
    return coded.every((one) => inGoal.includes(one.word) || isKnown(one));
  });
}

type RankedFind = { readonly tier: number; readonly session: FoundSession };

const HITS_MAX = 3;
/** Ranks after sessions that have all words in one text. */
const SPREAD_TIER = SEARCHED_KINDS.length;

type SearchedSession = {
  readonly row: SessionRow;
  readonly texts: SearchedTexts;
  readonly words: readonly string[];
};

async function findIn(
  services: SearchServices,
  { row, texts, words }: SearchedSession,
): Promise<RankedFind | undefined> {
  const hits = texts.texts
    .map((text, i) => ({ text, i, words: wordsIn(text.text, words) }))
    .filter((hit) => hit.words.length > 0);
  const all = new Set(hits.flatMap((hit) => hit.words));
  if (all.size < words.length) return undefined;
  const rank = (kind: SearchHit['kind']) => SEARCHED_KINDS.indexOf(kind);
  // Of equal texts, the newest ranks first.
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
  return { tier, session: { row, hits: shown, goal, health: texts.health } };
}

async function placeAt(
  { snapshots, pinnedWorkflows }: SearchServices,
  { graph }: SessionView,
  nodeId: NodeId,
): Promise<DuePlace> {
  const { snapshotRef, workflowHash, stepNumber } = nodeOf(graph, nodeId);
  const snapshot = await snapshots.get(snapshotRef);
  const workflow = await pinnedWorkflows.get(workflowHash);
  if (snapshot.isErr()) return { kind: 'untold' };
  return duePlace(snapshot.value, { workflow: workflow.unwrapOr(undefined), stepNumber });
}
