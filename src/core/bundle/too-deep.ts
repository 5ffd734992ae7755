import { BUNDLE_DEPTH_MAX } from './bundle-limits.ts';
import { type JsonWalk, skipValue } from './json-walk.ts';

/** The bundle, its session, and the list or table that the value is in. */
const DEPTH_AROUND = 3;

/** Whether a value, as canonical JSON, is nested deeper than a bundle may be. */
export function isTooDeep(bytes: Uint8Array): boolean {
  const walk: JsonWalk = { bytes, depthMax: BUNDLE_DEPTH_MAX, fault: undefined };
  skipValue(walk, { at: 0, depth: DEPTH_AROUND });
  return walk.fault?.reason === 'too_deep';
}
