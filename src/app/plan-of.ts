import type { Sha256 } from '../core/json/canonical-bytes.ts';
import { type Placement, placeEvents } from '../core/log/event-draft.ts';
import { sealSnapshot } from '../core/log/execution-snapshot.ts';
import type { AppendPlan } from '../core/log/plan/append-plan.ts';
import type { Decision } from '../core/run/start-run.ts';

/** What the store has to commit for a decision. */
export function planOf(decision: Decision, placement: Placement, sha256: Sha256): AppendPlan {
  return {
    sessionId: placement.sessionId,
    events: placeEvents(decision.drafts, placement, sha256),
    snapshots: new Map([[sealSnapshot(decision.snapshot, sha256).ref, decision.snapshot]]),
    artifacts: new Map(),
  };
}
