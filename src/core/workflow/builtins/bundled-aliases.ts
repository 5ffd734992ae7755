/**
 * Ids that bundled workflows used to have, with the ids they have now. A released id never vanishes: whoever wrote it
 * down can still start by it. No bundled workflow was renamed so far.
 */
export const BUNDLED_ALIASES: ReadonlyMap<string, string> = new Map();
