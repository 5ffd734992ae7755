import type { CommandEntry } from '../../command-entry.ts';

const KEY = { syntax: '<key>', help: 'the name of a setting; "workrail config list" shows them' };

export const CONFIG_COMMANDS: readonly CommandEntry[] = [
  {
    group: 'config',
    verb: 'get',
    summary: 'print one setting; where it comes from is said aside',
    operands: KEY,
    example: 'workrail config get mode',
    needsNoConfig: true,
    load: async () => (await import('../../settings.ts')).configGet,
  },
  {
    group: 'config',
    verb: 'set',
    summary: 'change one setting in your file, or in that of this project',
    operands: KEY,
    furtherOperands: [{ syntax: '[value]', help: 'what it shall be' }],
    options: [
      { flags: '--project', help: 'for this folder, in .workrail/config.json' },
      { flags: '--unset', help: 'take the setting out' },
    ],
    example: 'workrail config set mode full_auto_stop_on_user_deps',
    needsNoConfig: true,
    load: async () => (await import('./set-config.ts')).configSet,
  },
  {
    group: 'config',
    verb: 'list',
    summary: 'print every setting with where it comes from; --verbose tells what each is for',
    example: 'workrail config list',
    needsNoConfig: true,
    load: async () => (await import('./list-config.ts')).configList,
  },
  {
    group: 'config',
    verb: 'path',
    summary: 'print the files that settings are read from',
    example: 'workrail config path',
    needsNoConfig: true,
    load: async () => (await import('./path-config.ts')).configPath,
  },
];
