import { resolve } from 'node:path';
import { err, ok, type Result, safeTry } from 'neverthrow';
import * as z from 'zod';
import { type CopiedSession, type CopyServices, copyKeys, copySession } from '../../app/bundle/copy-store.ts';
import type { Store } from '../../app/ports/store.ts';
import type { MigrationRefusal, NotedAction, SpaceRefusal, TeamDatabase } from '../../app/ports/team-database.ts';
import { byCode } from '../../core/assert.ts';
import type { Flow } from '../../core/flow.ts';
import { defined } from '../../core/json/json-value.ts';
import { SessionId } from '../../core/log/ids.ts';
import { plural, shellWord, shortList } from '../../core/text/words.ts';
import { type MasterKeys, masterKeysIn } from '../../core/token/keyring.ts';
import { type CommandContext, type CommandInput, command, done } from '../command.ts';
import type { Line } from '../output/line.ts';
import { table } from '../output/text-width.ts';
import { type CommandProblem, EXIT, errorProblem, problem, type RefusalTable, usageProblem } from '../problem.ts';
import type { TeamAccess } from '../program.ts';
import { refusalProblem } from '../refusal-problem.ts';

export const URL_OPTION = {
  flags: '--database-url <url>',
  help: 'address of the database: postgres://USER@HOST/NAME; the password can be in PGPASSWORD',
};
const MIGRATE = 'workrail migrate --database-url URL';
const count = z.int().min(0);

export const migrateCommand = command({
  options: [
    URL_OPTION,
    {
      flags: '--server-role <role>',
      help: 'the database role of the servers: give it the rights that a server needs, without any to change or delete what was recorded',
    },
    { flags: '--dry-run', help: 'show what would be done; change nothing' },
  ],
  example: 'workrail migrate --database-url postgres://rail@localhost/rail',
  needsNoConfig: true,
  data: z.strictObject({
    isDryRun: z.boolean(),
    steps: z.array(z.strictObject({ version: z.int().min(1), title: z.string() })),
    serverRole: z.string().exactOptional(),
  }),
  run: (context, input) =>
    withDatabase(context, input, async (database) => {
      const isDryRun = input.options['dryRun'] === true;
      const asked = input.options['serverRole'];
      const serverRole = typeof asked === 'string' ? asked : undefined;
      const migrated = await database.migrate({ isDryRun, ...defined({ serverRole }) });
      if (migrated.isErr()) return err(teamProblem(migrated.error));
      const steps = migrated.value.map(({ version, title }) => ({ version, title }));
      const [doing, none] = isDryRun ? ['Would apply', 'Nothing to do'] : ['Applied', 'Nothing was to be done'];
      return done({
        data: { isDryRun, steps, ...defined({ serverRole }) },
        lines: [
          ...(steps.length === 0
            ? [[`${none}: the database has all tables that this workrail needs.`]]
            : steps.map(({ version, title }): Line => [`${doing} version ${version}: ${title}.`])),
          ...(serverRole === undefined ? [] : [[grantedWords(serverRole, isDryRun)]]),
        ],
        next: isDryRun && steps.length > 0 ? MIGRATE : 'workrail space create NAME --database-url URL',
      });
    }),
});

function grantedWords(role: string, isDryRun: boolean): string {
  return isDryRun
    ? `Would give the role ${role} the rights that a server needs.`
    : `The role ${role} has the rights that a server needs. It cannot change or delete what was recorded.`;
}

const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

export const spaceCreate = command({
  operands: [{ syntax: '<name>', help: 'lower-case letters, digits and hyphens' }],
  options: [URL_OPTION],
  example: 'workrail space create shop --database-url postgres://rail@localhost/rail',
  needsNoConfig: true,
  data: z.strictObject({ name: z.string(), isNew: z.boolean() }),
  run: (context, input) =>
    withDatabase(context, input, async (database) => {
      const name = input.operands[0] ?? '';
      if (!NAME.test(name)) {
        return err(
          usageProblem(
            `"${name}" cannot be the name of a space.`,
            'Use lower-case letters, digits and hyphens; begin with a letter or digit.',
          ),
        );
      }
      const created = await database.createSpace(name);
      if (created.isErr()) return err(teamProblem(created.error));
      return done({
        data: { name, isNew: created.value },
        lines: [[created.value ? `Created the space ${name}.` : `The space ${name} exists. Nothing was changed.`]],
        next: `workrail member set "ISSUER|SUBJECT" admin --space ${name} --database-url URL`,
      });
    }),
});

