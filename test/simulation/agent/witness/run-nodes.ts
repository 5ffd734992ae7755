import type { EventOf, SessionEvent } from '../../../../src/core/log/event.ts';

export type SeenNode = {
  readonly nodeId: string;
  readonly runId: string;
  readonly kind: EventOf<'node_created'>['data']['nodeKind'];
  readonly parent: SeenNode | undefined;
  readonly snapshotRef: string;
  /** Everything that hangs on the node, in the order of the log. */
  readonly events: SessionEvent[];
};

/** The nodes of all runs, put together from nothing but the events. */
export type RunNodes = { readonly byId: ReadonlyMap<string, SeenNode>; add(events: readonly SessionEvent[]): void };

export function runNodes(): RunNodes {
  const byId = new Map<string, SeenNode>();
  return {
    byId,
    add: (events) => {
      for (const event of events) {
        if (event.kind === 'node_created') {
          const { nodeKind: kind, parentNodeId, snapshotRef } = event.data;
          const parent = parentNodeId === null ? undefined : byId.get(parentNodeId);
          byId.set(event.scope.nodeId, { ...event.scope, kind, parent, snapshotRef, events: [] });
        }
        const at =
          'scope' in event && event.scope !== undefined && 'nodeId' in event.scope ? event.scope.nodeId : undefined;
        if (at !== undefined) byId.get(at)?.events.push(event);
      }
    },
  };
}

/** The step node that a node belongs to: itself, or the one that a blocked attempt or checkpoint hangs on. */
export function stepNodeOf(node: SeenNode): SeenNode {
  return node.kind === 'step' || node.parent === undefined ? node : stepNodeOf(node.parent);
}

/** From the start of the run to the node, step nodes only. */
export function lineOf(node: SeenNode): readonly SeenNode[] {
  const line: SeenNode[] = [];
  for (let at: SeenNode | undefined = node; at !== undefined; at = at.parent) if (at.kind === 'step') line.unshift(at);
  return line;
}

export function eventsAt<Kind extends SessionEvent['kind']>(node: SeenNode, kind: Kind): readonly EventOf<Kind>[] {
  return node.events.filter((event): event is EventOf<Kind> => event.kind === kind);
}

export function hasStepBelow({ byId }: RunNodes, node: SeenNode): boolean {
  return [...byId.values()].some((one) => one.kind === 'step' && one !== node && isAbove(node, one));
}

function isAbove(node: SeenNode, other: SeenNode): boolean {
  for (let at: SeenNode | undefined = other; at !== undefined; at = at.parent) if (at === node) return true;
  return false;
}
