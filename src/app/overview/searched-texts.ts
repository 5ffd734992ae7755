import { quote } from '../../core/json/quote.ts';
import type { SessionHealth } from '../../core/log/health.ts';
import type { NodeId, RunId, SessionId } from '../../core/log/ids.ts';
import { contextValueAt } from '../../core/views/context.ts';
import { currentOutputs } from '../../core/views/current-outputs.ts';
import type { SessionView } from '../../core/views/session-view.ts';
import type { ReadServices } from '../services.ts';
import { readOutputs } from '../sessions/read-outputs.ts';

/** Where words are looked for; of equal finds the first kind counts most. */
export const SEARCHED_KINDS = ['goal', 'note', 'artifact'] as const;

type SearchedText = {
  readonly kind: (typeof SEARCHED_KINDS)[number];
  readonly runId: RunId;
  readonly dueAt: NodeId | undefined;
  readonly text: string;
};

/** All that a session says, and what of it cannot be read. */
export type SearchedTexts = {
  readonly view: SessionView;
  readonly texts: readonly SearchedText[];
  readonly unreadable: number;
  readonly health: SessionHealth;
};

/** What was turned down or corrected is not searched: it is not what the session says. */
export async function searchedTexts(
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
    // What a step holds was handed in for the one above.
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
