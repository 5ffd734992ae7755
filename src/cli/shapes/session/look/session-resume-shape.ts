import * as z from 'zod';
import { RunId, SessionId } from '../../../../core/log/ids.ts';
import { commandShape } from '../../../command-shape.ts';
import { placeShape } from '../../../sessions/session-shapes.ts';

const openSession = z.strictObject({
  sessionId: SessionId.schema,
  shortId: z.string(),
  state: z.enum(['running', 'blocked']),
  title: z.string().exactOptional(),
});
export type OpenSessionData = z.infer<typeof openSession>;

const sessionResumeData = z.strictObject({
  sessionId: SessionId.schema,
  runId: RunId.schema,
  /** What a new chat comes back to. */
  place: placeShape,
  /** Whether the run has gone further than that. */
  isEarlier: z.boolean(),
  /** What else is open in this folder; told when no session was named. */
  alsoOpen: z.array(openSession).exactOptional(),
  /** Text to paste into a new chat. */
  prompt: z.string(),
  /** The call that it asks for. */
  call: z.discriminatedUnion('tool', [
    z.strictObject({
      tool: z.literal('resume_session'),
      arguments: z.strictObject({ sessionId: z.string(), runId: z.string() }),
    }),
    z.strictObject({
      tool: z.literal('continue_workflow'),
      arguments: z.strictObject({ stateToken: z.string() }),
    }),
  ]),
});
export type SessionResumeData = z.infer<typeof sessionResumeData>;

/** What `workrail session resume --json` prints. */
export const sessionResumeShape = commandShape('session resume', sessionResumeData);