export const spaceList = command({
  options: [URL_OPTION],
  example: 'workrail space list --database-url postgres://rail@localhost/rail',
  needsNoConfig: true,
  data: z.strictObject({ spaces: z.array(z.strictObject({ name: z.string(), sessions: count })) }),
  run: (context, input) =>
    withDatabase(context, input, async (database) => {
      const listed = await database.spaces();
      if (listed.isErr()) return err(teamProblem(listed.error));
      const spaces = listed.value.map(({ name, sessions }) => ({ name, sessions }));
      return done({
        data: { spaces },
        lines:
          spaces.length === 0
            ? [['There are no spaces yet.']]
            : table(spaces.map(({ name, sessions }) => [name, plural(sessions, 'session')])),
        next: spaces.length === 0 ? 'workrail space create NAME --database-url URL' : 'workrail store copy --help',
      });
    }),
});

const KINDS = ['copied', 'continued', 'unchanged', 'differs', 'damaged'] as const;

export const storeCopy = command({
  options: [
    { flags: '--from <place>', help: 'a data folder, or the address of a database (default: your data folder)' },
    { flags: '--to <place>', help: 'like --from (default: your data folder); give at least one of the two' },
    { flags: '--space <name>', help: 'the space in the database' },
    { flags: '--session <id>', help: 'copy only this session' },
    { flags: '--keys', help: 'copy the signing keys too, so that tokens stay valid' },
    {
      flags: '--master-key-file <file>',
      help: 'with --keys: file with the master key (64 hex digits) that encrypts the keys in the database',
    },
  ],
  example: 'workrail store copy --to postgres://rail@localhost/rail --space shop',
  needsNoConfig: true,
  data: z.strictObject({
    sessions: z.array(z.strictObject({ sessionId: SessionId.schema, kind: z.enum(KINDS), events: count })),
    /** Null unless --keys was given. */
    keys: z.enum(['copied', 'none', 'taken']).nullable(),
  }),
  run: async (context, input) => {
    const opened: TeamDatabase[] = [];
    const copied = await copyStore(context, input, opened);
    await Promise.all(opened.map((database) => database.close()));
    return copied;
  },
});

function copyStore(context: CommandContext, { options }: CommandInput, opened: TeamDatabase[]) {
  return safeTry(async function* () {
    const { program, progress } = context;
    const own = await program.dataDir();
    const [fromPlace, toPlace] = [String(options['from'] ?? own), String(options['to'] ?? own)];
    const broken = Object.entries({ '--from': fromPlace, '--to': toPlace }).find(([, place]) => isBrokenUrl(place));
    if (broken !== undefined) return err(notAnAddress(broken[0]));
    if (placeOf(fromPlace) === placeOf(toPlace)) {
      return err(
        usageProblem('Both places are the same.', 'Name another place with --from or --to: a folder or a database.'),
      );
    }
    const team = await program.team();
    const masterKeys = yield* await readMasterKey(team, options);
    const sessionsNamed = options['session'] === undefined ? 'all sessions' : `session ${String(options['session'])}`;
    const what = `${sessionsNamed} from ${placeName(fromPlace)} to ${placeName(toPlace)}`;
    const place = { team, space: options['space'], masterKeys, opened, what };
    const from = yield* await openPlace(place, fromPlace);
    const to = yield* await openPlace(place, toPlace);
    const services: CopyServices = { from, to, tools: team.tools, yieldNow: team.yieldNow };
    const listed = yield* (await from.sessions.list()).mapErr((failure) => refusalProblem(failure, fromPlace));
    const wanted = yield* named(listed, options['session']);
    const sessions: CopiedSession[] = [];
    for (const [at, sessionId] of wanted.entries()) {
      progress.show({ label: 'copying', done: at, total: wanted.length });
      sessions.push(
        yield* (await copySession(services, sessionId)).mapErr((refusal) => refusalProblem(refusal, toPlace)),
      );
    }
    const keys =
      options['keys'] === true
        ? yield* (await copyKeys(services)).mapErr((failure) => refusalProblem(failure, toPlace))
        : null;
    return done({ data: { sessions, keys }, ...copyWords(sessions, keys), next: nextAfter(toPlace, options) });
  });
}

function nextAfter(toPlace: string, options: CommandInput['options']): string {
  if (!isDatabaseUrl(toPlace)) return 'workrail session verify';
  return `workrail store copy --from ${shellWord('URL')} --space ${shellWord(String(options['space']))}`;
}

