import { err, ok, type Result } from 'neverthrow';
import * as z from 'zod';
import { CLIENT_IDS, type Client, type ClientScope, shortPath } from '../../app/clients/client.ts';
import { CLIENTS } from '../../app/clients/client-list.ts';
import { findClients, inspectClient } from '../../app/clients/inspect-client.ts';
import type { LocalServices } from '../../app/clients/local-services.ts';
import { type Registered, registerClient } from '../../app/clients/register-client.ts';
import { type UndoLogTrouble, type Undone, undoRegistrations } from '../../app/clients/undo-registrations.ts';
import type { ClientServices } from '../../app/ports/machine.ts';
import { nearest } from '../../core/text/spelling.ts';
import { plural, shellWord } from '../../core/text/words.ts';
import {
  type CommandContext,
  type CommandInput,
  type CommandOutcome,
  type CommandProblem,
  EXIT,
  type ExitCode,
  type RunCommand,
} from '../command.ts';
import { commandShape } from '../command-shape.ts';
import type { Line } from '../output/line.ts';

const WORDS: { readonly [result in ClientResult['result']]: string } = {
  registered: 'registered',
  replaced: 'replaced the entry that was there',
  unchanged: 'registered already',
  planned: 'would be registered',
  kept: 'kept as it is: an entry "workrail" starts something else',
  broken: 'left alone',
  unreadable: 'cannot be read',
  failed: 'failed',
  restored: 'as it was before, to the byte',
  removed: 'removed, there was none before',
  taken_out: 'our entry taken out; the rest stays as it is now',
  nothing: 'nothing left to undo',
};

const BAD: readonly string[] = ['broken', 'unreadable', 'failed', 'kept'];

/** A client a line, and below it what would change. */
function initLines({ clients, action, isDryRun }: InitData, short: (path: string) => string): readonly Line[] {
  if (clients.length === 0) return [[action === 'undo' ? 'There is nothing to undo.' : 'No client was chosen.']];
  const width = Math.max(...clients.map(({ name }) => name.length));
  const head: readonly Line[] = isDryRun
    ? [[{ text: 'Nothing is changed; this is what would be done.', style: 'strong' }], []]
    : [];
  return [...head, ...clients.flatMap((one) => clientLines(one, width, short))];
}

function clientLines(one: ClientResult, width: number, short: (path: string) => string): readonly Line[] {
  const isBad = BAD.includes(one.result);
  const place = one.line === undefined ? short(one.file) : `${short(one.file)}, line ${one.line}`;
  const problem = one.problem === undefined ? '' : ` (${one.problem})`;
  const via = one.via === 'command' ? ' by its own command' : '';
  return [
    [
      { text: isBad ? '✗' : '✓', style: isBad ? 'bad' : 'good' },
      ` ${one.name.padEnd(width)}  ${WORDS[one.result]}${via}${problem}  `,
      { text: place, style: 'dim' },
    ],
    ...(one.backup === undefined
      ? []
      : [[{ text: `  ${' '.repeat(width)}  backup: ${short(one.backup)}`, style: 'dim' }] as const]),
    ...(one.command === undefined ? [] : [[`  runs: ${one.command}`] as const]),
    ...(one.diff ?? []).map(diffLine),
    ...(one.diff === undefined ? [] : [[] as const]),
  ];
}

/** A tab would be shown as an escape. */
function diffLine(written: string): Line {
  const line = written.replaceAll('\t', '  ').replaceAll('\r', '');
  if (line.startsWith('+')) return ['  ', { text: line, style: 'good' }];
  return ['  ', line.startsWith('-') ? { text: line, style: 'bad' } : { text: line, style: 'dim' }];
}

export const init: RunCommand = async (context, input) => {
  const setup = await context.program.setup();
  if (input.options['undo'] === true) return undo(setup, input);
  const chosen = await chooseClients(context, setup, input);
  if (chosen.isErr()) return err(chosen.error);
  const { project, dryRun, force } = input.options;
  const isDryRun = dryRun === true;
  const clients: ClientResult[] = [];
  // One after the other: each notes what it changes, and one's own command may take a while.
  for (const client of chosen.value) {
    context.progress.show({ label: `registering with ${client.name}` });
    const looked = await inspectClient(setup, client, project === true ? 'project' : 'user');
    if (looked === undefined) continue;
    clients.push(registeredResult(await registerClient(setup, looked, { isDry: isDryRun, isForced: force === true })));
  }
  const data: InitData = { action: 'register', isDryRun, clients };
  return ok(outcome(setup, data, { said: notes(setup, input), options: input.options }));
};

