/** What a bundle may measure. A file over them is refused before anything in it is looked at. */

/** A whole bundle is held in memory once while it is checked. */
export const BUNDLE_BYTES_MAX = 256 * 1024 * 1024;
/** Far beyond what people and agents make in one session; bounds what checking takes. */
export const BUNDLE_EVENTS_MAX = 1_000_000;
/** The deepest context inside of a stored reply, and some room. */
export const BUNDLE_DEPTH_MAX = 64;