export function isDatabaseUrl(place: string): boolean {
  return SCHEME.test(place) && !isBrokenUrl(place);
}

const SCHEME = /^postgres(?:ql)?:\/\//;

function isBrokenUrl(place: string): boolean {
  return SCHEME.test(place) && !URL.canParse(withHost(place));
}

/** An address without a host is one of a socket of this machine. */
function withHost(url: string): string {
  return url.replace('@/', '@localhost/');
}

function notAnAddress(flag: string): CommandProblem {
  return usageProblem(
    `${flag} is not the address of a database.`,
    'Use postgres://USER@HOST:PORT/NAME; the password can be in PGPASSWORD.',
  );
}

function placeOf(place: string): string {
  return isDatabaseUrl(place) ? place : resolve(place);
}

type Opening = {
  readonly team: TeamAccess;
  readonly space: unknown;
  readonly masterKeys: MasterKeys | undefined;
  readonly opened: TeamDatabase[];
  /** What is copied, for the audit log. */
  readonly what: string;
};

async function openPlace(
  { team, space, masterKeys, opened, what }: Opening,
  place: string,
): Promise<Result<Store & Pick<CopyServices['to'], 'marks'>, CommandProblem>> {
  if (!isDatabaseUrl(place)) return ok(team.folder(resolve(place)));
  if (space === undefined) {
    return err(
      usageProblem('A database needs the name of a space.', 'Add --space NAME; "workrail space list" shows them.'),
    );
  }
  const database = team.database(place);
  opened.push(database);
  const store = await database.openSpace(String(space), masterKeys?.masterKey, masterKeys?.previousKeys);
  if (store.isErr()) return err(teamProblem(store.error));
  // Noted before anything is copied: a copy that is interrupted took sessions, too.
  const noted = await noteInLog(team, database, { space: String(space), action: 'copy_started', subject: what });
  return noted.map(() => store.value);
}

/** A place as the audit log names it: an address can hold a password. */
function placeName(place: string): string {
  if (!isDatabaseUrl(place)) return resolve(place);
  const { host, pathname } = new URL(withHost(place));
  return `the database ${host}${pathname}`;
}

type Noted = {
  readonly space: string;
  readonly action: NotedAction;
  /** Default: the space. */
  readonly subject?: string;
};

/** What the operator did with keys and sessions is in the audit log of the space. */
export async function noteInLog(
  team: TeamAccess,
  database: TeamDatabase,
  { space, action, subject = space }: Noted,
): Promise<Result<void, CommandProblem>> {
  const access = await database.access(space);
  if (access.isErr()) return err(teamProblem(access.error));
  const noted = await access.value.note(action, subject, { by: team.operator(), at: team.clock.nowMs() });
  return noted.mapErr((failure) => refusalProblem(failure, 'of the database'));
}

async function readMasterKey(
  team: TeamAccess,
  options: CommandInput['options'],
): Promise<Result<MasterKeys | undefined, CommandProblem>> {
  const file = options['masterKeyFile'];
  if (options['keys'] !== true) return ok(undefined);
  return typeof file === 'string'
    ? masterKeyIn(team, file)
    : err(usageProblem('--keys needs --master-key-file.', HOW_TO_MAKE_A_KEY));
}

const HOW_TO_MAKE_A_KEY = 'Make one with "openssl rand -hex 32" and keep it as safe as the keys themselves.';

/** The master key in a file, and those that it replaced. */
export async function masterKeyIn(team: TeamAccess, path: unknown): Promise<Result<MasterKeys, CommandProblem>> {
  const file = String(path);
  const read = await team.readKeyFile(file);
  if (read.isErr()) return err(refusalProblem(read.error, file));
  const keys = masterKeysIn(Buffer.from(read.value).toString('latin1'));
  return keys === undefined ? err(usageProblem(`${file} does not hold 64 hex digits.`, HOW_TO_MAKE_A_KEY)) : ok(keys);
}

function named(listed: readonly SessionId[], asked: unknown): Result<readonly SessionId[], CommandProblem> {
  if (asked === undefined) return ok(listed);
  const found = listed.filter((id) => id.endsWith(String(asked)));
  if (found.length === 1) return ok(found);
  const message = `${found.length === 0 ? 'No session matches' : `${found.length} sessions match`} "${String(asked)}".`;
  const shown = found.length === 0 ? 'Leave out --session to copy all of them.' : `Type more: ${shortList(found)}.`;
  return err(problem(found.length === 0 ? EXIT.notFound : EXIT.usage, message, shown));
}

