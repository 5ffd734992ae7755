import { err, ok, type Result } from 'neverthrow';
import type { DatabaseDanger } from '../../app/ports/team-database.ts';
import { shellWord, shortList } from '../../core/text/words.ts';
import type { CommandContext, CommandInput, CommandOutcome } from '../command.ts';
import { dim, notable } from '../output/line.ts';
import { type CommandProblem, EXIT, problem, usageProblem } from '../problem.ts';
import type { TeamServeOptions, TeamServeRefusal } from '../program.ts';
import { refusalProblem } from '../refusal-problem.ts';
import { isSafeUrl } from './connect.ts';
import { isDatabaseUrl, teamProblem } from './team.ts';

/** Runs a replica of the team server until it is stopped. */
export async function runTeamServer(
  { program, say }: CommandContext,
  { options }: CommandInput,
): Promise<Result<CommandOutcome, CommandProblem>> {
  const how = teamOptions(options);
  if (how.isErr()) return err(how.error);
  const serving = await program.serveTeam(how.value);
  if (serving.isErr()) return err(serveProblem(serving.error));
  const { url, adminUrl, openKeyMode } = serving.value;
  if (openKeyMode !== undefined) {
    const file = how.value.masterKeyFile;
    // Secrets of containers are often readable by everybody in the container, so the server starts.
    say([
      notable('Warning: '),
      `other users of this machine can read the master key in ${file} (mode ${openKeyMode}). Run: chmod 600 ${shellWord(file)}`,
    ]);
  }
  say([
    `Serving the spaces of a team at ${url}. Clients use ${how.value.publicUrl.origin}/s/SPACE/mcp. Press Ctrl-C to stop.`,
  ]);
  if (how.value.clientId !== undefined) say([`People sign in at ${how.value.publicUrl.origin}/s/SPACE/.`]);
  say([dim(`Health and metrics: ${adminUrl}livez, readyz, metrics`)]);
  return ok({ kind: 'serving', data: { url, adminUrl }, lines: [[url]] });
}

const LISTEN = '127.0.0.1:8080';
const ADMIN_LISTEN = '127.0.0.1:9090';

function teamOptions(options: CommandInput['options']): Result<TeamServeOptions, CommandProblem> {
  const { databaseUrl, publicUrl, listen = LISTEN, adminListen = ADMIN_LISTEN, issuer, masterKeyFile } = options;
  if (typeof databaseUrl !== 'string') return err(missing('--database-url', 'postgres://USER@HOST:PORT/NAME'));
  if (typeof publicUrl !== 'string') return err(missing('--public-url', 'https://rail.example'));
  if (typeof masterKeyFile !== 'string') {
    return err(
      usageProblem('--master-key-file is missing.', 'Make a key with "openssl rand -hex 32 > FILE" and chmod 600.'),
    );
  }
  const reachedAt = URL.canParse(publicUrl) ? new URL(publicUrl) : undefined;
  if (reachedAt === undefined || !isSafeUrl(reachedAt)) {
    return err(usageProblem(`--public-url cannot be "${publicUrl}".`, 'Use an https address; http only on localhost.'));
  }
  if (reachedAt.pathname !== '/' || reachedAt.search !== '' || reachedAt.hash !== '') {
    return err(
      usageProblem(
        `--public-url cannot be "${publicUrl}".`,
        'Leave out what follows the host: the spaces are at /s/SPACE of it, and cookies are for the whole host.',
      ),
    );
  }
  if (issuer !== undefined && !(typeof issuer === 'string' && URL.canParse(issuer) && isSafeUrl(new URL(issuer)))) {
    return err(
      usageProblem(
        `--issuer cannot be "${String(issuer)}".`,
        'Use the https address of your identity provider; http only on localhost.',
      ),
    );
  }
  const { clientId, clientSecretFile, groupsClaim } = options;
  const alone = clientId !== undefined ? '--client-id' : groupsClaim !== undefined ? '--groups-claim' : undefined;
  if (alone !== undefined && issuer === undefined) {
    return err(usageProblem(`${alone} needs --issuer.`, 'Add --issuer with the address of your identity provider.'));
  }
  const [own, admin] = [addressOf(String(listen)), addressOf(String(adminListen))];
  if (own === undefined || admin === undefined) {
    const wrong =
      own === undefined
        ? `--listen cannot be "${String(listen)}"`
        : `--admin-listen cannot be "${String(adminListen)}"`;
    return err(usageProblem(`${wrong}.`, 'Use HOST:PORT, for example 0.0.0.0:8080; port 0 chooses any free port.'));
  }
  const { listenUrl } = options;
  if (listenUrl !== undefined && !(typeof listenUrl === 'string' && isDatabaseUrl(listenUrl))) {
    return err(usageProblem('--listen-url is not the address of a database.', 'Use postgres://USER@HOST:PORT/NAME.'));
  }
  const connections = connectionsOf(options['connections']);
  if (connections.isErr()) return err(connections.error);
  return ok({
    databaseUrl,
    listenUrl,
    connections: connections.value,
    publicUrl: reachedAt,
    listen: own,
    admin,
    issuer,
    clientId: typeof clientId === 'string' ? clientId : undefined,
    clientSecretFile: typeof clientSecretFile === 'string' ? clientSecretFile : undefined,
    groupsClaim: typeof groupsClaim === 'string' ? groupsClaim : undefined,
    masterKeyFile,
    isDrained: options['drain'] !== false,
    isConfined: options['rls'] === true,
    isLogged: options['log'] === true,
  });
}

