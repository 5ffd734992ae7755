export const INSPECT_MODES = ['outline', 'full', 'metadata'] as const;

/** How much of a workflow is shown. */
export type InspectMode = (typeof INSPECT_MODES)[number];