const WORDS: { readonly [kind in CopiedSession['kind']]: string } = {
  copied: 'copied',
  continued: 'continued with what was new',
  unchanged: 'already there',
  differs: 'not copied, because the target has another history under this id',
  damaged: 'not copied, because it is damaged or only part of a session',
};

function copyWords(sessions: readonly CopiedSession[], keys: 'copied' | 'none' | 'taken' | null) {
  const lines: Line[] = KINDS.flatMap((kind): Line[] => {
    const those = sessions.filter((session) => session.kind === kind);
    if (those.length === 0) return [];
    const ids = kind === 'differs' || kind === 'damaged' ? `: ${shortList(those.map((one) => one.sessionId))}` : '';
    return [[`${plural(those.length, 'session')} ${WORDS[kind]}${ids}.`]];
  });
  if (sessions.length === 0) lines.push(['There are no sessions to copy.']);
  if (keys === 'copied') lines.push(['The signing keys are the same in both places, so tokens stay valid.']);
  if (keys === 'none') lines.push(['There are no signing keys to copy.']);
  if (keys === 'taken')
    lines.push(['The target has signing keys of its own. They stay, so tokens from here are invalid there.']);
  const left = sessions.filter(({ kind }) => kind === 'differs' || kind === 'damaged').length;
  const found =
    left === 0
      ? undefined
      : problem(EXIT.checkFailed, `${plural(left, 'session')} could not be copied.`, 'Run "workrail session verify".');
  return { lines, problem: found };
}

export async function withDatabase<Value>(
  { program }: CommandContext,
  { options }: CommandInput,
  work: (database: TeamDatabase) => Promise<Result<Value, CommandProblem>>,
): Promise<Result<Value, CommandProblem>> {
  return safeTry(async function* (): Flow<Value, CommandProblem> {
    const url = yield* urlOf(options['databaseUrl']);
    const database = (await program.team()).database(url);
    const worked = await work(database);
    await database.close();
    return worked;
  });
}

function urlOf(written: unknown): Result<string, CommandProblem> {
  if (typeof written === 'string' && isDatabaseUrl(written)) return ok(written);
  const wrong = notAnAddress('--database-url');
  return err(written === undefined ? usageProblem('--database-url is missing.', wrong.error.suggestion) : wrong);
}

type OwnRefusal = Extract<
  SpaceRefusal | MigrationRefusal,
  { code: 'schema_newer' | 'schema_differs' | 'server_role_unfit' | 'not_migrated' | 'space_unknown' }
>;

const OWN_WORDS: RefusalTable<OwnRefusal> = {
  schema_newer: ({ found, known }) => ({
    code: 'STORE_UNKNOWN_VERSION',
    message: `The database has version ${found}, and this workrail knows versions up to ${known}.`,
    suggestion: 'Update workrail on this machine.',
  }),
  schema_differs: ({ version }) => ({
    code: 'STORE_UNKNOWN_VERSION',
    message: `Version ${version} of the database was made by another program than this one.`,
    suggestion: 'Check that --database-url names the right database. Do not change its tables by hand.',
  }),
  server_role_unfit: ({ role, why }) =>
    why === 'missing'
      ? {
          message: `The database has no role "${role}". Nothing was changed.`,
          suggestion: `Create it in the database, for example with: create role ${role} login`,
        }
      : {
          message: `The role "${role}" could still change what was recorded. Nothing was changed.`,
          suggestion:
            'Name a role that does not own the tables, is not a superuser, and is not a member of a role that may change them.',
        },
  not_migrated: ({ missing }) => ({
    code: 'STORE_UNKNOWN_VERSION',
    message: `The database lacks ${plural(missing, 'migration')}.`,
    suggestion: `Run "${MIGRATE}" once, then run the command again.`,
  }),
  space_unknown: ({ name, known }) => ({
    message: `There is no space "${name}" in this database.`,
    suggestion:
      known.length === 0
        ? `Create it with "workrail space create ${name} --database-url URL".`
        : `Choose one of: ${shortList(known)}; or create it with "workrail space create".`,
  }),
};

export function teamProblem(refusal: SpaceRefusal | MigrationRefusal): CommandProblem {
  if (isOwn(refusal)) return errorProblem(byCode(OWN_WORDS, refusal, ''));
  return refusalProblem(refusal, 'of the database');
}

function isOwn(refusal: SpaceRefusal | MigrationRefusal): refusal is OwnRefusal {
  return Object.hasOwn(OWN_WORDS, refusal.code);
}
