import { err } from 'neverthrow';
import * as z from 'zod';
import { workflowCatalog } from '../app/catalog/workflow-catalog.ts';
import { CLIENTS } from '../app/clients/client-list.ts';
import { sessionBoard } from '../app/sessions/session-board.ts';
import type { SessionId } from '../core/log/ids.ts';
import { isSettingName, SETTING_KEYS, SETTING_NAMES, type SettingKey } from '../core/settings/setting-keys.ts';
import { nearest } from '../core/text/spelling.ts';
import {
  COMMAND_GROUPS,
  type Command,
  type CommandContext,
  command,
  commandName,
  done,
  isCommandGroup,
  SWITCHES,
} from './command.ts';
import { COMMANDS } from './command-list.ts';
import { type CommandProblem, usageProblem } from './problem.ts';
import { shortIds } from './session-ids.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

const candidate = z.strictObject({
  value: z.string(),
  /** What it is, on one line. */
  about: z.string(),
});
type CompletionCandidate = z.infer<typeof candidate>;

const completionData = z.union([
  z.strictObject({ shell: z.enum(SHELLS), script: z.string() }),
  z.strictObject({ shell: z.enum(SHELLS), candidates: z.array(candidate) }),
]);

export const completion = command({
  operands: [
    { syntax: '<shell>', help: 'bash, zsh or fish' },
    { syntax: '[words...]', help: 'used only by the generated script: "--", followed by the words typed so far' },
  ],
  options: [{ flags: '--complete', help: 'print completions for the last word; the script calls this' }],
  example: 'source <(workrail completion bash)',
  needsNoConfig: true,
  data: completionData,
  run: async ({ program }, { operands, options }) => {
    const [asked = '', ...words] = operands;
    const shell = SHELLS.find((one) => one === asked);
    if (shell === undefined) return err(unknownShell(asked));
    if (options['complete'] === true) {
      const candidates = [...(await candidatesFor(words, liveCandidates(program)))];
      const lines = candidates.map(({ value, about }) => [`${value} ${about}`]);
      return done({ data: { shell, candidates }, lines, next: '' });
    }
    const script = COMPLETION_SCRIPTS[shell];
    const lines = script.trimEnd().split('\n');
    return done({ data: { shell, script }, lines: lines.map((line) => [line]), next: INSTALL[shell] });
  },
});

/** Completions that need the data folder or workflow files; read only when the command line calls for them. */
export type LiveCandidates = {
  readonly sessions: (typed: string) => Promise<readonly CompletionCandidate[]>;
  readonly workflows: () => Promise<readonly CompletionCandidate[]>;
};

/** Completions for the last word; none where the shell completes better, such as for files. */
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
  const isGroup = isCommandGroup(first);
  if (isGroup && second === undefined) return typed.startsWith('-') ? SHARED_OPTIONS : namesAfter(`${first} `);
  const name = isGroup ? `${first} ${second}` : first;
  const entry = COMMANDS.find((one) => commandName(one) === name);
  if (entry === undefined || before[0] === 'help') return [];
  return inCommand(name, await entry.load(), { given: before.slice(isGroup ? 2 : 1), typed, live });
}

type Inside = { readonly given: readonly string[]; readonly typed: string; readonly live: LiveCandidates };

async function inCommand(
  name: string,
  { operands = [], options = [] }: Command,
  { given, typed, live }: Inside,
): Promise<readonly CompletionCandidate[]> {
  const option = options.find(({ flags }) => flags.includes('<') && flagsOf(flags).includes(given.at(-1) ?? ''));
  if (option !== undefined) return valuesOf(flagsOf(option.flags).at(-1) ?? '', typed);
  if (typed.startsWith('-')) {
    return [
      ...options.map(({ flags, help }) => ({ value: flagsOf(flags).at(-1) ?? '', about: help })),
      ...SHARED_OPTIONS,
    ];
  }
  const words = given.filter((word) => !word.startsWith('-'));
  const at = operands[Math.min(words.length, operands.length - 1)];
  const isFull = words.length >= operands.length && !(at?.syntax.includes('...') ?? false);
  if (at === undefined || isFull) return [];
  const operand = at.syntax.replaceAll(/[<>[\].]/g, '');
  if (name.startsWith('config ')) return operand === 'key' ? settings() : settingValues(words[0] ?? '');
  if (name.startsWith('workflow ')) return /\bid\b/.test(operand) ? live.workflows() : [];
  if (operand === 'id') return live.sessions(typed);
  return operand === 'shell' ? SHELLS.map((value) => ({ value, about: 'a shell' })) : [];
}

function topLevel(): readonly CompletionCandidate[] {
  const groups = Object.entries(COMMAND_GROUPS).map(([value, { summary }]) => ({ value, about: summary }));
  const help = { value: 'help', about: 'show the help of a command' };
  return [...namesAfter(''), ...groups, help].sort((a, b) => (a.value < b.value ? -1 : 1));
}

