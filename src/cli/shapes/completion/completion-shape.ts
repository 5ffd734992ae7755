import * as z from 'zod';
import { commandShape } from '../../command-shape.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

const candidate = z.strictObject({
  value: z.string(),
  /** What it is, on one line. */
  about: z.string(),
});
export type CompletionCandidate = z.infer<typeof candidate>;

const completionData = z.union([
  z.strictObject({ shell: z.enum(SHELLS), script: z.string() }),
  z.strictObject({ shell: z.enum(SHELLS), candidates: z.array(candidate) }),
]);
export type CompletionData = z.infer<typeof completionData>;

/** What `workrail completion --json` prints. */
export const completionShape = commandShape('completion', completionData);
