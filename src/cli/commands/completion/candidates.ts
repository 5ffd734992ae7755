import { CLIENTS } from '../../../app/clients/client-list.ts';
import { isSettingName, SETTING_KEYS, SETTING_NAMES, type SettingKey } from '../../../core/settings/setting-keys.ts';
import { COMMAND_GROUPS, type CommandEntry, commandName } from '../../command-entry.ts';
import { COMMANDS } from '../../command-list.ts';
import { type CompletionCandidate, SHELLS } from '../../shapes/completion/completion-shape.ts';
import { SWITCHES } from '../../switches.ts';

/** What stands only in the data folder or in files, asked for when a line calls for it. */
export type LiveCandidates = {
  readonly sessions: (typed: string) => Promise<readonly CompletionCandidate[]>;
  readonly workflows: () => Promise<readonly CompletionCandidate[]>;
};

/** What may stand in the place of the last word; none where the shell knows better, such as for files. */
export async function candidatesFor(
  words: readonly string[],
  live: LiveCandidates,
): Promise<readonly CompletionCandidate[]> {
  const typed = words.at(-1) ?? '';
  const before = words.slice(0, -1).filter((word) => !Object.hasOwn(SWITCHES, word));
  const found = await allFor(before, typed, live);
  return found.filter(({ value }) => value.startsWith(typed));
}

async function allFor(
  before: readonly string[],
  typed: string,
  live: LiveCandidates,
): Promise<readonly CompletionCandidate[]> {
  const [first = '', second] = before[0] === 'help' ? before.slice(1) : before;
  if (first === '') return typed.startsWith('-') ? OPTIONS_ALONE : topLevel();
  const isGroup = Object.hasOwn(COMMAND_GROUPS, first);
  if (isGroup && second === undefined) return typed.startsWith('-') ? SHARED_OPTIONS : verbsOf(first);
  const entry = COMMANDS.find((one) => commandName(one) === (isGroup ? `${first} ${second}` : first));
  if (entry === undefined || before[0] === 'help') return [];
  return inCommand(entry, { given: before.slice(isGroup ? 2 : 1), typed, live });
}

type Inside = { readonly given: readonly string[]; readonly typed: string; readonly live: LiveCandidates };

async function inCommand(entry: CommandEntry, { given, typed, live }: Inside): Promise<readonly CompletionCandidate[]> {
  const option = entry.options?.find(({ flags }) => flags.includes('<') && flagsOf(flags).includes(given.at(-1) ?? ''));
  if (option !== undefined) return valuesOf(flagsOf(option.flags).at(-1) ?? '', typed);
  if (typed.startsWith('-')) return [...optionsOf(entry), ...SHARED_OPTIONS];
  return operandsOf(entry, { given: given.filter((word) => !word.startsWith('-')), typed, live });
}

async function operandsOf(
  entry: CommandEntry,
  { given, typed, live }: Inside,
): Promise<readonly CompletionCandidate[]> {
  const operands = [entry.operands ?? [], entry.furtherOperands ?? []].flat();
  const at = operands[Math.min(given.length, operands.length - 1)];
  const isFull = given.length >= operands.length && !(at?.syntax.includes('...') ?? false);
  if (at === undefined || isFull) return [];
  const name = at.syntax.replaceAll(/[<>[\].]/g, '');
  if (entry.group === 'config') return name === 'key' ? settings() : settingValues(given[0] ?? '');
  if (entry.group === 'workflow') return /\bid\b/.test(name) ? live.workflows() : [];
  if (name === 'id') return live.sessions(typed);
  return name === 'shell' ? SHELLS.map((value) => ({ value, about: 'a shell' })) : [];
}

function topLevel(): readonly CompletionCandidate[] {
  const groups = Object.entries(COMMAND_GROUPS).map(([value, { summary }]) => ({ value, about: summary }));
  const verbs = COMMANDS.filter(({ group }) => group === undefined).map(({ verb, summary }) => ({
    value: verb,
    about: summary,
  }));
  return [...verbs, ...groups, { value: 'help', about: 'what a command does' }].sort((a, b) =>
    a.value < b.value ? -1 : 1,
  );
}

function verbsOf(group: string): readonly CompletionCandidate[] {
  return COMMANDS.filter((entry) => entry.group === group).map(({ verb, summary }) => ({
    value: verb,
    about: summary,
  }));
}

function optionsOf({ options = [] }: CommandEntry): readonly CompletionCandidate[] {
  return options.map(({ flags, help }) => ({ value: flagsOf(flags).at(-1) ?? '', about: help }));
}

/** `-o, --output <file>` is both `-o` and `--output`. */
function flagsOf(flags: string): readonly string[] {
  return flags.match(/--?[a-z][a-z-]*/g) ?? [];
}

const SHARED_OPTIONS: readonly CompletionCandidate[] = [
  ...Object.entries(SWITCHES).map(([value, about]) => ({ value, about })),
  { value: '--help', about: 'what the command does' },
];
const OPTIONS_ALONE: readonly CompletionCandidate[] = [
  ...SHARED_OPTIONS,
  { value: '--version', about: 'print the version' },
];

function valuesOf(flag: string, typed: string): readonly CompletionCandidate[] {
  if (flag !== '--client') return [];
  const head = typed.slice(0, typed.lastIndexOf(',') + 1);
  return CLIENTS.map(({ id, name }) => ({ value: `${head}${id}`, about: name }));
}

function settings(): readonly CompletionCandidate[] {
  return SETTING_NAMES.map((value) => ({ value, about: SETTING_KEYS[value].about }));
}

function settingValues(key: string): readonly CompletionCandidate[] {
  if (!isSettingName(key)) return [];
  const { about, ...setting }: SettingKey = SETTING_KEYS[key];
  if (setting.kind === 'switch') return ['true', 'false'].map((value) => ({ value, about }));
  return setting.kind === 'choice' ? setting.values.map((value) => ({ value, about })) : [];
}
