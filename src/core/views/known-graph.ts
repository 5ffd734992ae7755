import type { KnownGraph } from '../log/plan/plan-graph.ts';
import { attemptCount } from './advance-outcomes.ts';
import { findNode, findRun } from './run-graph.ts';
import type { SessionView } from './session-view.ts';

/** What a further plan may refer to. It follows the view: events applied later are known too. */
export function knownGraph(view: SessionView): KnownGraph {
  return {
    get isEmpty() {
      return view.nextEventIndex === 0;
    },
    hasEvent: (id) => view.knownEvents.has(id),
    run: (id) => findRun(view.graph, id)?.pinned,
    node: (id) => findNode(view.graph, id),
    attempts: (id) => attemptCount(view.advances, id),
    output: (id) => view.outputs.known.get(id),
    gap: (id) => {
      const record = view.gaps.known.get(id);
      return record && { runId: record.scope.runId };
    },
  };
}
