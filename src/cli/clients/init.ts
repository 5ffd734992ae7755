import { err, ok, type Result } from 'neverthrow';
import type { Client } from '../../app/clients/client.ts';
import { CLIENTS } from '../../app/clients/client-list.ts';
import { inspectClient } from '../../app/clients/inspect-client.ts';
import type { LocalServices } from '../../app/clients/local-services.ts';
import { type Registered, registerClient } from '../../app/clients/register-client.ts';
import { type Undone, undoRegistrations } from '../../app/clients/undo-registrations.ts';
import { shortPath } from '../../app/ports/machine.ts';
import type { CommandInput, CommandOutcome, CommandProblem, RunCommand } from '../command.ts';
import { asNamed, chooseClients, namedClients } from '../commands/setup/choose-clients.ts';
import { initLines } from '../commands/setup/init-lines.ts';
import { undoTrouble, unfinished } from '../commands/setup/init-words.ts';
import type { ClientResult, InitData } from '../shapes/setup/init-shape.ts';

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
