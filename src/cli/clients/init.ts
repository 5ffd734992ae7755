import { err, ok, type Result, safeTry } from 'neverthrow';
import {
  bridgeTo,
  type Client,
  type ClientScope,
  INSTALL_COMMAND,
  launchForm,
  SERVE,
  shortPath,
} from '../../app/clients/client.ts';
import { CLIENTS } from '../../app/clients/client-list.ts';
import { checkForms } from '../../app/clients/doctor/check-forms.ts';
import type { DoctorFinding } from '../../app/clients/doctor/doctor-finding.ts';
import { findClients, type InspectedClient, inspectClient } from '../../app/clients/inspect-client.ts';
import type { LocalServices } from '../../app/clients/local-services.ts';
import { type Registered, registerClient } from '../../app/clients/register-client.ts';
import { type UndoLogTrouble, type Undone, undoRegistrations } from '../../app/clients/undo-registrations.ts';
import type { ClientServices } from '../../app/ports/machine.ts';
import { defined } from '../../core/json/json-value.ts';
import { plural, shellWord } from '../../core/text/words.ts';
import { CLIENT_IDS, type ClientResult, type InitData, initData } from '../../core/wire/machine-shapes.ts';
import { type CommandContext, type CommandInput, type CommandOutcome, command, done } from '../command.ts';
import { bad, dim, good, type Line, strong } from '../output/line.ts';
import { type CommandProblem, EXIT, problem, unknownWord, usageProblem } from '../problem.ts';
import { addressOfSpace, spaceAddress } from '../upkeep/connect.ts';
import { findingLines } from './doctor.ts';

type InitResult = Result<CommandOutcome<InitData>, CommandProblem>;

export const init = command({
  options: [
    {
      flags: '--client <names>',
      help: 'only these clients, separated by commas: claude-code, claude-desktop, codex, gemini, cursor, vscode, windsurf, zed, opencode',
    },
    { flags: '--all', help: 'register with every client found instead of letting you choose' },
    { flags: '--team <url>', help: 'register "workrail connect" for a space of a team server: https://HOST/s/SPACE' },
    { flags: '--project', help: 'register for this project only, in files in this folder' },
    { flags: '--yes', help: 'do not ask for confirmation' },
    { flags: '--dry-run', help: 'show what would change; change nothing' },
    {
      flags: '--undo',
      help: 'undo what init changed in your own settings files; with --project, in the files in this folder',
    },
    { flags: '--force', help: 'replace an existing "workrail" entry that runs a different command' },
  ],
  example: 'workrail init --dry-run',
  needsNoConfig: true,
  data: initData,
  run: (context, input) =>
    safeTry(async function* () {
      const setup = await context.program.setup();
      if (input.options['undo'] === true) return undo(setup, input);
      const { project, dryRun, force, team } = input.options;
      // Before anything repeats the call: an address may hold a password.
      const space = team === undefined ? undefined : addressOfSpace(yield* spaceAddress(String(team)));
      const chosen = yield* await chooseClients(context, setup, input);
      const words = space === undefined ? SERVE : bridgeTo(space);
      const isDryRun = dryRun === true;
      const clients: ClientResult[] = [];
      // One at a time: each records what it changes.
      for (const client of chosen) {
        context.progress.show({ label: `registering with ${client.name}` });
        const inspected = await inspectClient(setup, client, { scope: project === true ? 'project' : 'user', words });
        if (inspected === undefined) continue;
        const registered = await registerClient(setup, inspected, { isDry: isDryRun, isForced: force === true });
        clients.push(registeredResult(registered));
      }
      const forms = (await checkForms(setup)).filter(({ kind }) => kind === 'note');
      return outcome(
        setup,
        { action: 'register', isDryRun, clients, ...formData(forms) },
        {
          notes: [
            ...notes(setup, clients),
            ...(space === undefined ? [] : [accessNote(space)]),
            ...forms.flatMap((one) => findingLines(one, context.program)),
          ],
          ...input,
        },
      );
    }),
});

/** Tokens do not belong in files that are copied and committed. */
function accessNote(space: string): Line {
  return [
    `"workrail connect" needs one of two things: a person signs in once with "workrail connect ${space} --sign-in", or the environment of the client has a token in WORKRAIL_TOKEN. init writes no token into files.`,
  ];
}

