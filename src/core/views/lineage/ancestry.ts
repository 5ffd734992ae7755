import { assert } from '../../assert.ts';
import type { NodeId } from '../../log/ids.ts';

/**
 * Where a node hangs below its step. `jumpNodeId` leads further up, in strides that double, so that a chain of any
 * length is climbed in a few of them. Ids and not references: what is shared must not be walked twice.
 */
export type Ancestry = {
  readonly nodeId: NodeId;
  /** The node it hangs on; `undefined` for a step. */
  readonly onNodeId: NodeId | undefined;
  readonly depth: number;
  readonly jumpNodeId: NodeId;
};

type Known = { readonly get: (nodeId: NodeId) => Ancestry | undefined };

/** The ancestry of a new node on `on`, or of a step. */
export function ancestryBelow(known: Known, nodeId: NodeId, on?: Ancestry): Ancestry {
  if (on === undefined) return { nodeId, onNodeId: undefined, depth: 0, jumpNodeId: nodeId };
  const jump = ancestryOf(known, on.jumpNodeId);
  const farJump = ancestryOf(known, jump.jumpNodeId);
  // Two equal strides in a row become one of their sum: the numbers are those of a skew-binary counter.
  const isEvenStride = on.depth - jump.depth === jump.depth - farJump.depth;
  return {
    nodeId,
    onNodeId: on.nodeId,
    depth: on.depth + 1,
    jumpNodeId: isEvenStride ? farJump.nodeId : on.nodeId,
  };
}

/** Whether `above` is the node itself or one that it hangs on, near or far. */
export function isAtOrAbove(known: Known, above: NodeId, node: Ancestry): boolean {
  const { depth } = ancestryOf(known, above);
  let at = node;
  while (at.depth > depth && at.onNodeId !== undefined) {
    const jump = ancestryOf(known, at.jumpNodeId);
    at = jump.depth >= depth ? jump : ancestryOf(known, at.onNodeId);
  }
  return at.nodeId === above;
}

function ancestryOf(known: Known, nodeId: NodeId): Ancestry {
  const ancestry = known.get(nodeId);
  assert(ancestry !== undefined, `${nodeId} is not in the log`);
  return ancestry;
}
