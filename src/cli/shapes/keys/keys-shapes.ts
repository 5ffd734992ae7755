import * as z from 'zod';
import { commandShape } from '../../command-shape.ts';

/** The first characters of a digest of a key: enough to tell two apart, and no help in guessing one. */
const fingerprint = z.string().regex(/^[0-9a-f]{12}$/);
const keys = z.strictObject({
  /** Signs; null while none was ever made. */
  current: fingerprint.nullable(),
  /** Only verifies; null before the first rotation. */
  previous: fingerprint.nullable(),
});
export type ShownKeys = z.infer<typeof keys>;

const rotated = z.strictObject({
  before: keys,
  after: keys,
});
export type KeysRotateData = z.infer<typeof rotated>;

export const keysStatusShape = commandShape('keys status', z.strictObject({ dataDir: z.string(), keys }));
export const keysRotateShape = commandShape('keys rotate', rotated);
