import type { CommandEntry } from '../../command-entry.ts';

export const SETUP_COMMANDS: readonly CommandEntry[] = [
  {
    verb: 'init',
    summary: 'register with the agent clients found on this machine; everything can be undone',
    options: [
      {
        flags: '--client <names>',
        help: 'only these, with commas: claude-code, claude-desktop, codex, gemini, cursor, vscode, windsurf, zed, opencode',
      },
      { flags: '--all', help: 'all that are found, without asking' },
      { flags: '--project', help: 'in the files of this folder instead of those of your user' },
      { flags: '--yes', help: 'ask nothing' },
      { flags: '--dry-run', help: 'show what would change, and change nothing' },
      { flags: '--undo', help: 'put every file back as it was' },
      { flags: '--force', help: 'also replace an entry "workrail" that starts something else' },
    ],
    example: 'workrail init --dry-run',
    needsNoConfig: true,
    load: async () => (await import('../../clients/init.ts')).init,
  },
  {
    verb: 'doctor',
    summary: 'check this machine, every session and every registered client, which is really started',
    options: [{ flags: '--fix', help: 'mend what can be mended' }],
    example: 'workrail doctor --fix',
    needsNoConfig: true,
    load: async () => (await import('../../clients/doctor.ts')).doctor,
  },
];
