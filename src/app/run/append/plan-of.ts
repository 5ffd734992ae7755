import type { Sha256 } from '../../../core/json/canonical-bytes.ts';
import { type Placement, placeEvents } from '../../../core/log/event-draft.ts';
import type { ArtifactDigest } from '../../../core/log/ids.ts';
import type { AppendPlan } from '../../../core/log/plan/append-plan.ts';
import { addContentRefs, noContentRefs } from '../../../core/log/plan/content-refs.ts';
import type { Decision } from '../../../core/run/decide/decision.ts';

/** Where a decision goes, with the bytes of artifacts that it may name. */
export type PlanPlacement = Placement & { readonly artifacts?: ReadonlyMap<ArtifactDigest, Uint8Array> };

/** What the store has to commit for a decision. */
export function decisionPlan(decision: Decision, placement: PlanPlacement, sha256: Sha256): AppendPlan {
  const { artifacts, ...place } = placement;
  const events = placeEvents(decision.drafts, place, sha256);
  const named = noContentRefs();
  for (const event of events) addContentRefs(named, event);
  return {
    sessionId: placement.sessionId,
    events,
    snapshots: new Map([...named.snapshots].map((ref) => [ref, decision.snapshot])),
    artifacts: new Map([...(artifacts ?? [])].filter(([digest]) => named.artifacts.has(digest))),
  };
}
