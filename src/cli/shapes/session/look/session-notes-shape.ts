import * as z from 'zod';
import { commandShape } from '../../../command-shape.ts';
import { entryShape, runHead, sessionHead } from '../../../sessions/session-shapes.ts';

const sessionNotesData = z.strictObject({
  ...sessionHead,
  /** Each with what its line holds that goes on, in order. */
  runs: z.array(z.strictObject({ ...runHead, entries: z.array(entryShape) })),
});
export type SessionNotesData = z.infer<typeof sessionNotesData>;

/** What `workrail session notes --json` prints. */
export const sessionNotesShape = commandShape('session notes', sessionNotesData);
