import type { CommandEntry } from '../../command-entry.ts';

export const COMPLETION_COMMANDS: readonly CommandEntry[] = [
  {
    verb: 'completion',
    summary: 'print what a shell needs to complete commands, session ids with their titles, and workflow ids',
    operands: { syntax: '<shell>', help: 'bash, zsh or fish' },
    furtherOperands: [{ syntax: '[words...]', help: 'behind --: the words of a line, the last of them unfinished' }],
    options: [
      { flags: '--complete', help: 'print what may stand in the place of the last word; the script asks this' },
    ],
    example: 'source <(workrail completion bash)',
    needsNoConfig: true,
    load: async () => (await import('../../completion.ts')).completion,
  },
];
