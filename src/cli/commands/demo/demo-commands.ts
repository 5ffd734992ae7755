import type { CommandEntry } from '../../command-entry.ts';

export const DEMO_COMMANDS: readonly CommandEntry[] = [
  {
    verb: 'demo',
    summary: 'watch a scripted agent play a workflow: blocked and mended, rewound and branched, lost and found',
    options: [
      { flags: '--speed <speed>', help: '1, 4 or max (1 in a terminal, else max)' },
      { flags: '--keep', help: 'keep what was recorded, and say where' },
    ],
    example: 'workrail demo --speed 4',
    load: async () => (await import('../../demo.ts')).demo,
  },
];
