import * as z from 'zod';
import { NodeId, snapshotRefSchema, workflowHashSchema } from '../ids.ts';
import { eventSchema, nodeScope } from './event-envelope.ts';

export const NODE_KINDS = ['step', 'checkpoint', 'blocked_attempt'] as const;
export type NodeKind = (typeof NODE_KINDS)[number];

/** A place in the run graph that a token can name, with the snapshot to go on from. */
export const nodeCreatedSchema = eventSchema(
  'node_created',
  nodeScope,
  z.object({
    nodeKind: z.enum(NODE_KINDS),
    parentNodeId: NodeId.schema.nullable(),
    workflowHash: workflowHashSchema,
    snapshotRef: snapshotRefSchema,
  }),
);
