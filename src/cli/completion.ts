import { err, ok } from 'neverthrow';
import * as z from 'zod';
import { workflowCatalog } from '../app/catalog/workflow-catalog.ts';
import { CLIENTS } from '../app/clients/client-list.ts';
import { newestSessions, withMarks } from '../app/sessions/list-sessions.ts';
import type { SessionId } from '../core/log/ids.ts';
import { isSettingName, SETTING_KEYS, SETTING_NAMES, type SettingKey } from '../core/settings/setting-keys.ts';
import { nearest } from '../core/text/spelling.ts';
import {
  COMMAND_GROUPS,
  type CommandContext,
  type CommandEntry,
  type CommandProblem,
  commandName,
  EXIT,
  type RunCommand,
  SWITCHES,
} from './command.ts';
import { COMMANDS } from './command-list.ts';
import { commandShape } from './command-shape.ts';
import { shortIds } from './ids.ts';

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
type CompletionData = z.infer<typeof completionData>;

/** What `workrail completion --json` prints. */
export const completionShape = commandShape('completion', completionData);

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

/** A list that fills the screen helps nobody. */
const SESSIONS_MAX = 30;
const TITLE_MAX = 60;

/** The sessions and workflows there are. Whoever presses a key must not be told of errors, so there are none then. */
function liveCandidates(program: CommandContext['program']): LiveCandidates {
  return {
    sessions: async (typed) => {
      const listing = await program.listing();
      const stored = (await newestSessions(listing)).unwrapOr([]);
      const short = shortIds(stored.map(({ sessionId }) => sessionId));
      const nameOf = typed.startsWith('sess') ? (sessionId: SessionId) => sessionId : short;
      const fitting = stored.filter(({ sessionId }) => nameOf(sessionId).startsWith(typed)).slice(0, SESSIONS_MAX);
      const listed = await withMarks(listing, fitting);
      return listed.map(({ sessionId, state, summary }) => ({
        value: nameOf(sessionId),
        about: titleOf(state, summary?.runs[0]?.goal ?? summary?.runs[0]?.workflowId ?? ''),
      }));
    },
    workflows: async () => {
      const { source, tools, workspace } = await program.bench();
      const { workflows } = await workflowCatalog(source, tools).list(workspace);
      return workflows.map(({ id, name }) => ({ value: id, about: name }));
    },
  };
}

function titleOf(state: string, title: string): string {
  const line = title.replaceAll(/\s+/g, ' ').trim();
  return `${state}${line === '' ? '' : `: ${line.length > TITLE_MAX ? `${line.slice(0, TITLE_MAX).toWellFormed()}…` : line}`}`;
}

// Each asks the program itself, so that a script once installed knows every later command, session and workflow.
// `$1` and `${words[1]}` are the program as it was typed, which need not be the one on the PATH.

const BASH = `# workrail completion for bash. To use it: source <(workrail completion bash)
_workrail() {
  local value about
  local -a values=() shown=()
  while IFS=' ' read -r value about; do
    [[ -n $value ]] || continue
    values+=("$value")
    shown+=("$value  ($about)")
  done < <("$1" completion bash --complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  COMPREPLY=()
  # What each is stands beside it only in a list, where bash inserts nothing.
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
  done < <("\${words[1]}" completion zsh --complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
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
  $words[1] completion fish --complete -- $words[2..-1] 2>/dev/null | string replace ' ' \\t
end
complete -c workrail -f -k -a '(__workrail_complete)'
`;

/** What a shell reads to complete our command lines. */
const COMPLETION_SCRIPTS: { readonly [shell in Shell]: string } = { bash: BASH, zsh: ZSH, fish: FISH };

export const completion: RunCommand = async ({ program }, { operands, options }) => {
  const [asked = '', ...words] = operands;
  const shell = SHELLS.find((one) => one === asked);
  if (shell === undefined) return err(unknownShell(asked));
  if (options['complete'] === true) {
    const candidates = [...(await candidatesFor(words, liveCandidates(program)))];
    const data: CompletionData = { shell, candidates };
    return ok({ kind: 'done', data, lines: candidates.map(({ value, about }) => [`${value} ${about}`]), next: '' });
  }
  const script = COMPLETION_SCRIPTS[shell];
  const data: CompletionData = { shell, script };
  return ok({
    kind: 'done',
    data,
    lines: script
      .trimEnd()
      .split('\n')
      .map((line) => [line]),
    next: INSTALL[shell],
  });
};

const INSTALL: { readonly [shell in Shell]: string } = {
  bash: "echo 'source <(workrail completion bash)' >> ~/.bashrc",
  zsh: "echo 'source <(workrail completion zsh)' >> ~/.zshrc",
  fish: 'workrail completion fish > ~/.config/fish/completions/workrail.fish',
};

function unknownShell(asked: string): CommandProblem {
  const meant = nearest(asked, SHELLS);
  const known = `The shells are ${SHELLS.join(', ')}.`;
  return {
    exitCode: EXIT.usage,
    error: {
      code: 'VALIDATION_ERROR',
      message: `There is no completion for "${asked}".`,
      suggestion: meant === undefined ? known : `Did you mean ${meant}? ${known}`,
      retry: { kind: 'not_retryable' },
    },
  };
}