const CONNECTIONS_MAX = 100;

function connectionsOf(asked: unknown): Result<number | undefined, CommandProblem> {
  if (asked === undefined) return ok(undefined);
  const count = Number(asked);
  if (Number.isInteger(count) && count >= 1 && count <= CONNECTIONS_MAX) return ok(count);
  return err(usageProblem(`--connections cannot be "${String(asked)}".`, `Use a number from 1 to ${CONNECTIONS_MAX}.`));
}

function missing(option: string, form: string): CommandProblem {
  return usageProblem(`serve --team needs ${option}.`, `Add ${option} ${form}.`);
}

const ADDRESS = /^(?:\[([0-9a-f:]+)\]|([^:\s]+)):(\d{1,5})$/i;
const PORT_MAX = 65_535;

function addressOf(text: string): TeamServeOptions['listen'] | undefined {
  const [, six, name, digits] = ADDRESS.exec(text) ?? [];
  const host = six ?? name;
  const port = Number(digits);
  return host === undefined || port > PORT_MAX ? undefined : { host, port };
}

const DANGERS: { readonly [danger in DatabaseDanger]: string } = {
  fsync_off: 'fsync is off, so a crash of the database loses acknowledged work. Switch it on.',
  full_page_writes_off: 'full_page_writes is off, so a crash can destroy pages. Switch it on.',
  superuser: 'the database role is a superuser. Create a role that owns only this database, and use that.',
  bypasses_rls:
    'the database role bypasses row level security, so --rls would have no effect. Use a role without BYPASSRLS.',
  no_access:
    'nobody could sign in. Name an identity provider with --issuer, or create a token with "workrail token create".',
};

function serveProblem(refusal: TeamServeRefusal): CommandProblem {
  switch (refusal.code) {
    case 'database_unfit':
      return problem(
        EXIT.checkFailed,
        `The server does not start: ${refusal.dangers.map((danger) => DANGERS[danger]).join(' Also: ')}`,
        'Fix this, then run the command again.',
      );
    case 'master_key_unusable':
      return usageProblem(
        `${refusal.file} does not hold 64 hex digits.`,
        'Make a key with "openssl rand -hex 32" and keep it as safe as the keys themselves.',
      );
    case 'master_key_wrong':
      return problem(
        EXIT.checkFailed,
        `The server does not start: no master key in ${refusal.file} opens the keys of these spaces: ${shortList(refusal.spaces)}.`,
        'Name the file with the key that sealed them with --master-key-file, or add that key to this file in a line of its own.',
      );
    case 'client_secret_unusable':
      return usageProblem(
        `${refusal.file} does not hold the secret of a client.`,
        'Write the secret that the identity provider shows for this client into the file, and nothing else.',
      );
    case 'port_taken':
    case 'port_refused':
      return refusalProblem(refusal, 'of the database');
    default:
      return teamProblem(refusal);
  }
}
