import * as z from 'zod';
import { EventId, NodeId } from '../ids.ts';
import { eventSchema, runScope } from './event-envelope.ts';

export const EDGE_KINDS = ['acked_step', 'checkpoint'] as const;
export type EdgeKind = (typeof EDGE_KINDS)[number];

/** Why an `acked_step` edge exists. */
const ADVANCE_CAUSES = ['tip_advance', 'non_tip_advance', 'intentional_fork', 'idempotent_replay'] as const;
export type EdgeCause = (typeof ADVANCE_CAUSES)[number] | 'checkpoint_created';

/** Causes that a log may hold and that no append may bring. */
export const READ_ONLY_CAUSES: readonly EdgeCause[] = ['intentional_fork', 'idempotent_replay'];

/** A step taken or a checkpoint made. A fork is an ordinary edge whose cause says so. */
export const edgeCreatedSchema = eventSchema(
  'edge_created',
  runScope,
  z.discriminatedUnion('edgeKind', [
    z.object({
      edgeKind: z.literal('acked_step'),
      fromNodeId: NodeId.schema,
      toNodeId: NodeId.schema,
      cause: z.object({ kind: z.enum(ADVANCE_CAUSES), eventId: EventId.schema }),
    }),
    z.object({
      edgeKind: z.literal('checkpoint'),
      fromNodeId: NodeId.schema,
      toNodeId: NodeId.schema,
      cause: z.object({ kind: z.literal('checkpoint_created'), eventId: EventId.schema }),
    }),
  ]),
);