const WORDS: { readonly [result in ClientResult['result']]: string } = {
  registered: 'registered',
  replaced: 'replaced the existing entry',
  unchanged: 'already registered',
  planned: 'would be registered',
  kept: 'not changed: an entry "workrail" starts something else',
  broken: 'not changed: the file is invalid',
  unreadable: 'cannot be read',
  failed: 'failed',
  restored: 'restored exactly',
  removed: 'removed; there was no file before',
  taken_out: 'removed the WorkRail entry; kept other changes',
  nothing: 'nothing to undo',
};

/** A dry run only says what would happen. */
const DRY_WORDS: typeof WORDS = {
  ...WORDS,
  restored: 'would be restored exactly',
  removed: 'would be removed; there was no file before',
  taken_out: 'the WorkRail entry would be removed; other changes would be kept',
};

const BAD: readonly string[] = ['broken', 'unreadable', 'failed', 'kept'];

/** One line per client, with the planned change below it. */
function initLines({ clients, action, isDryRun }: InitData, short: (path: string) => string): readonly Line[] {
  if (clients.length === 0) return [[action === 'undo' ? 'Nothing to undo.' : 'No client was chosen.']];
  const width = Math.max(...clients.map(({ name }) => name.length));
  const would = `Nothing was changed. This is what init${action === 'undo' ? ' --undo' : ''} would do:`;
  const head: readonly Line[] = isDryRun ? [[strong(would)], []] : [];
  return [
    ...head,
    ...clients.flatMap((one) => clientLines(one, { width, words: isDryRun ? DRY_WORDS : WORDS, short })),
  ];
}

type Layout = {
  readonly width: number;
  readonly words: typeof WORDS;
  readonly short: (path: string) => string;
};

function clientLines(one: ClientResult, { width, words, short }: Layout): readonly Line[] {
  const isBad = BAD.includes(one.result);
  const place = one.line === undefined ? short(one.file) : `${short(one.file)}, line ${one.line}`;
  const problem = one.problem === undefined ? '' : ` (${one.problem})`;
  const via = one.via === 'command' ? ' with its own command' : '';
  return [
    [
      { text: isBad ? '✗' : '✓', style: isBad ? 'bad' : 'good' },
      ` ${one.name.padEnd(width)}  ${words[one.result]}${via}${problem}  `,
      dim(place),
    ],
    ...(one.backup === undefined ? [] : [[dim(`  ${' '.repeat(width)}  backup: ${short(one.backup)}`)] as const]),
    ...(one.command === undefined ? [] : [[`  runs: ${one.command}`] as const]),
    ...(one.diff ?? []).map(diffLine),
    ...(one.diff === undefined ? [] : [[] as const]),
  ];
}

/** A tab would be printed as an escape sequence. */
function diffLine(written: string): Line {
  const line = written.replaceAll('\t', '  ').replaceAll('\r', '');
  if (line.startsWith('+')) return ['  ', good(line)];
  return ['  ', line.startsWith('-') ? bad(line) : dim(line)];
}

async function undo(setup: LocalServices, { options }: CommandInput): Promise<InitResult> {
  const named = namedClients(options);
  if (named.isErr()) return err(named.error);
  const isDryRun = options['dryRun'] === true;
  const undone = await undoRegistrations(setup, {
    isDry: isDryRun,
    scope: options['project'] === true ? 'project' : 'user',
    clients: (named.value ?? []).map(({ id }) => id),
  });
  if (undone.isErr()) return err(undoTrouble(undone.error));
  return outcome(setup, { action: 'undo', isDryRun, clients: undone.value.map(undoneResult) }, { notes: [], options });
}

/** Registering says at once what doctor would say: an answer by a hook looks like one by a person. */
function formData(forms: readonly DoctorFinding[]): Pick<InitData, 'forms'> {
  return forms.length === 0 ? {} : { forms: forms.map(({ text, fix }) => defined({ text, fix })) };
}

function outcome(
  { machine }: LocalServices,
  data: InitData,
  { notes: said, options }: Pick<CommandInput, 'options'> & { readonly notes: readonly Line[] },
): InitResult {
  return done({
    data,
    lines: [...initLines(data, (path) => shortPath(machine, path)), ...said],
    problem: unfinished(data.clients, options['team']),
    next: nextOf(data, options),
  });
}