/** The last words of the commands whose names begin like this. */
function namesAfter(prefix: string): readonly CompletionCandidate[] {
  return COMMANDS.flatMap((entry) => {
    const name = commandName(entry);
    const value = name.slice(prefix.length);
    return name.startsWith(prefix) && !value.includes(' ') ? [{ value, about: entry.summary }] : [];
  });
}

/** `-o, --output <file>` is both `-o` and `--output`. */
function flagsOf(flags: string): readonly string[] {
  return flags.match(/--?[a-z][a-z-]*/g) ?? [];
}

const SHARED_OPTIONS: readonly CompletionCandidate[] = [
  ...Object.entries(SWITCHES).map(([value, about]) => ({ value, about })),
  { value: '--help', about: 'show the help of the command' },
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

/** A list that fills the screen helps nobody. */
const SESSIONS_MAX = 30;

const TITLE_MAX = 60;

/** The stored sessions and the workflows. Pressing a key must not print errors, so what cannot be read is left out. */
function liveCandidates(program: CommandContext['program']): LiveCandidates {
  return {
    sessions: async (typed) => {
      const access = await program.sessionListAccess();
      const rows = (await sessionBoard(access)).map((board) => board.rows).unwrapOr([]);
      const short = shortIds(rows.map(({ sessionId }) => sessionId));
      const nameOf = typed.startsWith('sess') ? (sessionId: SessionId) => sessionId : short;
      const fitting = rows.filter(({ sessionId }) => nameOf(sessionId).startsWith(typed)).slice(0, SESSIONS_MAX);
      return fitting.map(({ sessionId, state, summary }) => ({
        value: nameOf(sessionId),
        about: titleOf(state, summary?.runs[0]?.goal ?? summary?.runs[0]?.workflowId ?? ''),
      }));
    },
    workflows: async () => {
      const { source, tools, workspace } = await program.author();
      const { workflows } = await workflowCatalog(source, tools).list(workspace);
      return workflows.map(({ id, name }) => ({ value: id, about: name }));
    },
  };
}

function titleOf(state: string, title: string): string {
  const line = title.replaceAll(/\s+/g, ' ').trim();
  return `${state}${line === '' ? '' : `: ${line.length > TITLE_MAX ? `${line.slice(0, TITLE_MAX).toWellFormed()}…` : line}`}`;
}

// Each script asks the program itself, so an installed script knows every later command, session and workflow.
// `$1` and `${words[1]}` are the program as it was typed, which may not be the one on the PATH.
// It has no terminal: a program resets the one it has when it ends, and what was typed meanwhile can be lost.

const BASH = `# workrail completion for bash. To use it: source <(workrail completion bash)
_workrail() {
  local value about
  local -a values=() shown=()
  while IFS=' ' read -r value about; do
    [[ -n $value ]] || continue
    values+=("$value")
    shown+=("$value  ($about)")
  done < <("$1" completion bash --complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" </dev/null 2>/dev/null)
  COMPREPLY=()
  # Descriptions are shown only in a list, where bash inserts nothing.
  if (( \${#values[@]} > 1 )) && [[ $COMP_TYPE == 63 || $COMP_TYPE == 33 || $COMP_TYPE == 64 ]]; then
    COMPREPLY=("\${shown[@]}")
  else
    COMPREPLY=("\${values[@]}")
  fi
}
complete -o default -o nosort -F _workrail workrail
`;

const ZSH = `#compdef workrail
# workrail completion for zsh. To use it: source <(workrail completion zsh)
_workrail() {
  local value about
  local -a values shown
  while IFS=' ' read -r value about; do
    [[ -n $value ]] || continue
    values+=("$value")
    shown+=("$value  -- $about")
  done < <("\${words[1]}" completion zsh --complete -- "\${(@)words[2,CURRENT]}" </dev/null 2>/dev/null)
  if (( \${#values} > 0 )); then
    compadd -V workrail -l -d shown -a values
  else
    _files
  fi
}
if [[ $funcstack[1] == _workrail ]]; then
  _workrail "$@"
else
  compdef _workrail workrail
fi
`;

const FISH = `# workrail completion for fish. To use it: workrail completion fish | source
function __workrail_complete
  set -l words (commandline -opc) (commandline -ct)
  $words[1] completion fish --complete -- $words[2..-1] </dev/null 2>/dev/null | string replace ' ' \\t
end
complete -c workrail -f -k -a '(__workrail_complete)'
`;

const COMPLETION_SCRIPTS: { readonly [shell in Shell]: string } = { bash: BASH, zsh: ZSH, fish: FISH };

const INSTALL: { readonly [shell in Shell]: string } = {
  bash: "echo 'source <(workrail completion bash)' >> ~/.bashrc",
  zsh: "echo 'source <(workrail completion zsh)' >> ~/.zshrc",
  fish: 'workrail completion fish > ~/.config/fish/completions/workrail.fish',
};

function unknownShell(asked: string): CommandProblem {
  const meant = nearest(asked, SHELLS);
  const known = `The shells are ${SHELLS.join(', ')}.`;
  return usageProblem(
    `No completion for shell "${asked}".`,
    meant === undefined ? known : `Did you mean ${meant}? ${known}`,
  );
}
