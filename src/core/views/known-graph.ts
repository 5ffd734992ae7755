import type { KnownGraph } from '../log/plan/plan-integrity.ts';
import { findNode, findRun } from './run-graph.ts';
import type { SessionView } from './session-view.ts';

/** What a further plan may refer to. It follows the view: events applied later are known too. */
export function knownGraph(view: SessionView): KnownGraph {
  return {
    get isEmpty() {
      return view.nextEventIndex === 0;
    },
    run: (id) => findRun(view.graph, id)?.pinned,
    node: (id) => findNode(view.graph, id),
    output: (id) => view.outputs.known.get(id),
    hasGap: (id) => view.gaps.known.has(id),
  };
}
