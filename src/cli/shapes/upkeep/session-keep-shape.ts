import * as z from 'zod';
import { SessionId } from '../../../core/log/ids.ts';
import { commandShape } from '../../command-shape.ts';

const sessionKeepData = z.strictObject({
  sessions: z.array(z.strictObject({ sessionId: SessionId.schema, isKept: z.boolean() })),
});
export type SessionKeepData = z.infer<typeof sessionKeepData>;

/** What `workrail session keep --json` prints. */
export const sessionKeepShape = commandShape('session keep', sessionKeepData);
