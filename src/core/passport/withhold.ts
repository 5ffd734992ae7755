import type { SessionEvent } from '../log/event.ts';
import type { ExecutionSnapshot } from '../log/execution-snapshot.ts';
import type { SnapshotRef } from '../log/ids.ts';
import type { WithheldKind } from './passport.ts';

/** What the exporter wants to keep out: kinds of content, and single events by their index. */
export type Withholding = { readonly kinds: readonly WithheldKind[]; readonly events: readonly number[] };

/**
 * The events that a passport must not show. Besides what was asked for, these are the events that repeat it, and those
 * with a hash of it: somebody could guess short notes, and see from the hash whether the guess is right.
 */
export function withheldEvents(
  events: readonly SessionEvent[],
  snapshots: ReadonlyMap<SnapshotRef, ExecutionSnapshot>,
  { kinds, events: named }: Withholding,
): ReadonlySet<number> {
  const withheld = new Set(named);
  for (const event of events) {
    if (kinds.some((kind) => holds(kind, event, snapshots))) withheld.add(event.eventIndex);
  }
  // The digest that a person approves, and the digest of what was sent, are hashes of notes, context and artifacts.
  const isContentWithheld = events.some(
    ({ kind, eventIndex }) => withheld.has(eventIndex) && (kind === 'node_output_appended' || kind === 'context_set'),
  );
  for (const event of events) if (isContentWithheld && hashesContent(event)) withheld.add(event.eventIndex);
  return withheld;
}

function holds(
  kind: WithheldKind,
  event: SessionEvent,
  snapshots: ReadonlyMap<SnapshotRef, ExecutionSnapshot>,
): boolean {
  switch (kind) {
    case 'notes':
      return hasText(event) || (event.kind === 'node_output_appended' && event.data.outputChannel === 'recap');
    case 'artifacts':
      return (
        hasText(event) ||
        isCheck(event) ||
        (event.kind === 'node_output_appended' && event.data.outputChannel === 'artifact')
      );
    case 'context':
      return hasText(event) || isCheck(event) || event.kind === 'context_set' || hasItems(event, snapshots);
    default:
      return event.kind === 'observation_recorded' || isCheck(event);
  }
}

/** Texts that the engine or the agent wrote about the content. */
function hasText(event: SessionEvent): boolean {
  return (
    ['decision_trace_appended', 'divergence_recorded', 'gap_recorded'].includes(event.kind) || hashesContent(event)
  );
}

function hashesContent(event: SessionEvent): boolean {
  if (event.kind === 'advance_recorded') return true;
  return event.kind === 'attestation_recorded' && event.data.subject.kind === 'attempt';
}

/** A run of a command: it has the command with the values in it, and the digest of what was printed. */
function isCheck(event: SessionEvent): boolean {
  return event.kind === 'attestation_recorded' && event.data.subject.kind === 'step';
}

/** A snapshot keeps the items of an open loop, which are context, and a node names it by its hash. */
function hasItems(event: SessionEvent, snapshots: ReadonlyMap<SnapshotRef, ExecutionSnapshot>): boolean {
  if (event.kind !== 'node_created') return false;
  const engine = snapshots.get(event.data.snapshotRef)?.enginePayload.state;
  return engine?.kind === 'running' && engine.loopStack.some(({ items }) => items !== undefined);
}
