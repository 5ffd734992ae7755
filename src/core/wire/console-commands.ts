import { shellWord } from '../text/words.ts';
import type { CommandPath, RequestInput } from './command-shapes.ts';

type Words = readonly string[];

/**
 * The command that each of these requests is. The page shows it, and the server runs these very words, so the console
 * cannot do anything here that a person could not type.
 */
export const CONSOLE_COMMANDS = {
  workflows: () => ['workflow', 'list', '--use'],
  workflow: ({ id }) => ['workflow', 'show', id, '--compiled'],
  uses: ({ id }) => ['workflow', 'uses', id],
  versions: ({ a, b }) => ['workflow', 'diff', a, b],
  builtins: () => ['workflow', 'builtins'],
  settings: () => ['config', 'list'],
  setSetting: ({ key, value, scope }) => [
    ...['config', 'set', key],
    ...(value === undefined ? ['--unset'] : [value]),
    ...given('--project', scope === 'project'),
  ],
  servers: () => ['config', 'servers'],
  sources: () => ['source', 'list'],
  addSource: ({ address, name, ref, folder }) => [
    ...['source', 'add', address],
    ...option('--name', name),
    ...option('--ref', ref),
    ...option('--folder', folder),
  ],
  removeSource: ({ name }) => ['source', 'remove', name],
  updateSource: ({ name, isDry, isForced }) => [
    ...['source', 'update', name],
    ...given('--dry-run', isDry),
    ...given('--force', isForced),
  ],
  registrations: () => ['init', '--all', '--dry-run'],
  undoable: () => ['init', '--undo', '--dry-run'],
  register: ({ client, isForced }) => ['init', '--client', client, '--yes', ...given('--force', isForced)],
  unregister: ({ client }) => ['init', '--undo', '--client', client],
  doctor: () => ['doctor'],
  fix: () => ['doctor', '--fix'],
  storage: ({ days }) => ['gc', '--dry-run', ...option('--older-than', days && `${days}d`)],
  collect: ({ days, isBinEmptied }) => [
    ...['gc', '--older-than', `${days}d`],
    ...(isBinEmptied === true ? ['--empty-bin', '--yes'] : []),
  ],
  bin: () => ['session', 'delete', '--undo'],
  verify: () => ['session', 'verify'],
  keys: () => ['keys', 'status'],
  rotateKeys: () => ['keys', 'rotate', '--yes'],
} as const satisfies { readonly [name in CommandPath]: (input: RequestInput<name>) => Words };

const MARK_WORDS = {
  closed: ['session', 'close'],
  open: ['session', 'close', '--undo'],
  kept: ['session', 'keep'],
  not_kept: ['session', 'keep', '--undo'],
  deleted: ['session', 'delete', '--yes'],
  restored: ['session', 'delete', '--undo'],
} as const;

/** The command that marks sessions as a button of the page does. */
export function markText(mark: keyof typeof MARK_WORDS, sessions: readonly string[]): string {
  return ['workrail', ...MARK_WORDS[mark], ...sessions].join(' ');
}

function given(flag: string, isGiven: boolean | undefined): Words {
  return isGiven === true ? [flag] : [];
}

function option(flag: string, value: string | undefined): Words {
  return value === undefined || value === '' ? [] : [flag, value];
}

/** The words of a request, without the name of the program. */
export function commandWords<Path extends CommandPath>(path: Path, input: RequestInput<Path>): Words {
  return (CONSOLE_COMMANDS[path] as (input: RequestInput<Path>) => Words)(input);
}

/** The same as a person types it. */
export function typedCommand<Path extends CommandPath>(path: Path, input: RequestInput<Path>): string {
  return ['workrail', ...commandWords(path, input).map(shellWord)].join(' ');
}
