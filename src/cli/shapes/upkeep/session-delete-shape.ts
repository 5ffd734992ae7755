import * as z from 'zod';
import { ERROR_CODES } from '../../../core/log/error-envelope.ts';
import { SessionId } from '../../../core/log/ids.ts';
import { commandShape } from '../../command-shape.ts';

const sessionDeleteData = z.union([
  z.strictObject({
    deleted: z.array(SessionId.schema),
    /** What could not be deleted, and by which error. */
    failed: z.array(z.strictObject({ sessionId: SessionId.schema, code: z.enum(ERROR_CODES) })),
  }),
  z.strictObject({ restored: z.array(SessionId.schema) }),
  /** What can be brought back. */
  z.strictObject({ bin: z.array(z.strictObject({ sessionId: SessionId.schema, deletedAtMs: z.int().min(0) })) }),
]);
export type SessionDeleteData = z.infer<typeof sessionDeleteData>;

/** What `workrail session delete --json` prints. */
export const sessionDeleteShape = commandShape('session delete', sessionDeleteData);