/** After a dry run, the same command without --dry-run. */
function nextOf({ action, isDryRun, clients }: InitData, options: CommandInput['options']): string {
  if (action === 'undo' && clients.length === 0) return 'workrail doctor';
  if (isDryRun) return `workrail init${action === 'undo' ? ' --undo' : ''}${asNamed(options)}`;
  if (action === 'undo') return `workrail init${options['project'] === true ? ' --project' : ''}`;
  const isDone = clients.some(({ result }) => result === 'registered' || result === 'replaced');
  return isDone ? 'restart the client, then run: workrail doctor' : 'workrail doctor';
}

/** What the user should know to rely on these entries. */
function notes({ machine }: LocalServices, clients: readonly ClientResult[]): readonly Line[] {
  const isCached = /[\\/]_npx[\\/]/.test(machine.programPath);
  const forms = new Set(clients.flatMap(({ form }) => (form === undefined ? [] : [form])));
  const dropped = ['WORKRAIL_DATA_DIR', 'XDG_DATA_HOME'].filter((name) => (machine.env[name] ?? '') !== '');
  const isShared = forms.has('path_command') || forms.has('package_runner');
  return [
    ...(isCached ? [[`This workrail is in the npx cache, which npm may clear. To keep it: ${INSTALL_COMMAND}`]] : []),
    ...[...forms].map((form): Line => [FORM_WORDS[form]]),
    ...(isShared && dropped.length > 0
      ? [[`${dropped.join(' and ')} of this shell is not written into project files.`]]
      : []),
  ];
}

const FORM_WORDS: { readonly [form in NonNullable<ClientResult['form']>]: string } = {
  path_command:
    'Your team can commit this: it starts the command "workrail" on the PATH. Everyone who uses it installs WorkRail once.',
  package_runner:
    'Your team can commit this: it starts the workrail package of this project with npx. It works for everyone after "npm install".',
  this_machine: `This contains paths of this machine, so do not commit it. For an entry that a team can commit, run ${INSTALL_COMMAND}, then "workrail init --project --force".`,
};

function registeredResult(registered: Registered): ClientResult {
  const { inspected, result } = registered;
  const head = {
    ...named(inspected.client),
    scope: inspected.scope,
    file: inspected.file,
    result,
    ...formOf(inspected),
  };
  switch (registered.result) {
    case 'registered':
    case 'replaced':
      return {
        ...head,
        via: registered.via,
        ...defined({ backup: registered.backup }),
      };
    case 'planned': {
      const { command, diff } = registered;
      return { ...head, ...(command === undefined ? { diff: [...diff] } : { command }) };
    }
    case 'failed': {
      const { trouble } = registered;
      return { ...head, problem: trouble.code === 'file_failed' ? trouble.cause : `${trouble.path} is invalid` };
    }
    default: {
      const { state } = inspected;
      if (state.kind === 'broken') return { ...head, line: state.line, problem: state.problem };
      return state.kind === 'unreadable' ? { ...head, problem: state.cause } : head;
    }
  }
}

/** The form of a project's entry, as it is in the file or will be. */
function formOf({ scope, state, wanted }: InspectedClient): Pick<ClientResult, 'form'> {
  if (scope === 'user') return {};
  return { form: launchForm(state.kind === 'same' && state.launch !== undefined ? state.launch : wanted) };
}

function undoneResult({ change, result, trouble }: Undone): ClientResult {
  const client = CLIENTS.find(({ id }) => id === change.client) as Client;
  const head = { ...named(client), scope: change.scope, file: change.file, result };
  return trouble === undefined ? head : { ...head, problem: trouble };
}

function named({ id, name }: Client) {
  return { client: id, name };
}

/** The named clients, all clients that are found, or those the user picks. */
async function chooseClients(
  context: CommandContext,
  services: ClientServices,
  { options }: CommandInput,
): Promise<Result<readonly Client[], CommandProblem>> {
  const named = namedClients(options);
  if (named.isErr()) return err(named.error);
  const isProject = options['project'] === true;
  if (named.value !== undefined) {
    const unfit = isProject ? named.value.find(({ projectFile }) => projectFile === undefined) : undefined;
    return unfit === undefined
      ? ok(named.value)
      : err(
          usageProblem(
            `${unfit.name} has no project file.`,
            'Remove --project to register it for all of your projects.',
          ),
        );
  }
  const installed = await findClients(services);
  const found = isProject ? installed.filter(({ projectFile }) => projectFile !== undefined) : installed;
  if (found.length === 0) return err(nobodyFound(kept(options)));
  const isSaid = options['all'] === true || options['yes'] === true || options['dryRun'] === true;
  if (isSaid) return ok(found);
  const { terminal } = context.program;
  if (!terminal.isInput() || !terminal.isError() || context.switches.isJson)
    return err(nobodyToAsk(found, kept(options)));
  return askWhich(context, services, { found, scope: isProject ? 'project' : 'user' });
}