async function undo(setup: LocalServices, { options }: CommandInput): Promise<Result<CommandOutcome, CommandProblem>> {
  const named = namedClients(options);
  if (named.isErr()) return err(named.error);
  const isDry = options['dryRun'] === true;
  const undone = await undoRegistrations(setup, { isDry, clients: (named.value ?? []).map(({ id }) => id) });
  if (undone.isErr()) return err(undoTrouble(undone.error));
  const data: InitData = { action: 'undo', isDryRun: isDry, clients: undone.value.map(undoneResult) };
  return ok(outcome(setup, data, { said: [], options }));
}

function outcome(
  { machine }: LocalServices,
  data: InitData,
  { said, options }: Pick<CommandInput, 'options'> & { readonly said: readonly string[] },
): CommandOutcome {
  const problem = unfinished(data.clients);
  const lines = [...initLines(data, (path) => shortPath(machine, path)), ...said.map((text) => [text])];
  return { kind: 'done', data, lines, ...(problem === undefined ? {} : { problem }), next: nextOf(data, options) };
}

/** After a dry run the same command in earnest: with what was named. */
function nextOf({ action, isDryRun, clients }: InitData, options: CommandInput['options']): string {
  if (isDryRun) return `workrail init${action === 'undo' ? ' --undo' : ''}${asNamed(options)}`;
  if (action === 'undo') return 'workrail init';
  const isDone = clients.some(({ result }) => result === 'registered' || result === 'replaced');
  return isDone ? 'restart the client, then: workrail doctor' : 'workrail doctor';
}

/** What somebody should know who relies on the entries from now on. */
function notes({ machine }: LocalServices, { options }: CommandInput): readonly string[] {
  const isCached = /[\\/]_npx[\\/]/.test(machine.programPath);
  return [
    ...(isCached
      ? ['This workrail lies in the cache of npx, which npm may clear: npm install -g workrail keeps it.']
      : []),
    ...(options['project'] === true
      ? ['Files of a project name paths of this machine; others run workrail init --project themselves.']
      : []),
  ];
}

function registeredResult(registered: Registered): ClientResult {
  const { looked, result } = registered;
  const head = { ...named(looked.client), scope: looked.scope, file: looked.file, result };
  switch (registered.result) {
    case 'registered':
    case 'replaced':
      return {
        ...head,
        via: registered.via,
        ...(registered.backup === undefined ? {} : { backup: registered.backup }),
      };
    case 'planned': {
      const { command, diff } = registered;
      return { ...head, ...(command === undefined ? { diff: [...diff] } : { command }) };
    }
    case 'failed': {
      const { trouble } = registered;
      return { ...head, problem: trouble.code === 'file_failed' ? trouble.cause : `${trouble.path} is broken` };
    }
    default: {
      const { state } = looked;
      if (state.kind === 'broken') return { ...head, line: state.line, problem: state.problem };
      return state.kind === 'unreadable' ? { ...head, problem: state.cause } : head;
    }
  }
}

function undoneResult({ change, result, trouble }: Undone): ClientResult {
  const client = CLIENTS.find(({ id }) => id === change.client) as Client;
  const head = { ...named(client), scope: change.scope, file: change.file, result };
  return trouble === undefined ? head : { ...head, problem: trouble };
}

function named({ id, name }: Client) {
  return { client: id, name };
}

/** The clients that were named, all that are found, or those that a person picks. */
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
    return unfit === undefined ? ok(named.value) : err(noProjectFile(unfit));
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

/** The clients behind `--client`; `undefined` when none are named. */
function namedClients(options: CommandInput['options']): Result<readonly Client[] | undefined, CommandProblem> {
  const { client, all } = options;
  if (typeof client !== 'string') return ok(undefined);
  if (all === true) return err(contradictingOptions());
  const named: Client[] = [];
  for (const word of client.split(',').map((part) => part.trim().toLowerCase())) {
    const known = CLIENTS.find(({ id, name }) => id === word || name.toLowerCase() === word);
    if (known === undefined) return err(unknownClient(word));
    if (!named.includes(known)) named.push(known);
  }
  return ok(named);
}

/** The options that say which clients are meant, as they were typed. */
function asNamed(options: CommandInput['options']): string {
  const { client } = options;
  const named = typeof client === 'string' ? ` --client ${shellWord(client)}` : '';
  const switches = ['all', 'project', 'force', 'yes'].filter((name) => options[name] === true);
  return [named, ...switches.map((name) => ` --${name}`)].join('');
}

/** What goes along when clients are named after all. */
function kept(options: CommandInput['options']): string {
  const { client: _client, all: _all, yes: _yes, ...others } = options;
  return `${asNamed(others)}${options['dryRun'] === true ? ' --dry-run' : ''}`;
}

async function askWhich(
  { program }: CommandContext,
  services: ClientServices,
  { found, scope }: { readonly found: readonly Client[]; readonly scope: ClientScope },
): Promise<Result<readonly Client[], CommandProblem>> {
  const looked = await Promise.all(found.map((client) => inspectClient(services, client, scope)));
  const ask = await program.ask();
  const answer = await ask.choose({
    message: 'Which clients shall use workrail?',
    choices: found.map(({ id, name }, i) => ({ value: id, label: name, hint: looked[i]?.file ?? '' })),
    chosen: found.map(({ id }) => id),
  });
  return answer === undefined ? err(brokenOff()) : ok(found.filter(({ id }) => answer.includes(id)));
}

