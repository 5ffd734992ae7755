import { err, ok, type Result } from 'neverthrow';
import type { Client, ClientScope } from '../../../app/clients/client.ts';
import { CLIENTS } from '../../../app/clients/client-list.ts';
import { inspectClient } from '../../../app/clients/inspect-client.ts';
import { findClients } from '../../../app/machine/setup/find-clients.ts';
import type { ClientServices } from '../../../app/machine/setup/setup-services.ts';
import { shellWord } from '../../../core/text/shell-word.ts';
import type { CommandContext, CommandInput, CommandProblem } from '../../command.ts';
import {
  brokenOff,
  contradictingOptions,
  nobodyFound,
  nobodyToAsk,
  noProjectFile,
  unknownClient,
} from './init-words.ts';

/** The clients that were named, all that are found, or those that a person picks. */
export async function chooseClients(
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
export function namedClients(options: CommandInput['options']): Result<readonly Client[] | undefined, CommandProblem> {
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
export function asNamed(options: CommandInput['options']): string {
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