/** The clients in `--client`; `undefined` if the option is missing. */
function namedClients(options: CommandInput['options']): Result<readonly Client[] | undefined, CommandProblem> {
  const { client, all } = options;
  if (typeof client !== 'string') return ok(undefined);
  if (all === true) return err(usageProblem('--client and --all cannot be combined.', 'Remove one of them.'));
  const named: Client[] = [];
  for (const word of client.split(',').map((part) => part.trim().toLowerCase())) {
    const known = CLIENTS.find(({ id, name }) => id === word || name.toLowerCase() === word);
    if (known === undefined) return err(unknownWord('client', word, CLIENT_IDS));
    if (!named.includes(known)) named.push(known);
  }
  return ok(named);
}

/** The options that chose the clients, as they were typed. */
function asNamed(options: CommandInput['options']): string {
  const words = ['client', 'team'].filter((name) => typeof options[name] === 'string');
  const named = words.map((name) => ` --${name} ${shellWord(String(options[name]))}`);
  const switches = ['all', 'project', 'force', 'yes'].filter((name) => options[name] === true);
  return [...named, ...switches.map((name) => ` --${name}`)].join('');
}

/** The other options, to repeat in a suggestion that names clients. */
function kept(options: CommandInput['options']): string {
  const { client: _client, all: _all, yes: _yes, ...others } = options;
  return `${asNamed(others)}${options['dryRun'] === true ? ' --dry-run' : ''}`;
}

async function askWhich(
  { program }: CommandContext,
  services: ClientServices,
  { found, scope }: { readonly found: readonly Client[]; readonly scope: ClientScope },
): Promise<Result<readonly Client[], CommandProblem>> {
  const inspected = await Promise.all(found.map((client) => inspectClient(services, client, { scope })));
  const ask = await program.ask();
  const answer = await ask.choose({
    message: 'Which clients should use WorkRail?',
    choices: found.map(({ id, name }, i) => ({ value: id, label: name, hint: inspected[i]?.file ?? '' })),
    chosen: found.map(({ id }) => id),
  });
  return answer === undefined
    ? err(problem(EXIT.interrupted, 'Nothing was changed.', 'Run "workrail init --dry-run" to see what would be done.'))
    : ok(found.filter(({ id }) => answer.includes(id)));
}

function nobodyFound(kept: string): CommandProblem {
  return problem(
    EXIT.notFound,
    'No agent client was found on this machine.',
    `Install one, or name the client to register anyway: workrail init --client claude-code${kept}`,
  );
}

function nobodyToAsk(found: readonly Client[], kept: string): CommandProblem {
  return problem(
    EXIT.needsPerson,
    `Found ${found.map(({ name }) => name).join(', ')}; there is no terminal to ask which ones to register.`,
    `Run "workrail init --yes${kept}" for all of them, or name some: workrail init --client ${found[0]?.id ?? 'claude-code'}${kept}`,
  );
}

function undoTrouble(trouble: UndoLogTrouble): CommandProblem {
  const message =
    trouble.code === 'undo_log_broken'
      ? `${trouble.path}, where init records its changes, is invalid.`
      : `${trouble.path} cannot be used (${trouble.cause}).`;
  return problem(EXIT.failed, message, 'The backups are in the same folder; restore them by hand.');
}

/** Reports clients that were not registered, or could not be undone. */
export function unfinished(clients: readonly ClientResult[], team?: unknown): CommandProblem | undefined {
  const failed = clients.filter(({ result }) => result === 'broken' || result === 'unreadable' || result === 'failed');
  const kept = clients.filter(({ result }) => result === 'kept');
  if (failed.length > 0) {
    return problem(
      EXIT.failed,
      `Could not change ${plural(failed.length, 'file')}: ${failed.map(({ file }) => file).join(', ')}.`,
      'Fix the problems above, then run the command again. What is already done is not repeated.',
    );
  }
  if (kept.length === 0) return undefined;
  return problem(
    EXIT.needsPerson,
    `${kept.map(({ name }) => name).join(', ')}: an existing entry "workrail" starts something else, so it was not changed.`,
    `To replace it: workrail init${asNamed({ client: kept.map(({ client }) => client).join(','), team, force: true })}`,
  );
}