function unknownClient(asked: string): CommandProblem {
  const meant = nearest(asked, CLIENT_IDS);
  const known = `The clients are ${CLIENT_IDS.join(', ')}.`;
  return problem(
    EXIT.usage,
    `There is no client "${asked}".`,
    meant === undefined ? known : `Did you mean ${meant}? ${known}`,
  );
}

function contradictingOptions(): CommandProblem {
  return problem(
    EXIT.usage,
    '--client names the clients, and --all means every one that is found.',
    'Leave one of them out.',
  );
}

function noProjectFile({ name }: Client): CommandProblem {
  return problem(
    EXIT.usage,
    `${name} has no file for a project.`,
    'Leave --project out to register it for all of your work.',
  );
}

function nobodyFound(kept: string): CommandProblem {
  return problem(
    EXIT.notFound,
    'No agent client was found on this machine.',
    `Install one, or name one to register it all the same: workrail init --client claude-code${kept}`,
  );
}

function nobodyToAsk(found: readonly Client[], kept: string): CommandProblem {
  return problem(
    EXIT.needsPerson,
    `Found ${found.map(({ name }) => name).join(', ')}; there is no terminal to ask which of them.`,
    `Type "workrail init --yes${kept}" for all of them, or name some: workrail init --client ${found[0]?.id ?? 'claude-code'}${kept}`,
  );
}

function brokenOff(): CommandProblem {
  return problem(EXIT.interrupted, 'Nothing was changed.', 'Type "workrail init --dry-run" to see what would be done.');
}

function undoTrouble(trouble: UndoLogTrouble): CommandProblem {
  const message =
    trouble.code === 'undo_log_broken'
      ? `${trouble.path}, where init notes what it changes, is not as it was written.`
      : `${trouble.path} could not be used (${trouble.cause}).`;
  return problem(EXIT.failed, message, 'The backups lie in the same folder; put them back by hand.');
}

/** Clients that were not registered, or that could not be undone. */
export function unfinished(clients: readonly ClientResult[]): CommandProblem | undefined {
  const failed = clients.filter(({ result }) => result === 'broken' || result === 'unreadable' || result === 'failed');
  const kept = clients.filter(({ result }) => result === 'kept');
  if (failed.length > 0) {
    return problem(
      EXIT.failed,
      `${plural(failed.length, 'file')} could not be changed and ${failed.length === 1 ? 'was' : 'were'} left alone: ${failed.map(({ file }) => file).join(', ')}.`,
      'Put right what is said above, then type the command again; what is done already stays as it is.',
    );
  }
  if (kept.length === 0) return undefined;
  return problem(
    EXIT.needsPerson,
    `${kept.map(({ name }) => name).join(', ')}: an entry "workrail" is there that starts something else, so it was kept.`,
    `To replace it: workrail init --client ${kept.map(({ client }) => client).join(',')} --force`,
  );
}

function problem(exitCode: ExitCode, message: string, suggestion: string): CommandProblem {
  return { exitCode, error: { code: 'VALIDATION_ERROR', message, suggestion, retry: { kind: 'not_retryable' } } };
}

const clientResult = z.strictObject({
  client: z.enum(CLIENT_IDS),
  name: z.string(),
  scope: z.enum(['user', 'project']),
  file: z.string(),
  result: z.enum([
    'registered',
    /** An entry that started something else was replaced. */
    'replaced',
    'unchanged',
    /** What would be done; nothing was. */
    'planned',
    /** An entry that starts something else was left. */
    'kept',
    'broken',
    'unreadable',
    'failed',
    /** Undone: as it was, to the byte. */
    'restored',
    /** Undone: there was no file, so there is none again. */
    'removed',
    /** Undone: somebody changed the file since, so only our entry was taken out. */
    'taken_out',
    /** There was nothing left to undo. */
    'nothing',
  ]),
  /** Whether the client's own command did it, or the file was edited. */
  via: z.enum(['command', 'file']).exactOptional(),
  /** The client's own command that would be run. */
  command: z.string().exactOptional(),
  /** Where what the file held is kept. */
  backup: z.string().exactOptional(),
  /** The line of a broken file. */
  line: z.int().exactOptional(),
  problem: z.string().exactOptional(),
  diff: z.array(z.string()).exactOptional(),
});
type ClientResult = z.infer<typeof clientResult>;

const initData = z.strictObject({
  action: z.enum(['register', 'undo']),
  isDryRun: z.boolean(),
  clients: z.array(clientResult),
});
type InitData = z.infer<typeof initData>;

/** What `workrail init --json` prints. */
export const initShape = commandShape('init', initData);
