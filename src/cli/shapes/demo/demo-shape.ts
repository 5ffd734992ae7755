import * as z from 'zod';
import { commandShape } from '../../command-shape.ts';

const demoData = z.strictObject({
  /** The tag of the run that was played. */
  run: z.string(),
  calls: z.int().min(1),
  /** Whether the call that was repeated got the same answer. */
  isRepeatEqual: z.boolean(),
  /** Where it is kept, if it is. */
  dataDir: z.string().exactOptional(),
});
export type DemoData = z.infer<typeof demoData>;

/** What `workrail demo --json` prints. */
export const demoShape = commandShape('demo', demoData);
