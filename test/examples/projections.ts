import { summariseSession } from '../../src/adapters/file-store/index/entry-makers.ts';
import type { Services } from '../../src/app/services.ts';
import { PRESETS } from '../../src/core/log/autonomy.ts';
import type { SessionId } from '../../src/core/log/ids.ts';
import type { SessionView } from '../../src/core/views/session-view.ts';
import { viewSummary } from '../simulation/view-summary.ts';

type Stores = Pick<Services, 'sessions' | 'snapshots' | 'pinnedWorkflows'>;

/** Everything that views and summaries say about a session, without its id. */
export async function projections(stores: Stores, sessionId: SessionId) {
  const session = (await stores.sessions.load(sessionId))._unsafeUnwrap();
  const { sessionId: _, ...summary } = (await summariseSession(session, stores))._unsafeUnwrap();
  return { views: await viewsOf(stores, session.view), summary };
}

/** The same for the readable start of a damaged or partial session. */
export async function prefixProjections(stores: Stores, sessionId: SessionId) {
  return viewsOf(stores, (await stores.sessions.loadValidPrefix(sessionId))._unsafeUnwrap().view);
}

async function viewsOf({ snapshots }: Stores, view: SessionView) {
  const known = new Map();
  for (const { snapshotRef } of view.graph.nodes.values()) {
    known.set(snapshotRef, (await snapshots.get(snapshotRef))._unsafeUnwrap());
  }
  return viewSummary(view, { snapshotOf: (ref: string) => known.get(ref), defaults: PRESETS.guided });
}
