/** The parts of the program that rules belong to, in the order they are built. */
export const CAPABILITIES = [
  'foundations',
  'store',
  'compiler',
  'engine',
  'resume_share',
  'workflows',
  'cli',
  'console',
  'console_workflows',
] as const;

/** Whose rules must all be held by a test. A capability is added here when its work is done. */
export const BUILT_CAPABILITIES: readonly (typeof CAPABILITIES)[number][] = [
  'foundations',
  'store',
  'compiler',
  'engine',
  'resume_share',
  'workflows',
  'cli',
  'console',
  'console_workflows',
];
