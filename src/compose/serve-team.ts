import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { err, ok, type Result } from 'neverthrow';
import { boundedCache } from '../adapters/bounded-cache.ts';
import { readBundleFile } from '../adapters/bundle.ts';
import { consoleAssets } from '../adapters/console.ts';
import { browserSignIn, masterKeySealer, oidcProvider } from '../adapters/identity/identity-provider.ts';
import { re2Patterns } from '../adapters/patterns.ts';
import { measuredStore } from '../adapters/postgres-store/measured-store.ts';
import { teamDatabase } from '../adapters/postgres-store/postgres-store.ts';
import { nodeFolderAccess } from '../adapters/sources/read-folder.ts';
import { withProjectFiles, workflowFiles } from '../adapters/sources/workflow-files.ts';
import { answerIds, nodeHasher, randomIds, systemClock } from '../adapters/system.ts';
import { workflowCatalog } from '../app/catalog/workflow-catalog.ts';
import type { SpaceAccess, SpaceRefusal, SpaceStore, TeamDatabase } from '../app/ports/team-database.ts';
import type { WorkflowSource } from '../app/ports/workflow-sources.ts';
import type { Services } from '../app/services.ts';
import type { Entrance } from '../app/team/access.ts';
import { type SpaceRules, spaceRules } from '../app/team/space-rules.ts';
import { spaceWorkflows } from '../app/team/space-sources.ts';
import type { TeamServeOptions, TeamServeRefusal, TeamServing } from '../cli/program.ts';
import { defined } from '../core/json/json-value.ts';
import type { GateSettings } from '../core/settings/settings-in-effect.ts';
import { type MasterKeys, masterKeysIn } from '../core/token/keyring.ts';
import { CALLBACK_PATH } from '../http/team/browser-sessions.ts';
import { resourceOf, serveSpaces } from '../http/team/serve-spaces.ts';
import { type TeamMetrics, teamMetrics, tracedCall } from '../http/team/team-metrics.ts';
import { TOOLS } from '../mcp/answer-call.ts';
import { bareDigest, describedFiles } from '../mcp/described-workflows.ts';
import { describedWorkspace, idsOfCall } from '../mcp/described-workspace.ts';
import { type McpHttpHandler, mcpHttpHandler } from '../mcp/http-handler.ts';
import { TEAM_MESSAGE_LIMITS } from '../mcp/message-limits.ts';
import { type Backend, type CallCatalog, mcpBackend } from '../mcp/server.ts';
import { type Bundled, catalogTools } from './open-catalog.ts';
import { spaceConsole } from './open-team-console.ts';

type Host = {
  readonly version: string;
  /** The folder with the pages of the console. */
  readonly pages: string;
  readonly bundled: Bundled;
  /** Registers what to do before the process ends. */
  readonly onStop: (stop: () => Promise<void>) => void;
};

/** Load balancers look at readiness about this often. */
const DRAIN_MS = 5_000;

/** Serves a team from its database. Only this loads the driver and the identity provider. */
export async function serveTeam(
  how: TeamServeOptions,
  { version, pages, bundled, onStop }: Host,
): Promise<Result<TeamServing, TeamServeRefusal>> {
  const keys = await readMasterKeys(how.masterKeyFile);
  if (keys.isErr()) return err(keys.error);
  const { masterKey, previousKeys } = keys.value;
  const secret = await readClientSecret(how.clientSecretFile);
  if (secret.isErr()) return err(secret.error);
  const { database, metrics } = measuredDatabase(how);
  const safe = await checked(database, how, keys.value);
  if (safe.isErr()) {
    await database.close();
    return err(safe.error);
  }
  const stores = openedOnce(async (space) =>
    (await database.openSpace(space, masterKey, previousKeys)).map((store) => measuredStore(store, metrics.store)),
  );
  const access = openedOnce((space): Promise<Result<SpaceAccess, SpaceRefusal>> => database.access(space));
  const rulesOf = madeOnce((space) => spaceRules(() => access(space), systemClock));
  const catalogs = teamCatalogs(bundled, (base) =>
    madeOnce((space) => spaceWorkflows(base, rulesOf(space), () => access(space))),
  );
  const servicesOf = spaceServices(catalogs.ofSpace, rulesOf, how.publicUrl);
  const agents = mcpHandlers({ stores, rulesOf, servicesOf, catalogs, metrics, version, isLogged: how.isLogged });
  const serving = await serveSpaces({
    publicUrl: how.publicUrl,
    listen: how.listen,
    admin: how.admin,
    entrance: entranceOf(access, how),
    console: {
      publicUrl: how.publicUrl,
      version,
      assets: consoleAssets(pages),
      sealer: masterKeySealer(masterKey, previousKeys),
      endedSessions: database.endedSessions,
      groupsWithRole: database.groupsWithRole,
      spacesOf: database.spacesOf,
      clock: systemClock,
      signIn: signInOf(how, secret.value),
      access,
      admin: { clock: systemClock, sha256: nodeHasher.sha256, random: () => randomBytes(TOKEN_BYTES) },
      consoleOf: async (caller) => {
        const store = await stores(caller.space);
        return store.map((opened) =>
          spaceConsole(opened, { services: servicesOf(caller.space, opened), caller, version }),
        );
      },
    },
    ci: {
      access,
      // The keys of each CI system are fetched once.
      providerOf: madeOnce(oidcProvider),
      audience: how.publicUrl.origin,
      servicesOf: async (space) => (await stores(space)).map((opened) => servicesOf(space, opened)),
      sha256: nodeHasher.sha256,
    },
    mcp: async (space, request, caller) => (await agents.of(space))?.fetch(request, caller),
    readiness: async () => (await database.ready()).mapErr(({ code }) => code),
    metrics,
  });
  if (serving.isErr()) {
    await database.close();
    return err(serving.error);
  }
  const { url, adminUrl, drain, stop } = serving.value;
  onStop(async () => {
    drain();
    if (how.isDrained) await new Promise((waited) => setTimeout(waited, DRAIN_MS));
    for (const end of [agents.stop, stop, database.close]) await end();
  });
  return ok({ url, adminUrl, ...defined({ openKeyMode: await openMode(how.masterKeyFile) }) });
}

/** The database, and what this replica counts of it. */
function measuredDatabase({ databaseUrl, isConfined, connections: connectionsMax, listenUrl }: TeamServeOptions) {
  const metrics: TeamMetrics = teamMetrics(
    TOOLS.map(({ name }) => name),
    { connections: () => database.connections(), waiting: () => database.waiting(), nowMs: systemClock.nowMs },
  );
  const onStatement = metrics.statement;
  const database = teamDatabase(databaseUrl, nodeHasher.sha256, { isConfined, connectionsMax, listenUrl, onStatement });
  return { database, metrics };
}

type Agents = {
  readonly stores: (space: string) => Promise<Result<SpaceStore, SpaceRefusal>>;
  readonly rulesOf: (space: string) => SpaceRules;
  readonly servicesOf: (space: string, store: SpaceStore) => Services;
  readonly catalogs: TeamCatalogs;
  readonly metrics: TeamMetrics;
  readonly version: string;
  readonly isLogged: boolean;
};

/** Answers MCP in each space; `undefined` for one that does not exist. */
function mcpHandlers({ stores, rulesOf, servicesOf, catalogs, metrics, version, isLogged }: Agents) {
  const handlers = new Map<string, McpHttpHandler>();
  return {
    of: async (space: string): Promise<McpHttpHandler | undefined> => {
      const known = handlers.get(space);
      if (known !== undefined) return known;
      const store = await stores(space);
      if (store.isErr()) return undefined;
      const backend = mcpBackend({
        version,
        services: async () => servicesOf(space, store.value),
        isLogged,
        workingDir: '',
      });
      const catalogOf = (meta: unknown) => catalogs.of(space, meta);
      const handler = countedHandler({ ...backend, catalogOf }, metrics, rulesOf(space).sessionsFor);
      handlers.set(space, handler);
      return handler;
    },
    stop: async () => {
      await Promise.all([...handlers.values()].map((handler) => handler.stop()));
    },
  };
}

/** Answers MCP, and counts the calls. */
function countedHandler(
  backend: ReturnType<typeof mcpBackend> & Pick<Backend, 'catalogOf'>,
  metrics: TeamMetrics,
  sessionsFor: SpaceRules['sessionsFor'],
): McpHttpHandler {
  const { log } = backend;
  const counted = {
    ...log,
    call: (entry: Parameters<typeof log.call>[0]) => {
      metrics.call(entry);
      log.call(entry);
    },
  };
  // No folder of this machine is the workspace of a call.
  const place = { workingDir: '', homeDir: '' };
  const handler: Backend = {
    ...backend,
    log: counted,
    traced: ({ meta, tool }, work) => tracedCall({ meta, tool: isTool(tool) ? tool : 'other' }, work),
    place,
    describedWorkspace,
    sessionsFor,
    idsOfCall: (meta, { name: tool, arguments: args }, principal) =>
      idsOfCall(meta, { principal, tool, arguments: args }, nodeHasher),
  };
  return mcpHttpHandler(handler, { messages: TEAM_MESSAGE_LIMITS, areBatchesTaken: false });
}

/** An agent can call a tool by any name. */
const isTool = (name: string) => TOOLS.some((tool) => tool.name === name);

const TOKEN_BYTES = 32;
/** People whose group a server remembers to have noted. */
const LET_IN_MAX = 10_000;

/** Browsers sign in where the operator named the client that the identity provider knows this server as. */
function signInOf({ issuer, clientId, groupsClaim, publicUrl }: TeamServeOptions, clientSecret: string | undefined) {
  if (issuer === undefined || clientId === undefined) return undefined;
  const redirectUri = new URL(CALLBACK_PATH, publicUrl).href;
  return browserSignIn({ issuer, clientId, clientSecret, redirectUri, ...defined({ groupsClaim }) });
}

function entranceOf(access: Entrance['access'], { publicUrl, issuer, groupsClaim }: TeamServeOptions): Entrance {
  return {
    clock: systemClock,
    sha256: nodeHasher.sha256,
    access,
    identity: issuer === undefined ? undefined : oidcProvider(issuer, groupsClaim),
    letIn: boundedCache<string, true>(LET_IN_MAX),
    audiences: (space) => [resourceOf(publicUrl, space), publicUrl.origin],
  };
}

/** Remembers what was opened. A space that does not exist yet is asked for again. */
function openedOnce<Value>(
  open: (space: string) => Promise<Result<Value, SpaceRefusal>>,
): (space: string) => Promise<Result<Value, SpaceRefusal>> {
  const opened = new Map<string, Value>();
  return async (space) => {
    const known = opened.get(space);
    if (known !== undefined) return ok(known);
    const found = await open(space);
    if (found.isOk()) opened.set(space, found.value);
    return found;
  };
}

async function checked(
  database: TeamDatabase,
  { issuer, isConfined, masterKeyFile: file }: TeamServeOptions,
  keys: MasterKeys,
): Promise<Result<void, TeamServeRefusal>> {
  const found = await database.dangers();
  if (found.isErr()) return err(found.error);
  const dangers = found.value.filter(
    (danger) => (danger !== 'no_access' || issuer === undefined) && (danger !== 'bypasses_rls' || isConfined),
  );
  if (dangers.length > 0) return err({ code: 'database_unfit', dangers });
  return (await database.unopenedSpaces(keys)).andThen((spaces) =>
    spaces.length === 0 ? ok(undefined) : err({ code: 'master_key_wrong' as const, file, spaces }),
  );
}

async function readMasterKeys(file: string): Promise<Result<MasterKeys, TeamServeRefusal>> {
  const read = await readBundleFile(file);
  const keys = read.isOk() ? masterKeysIn(Buffer.from(read.value).toString('latin1')) : undefined;
  return keys === undefined ? err({ code: 'master_key_unusable', file }) : ok(keys);
}

/** The mode of a file that other users of this machine can read. */
async function openMode(file: string): Promise<string | undefined> {
  if (process.platform === 'win32') return undefined;
  const mode = await stat(file).then(
    (found) => found.mode & 0o777,
    () => 0o600,
  );
  return (mode & 0o077) === 0 ? undefined : mode.toString(8);
}

async function readClientSecret(file: string | undefined): Promise<Result<string | undefined, TeamServeRefusal>> {
  if (file === undefined) return ok(undefined);
  const read = await readBundleFile(file);
  const text = read.isOk() ? Buffer.from(read.value).toString('utf8').trim() : '';
  return text === '' ? err({ code: 'client_secret_unusable', file }) : ok(text);
}

/** The workflows of calls. What is remembered is only a cache: another replica asks for the texts that it lacks. */
export function teamCatalogs(
  bundled: Bundled,
  filesOf: (base: WorkflowSource) => (space: string) => WorkflowSource,
): TeamCatalogs {
  const sourceOf = filesOf(workflowFiles({ bundled: bundled.folder }, nodeFolderAccess));
  const tools = catalogTools(bundled);
  const catalogs = boundedCache<string, KeptCatalog>(CATALOGS_MAX, {
    bytesMax: CATALOG_TEXTS_BYTES_MAX,
    bytesOf: ({ bytes }) => bytes,
  });
  const texts = boundedCache<string, string>(TEXTS_MAX, { bytesMax: TEXTS_BYTES_MAX, bytesOf: bytesInMemory });
  return {
    ofSpace: madeOnce((space) => workflowCatalog({ files: () => sourceOf(space).files() }, tools)),
    of: (space, meta) => {
      const described = describedFiles(meta, { space, texts, sha256: nodeHasher.sha256 });
      if (described?.kind !== 'files') return described;
      const { files } = described;
      const key = bareDigest(JSON.stringify([space, files.map(({ ref, digest }) => [ref, digest])]), nodeHasher.sha256);
      const known = catalogs.get(key);
      if (known !== undefined) return { kind: 'catalog', catalog: known.catalog };
      // Made once, so that files that did not change are the same objects.
      const brought = withProjectFiles({ files: [] }, files);
      const made = {
        files: async () => ({ ...brought, files: [...(await sourceOf(space).files()).files, ...brought.files] }),
      };
      const catalog = workflowCatalog(made, tools);
      catalogs.set(key, { catalog, bytes: files.reduce((sum, { text }) => sum + bytesInMemory(text), 0) });
      return { kind: 'catalog', catalog };
    },
  };
}

/** Projects whose workflows are kept compiled. */
const CATALOGS_MAX = 64;
/** Files of projects whose texts are remembered; a bridge sends the others again. */
const TEXTS_MAX = 1_000;
/** Any caller may send files, so neither cache may grow with what is in them. */
const TEXTS_BYTES_MAX = 64 * 1024 * 1024;
/** Of the texts that catalogs were made from; what was compiled takes a few times as much. */
const CATALOG_TEXTS_BYTES_MAX = 16 * 1024 * 1024;

type TeamCatalogs = {
  /** The workflows of a space. No folder of the server's machine belongs to a caller. */
  readonly ofSpace: (space: string) => Services['catalog'];
  /** Those and the files that a call brings along; `undefined` if it brings none. */
  readonly of: (space: string, meta: unknown) => CallCatalog | undefined;
};

type KeptCatalog = { readonly catalog: Services['catalog']; readonly bytes: number };

/** A character takes up to two bytes in memory. */
function bytesInMemory(text: string): number {
  return 2 * text.length;
}

function madeOnce<Value>(make: (name: string) => Value): (name: string) => Value {
  const made = new Map<string, Value>();
  return (name) => {
    const value = made.get(name) ?? make(name);
    made.set(name, value);
    return value;
  };
}

const TEAM_DEFAULTS = { autonomy: 'guided', riskPolicy: 'conservative' } as const;

/** A form at the client travels on the agent's credential, so it never counts here. */
const TEAM_GATES: GateSettings = {
  minimum: 'stated',
  isFourEyes: false,
  accept: ['terminal', 'console', 'team'],
  waitSeconds: 0,
  unattended: 'block',
};

/** The bare address of what waits in a space. The page has a sign-in of its own. */
function waitingPageOf(publicUrl: URL, space: string): string {
  return new URL(`/s/${encodeURIComponent(space)}/waiting`, publicUrl).href;
}

/** The gates of a space: four eyes are a setting of it. What cannot be read is taken to be the stricter. */
function spaceGates({ settings }: SpaceRules, page: string): Services['gateSettings'] {
  return async () => {
    const read = await settings();
    return { ...TEAM_GATES, page, isFourEyes: read.isErr() || read.value.isFourEyes };
  };
}

/** What the use cases need for a space. */
function spaceServices(
  catalogOf: TeamCatalogs['ofSpace'],
  rulesOf: (space: string) => SpaceRules,
  publicUrl: URL,
): (space: string, store: SpaceStore) => Services {
  const patterns = re2Patterns();
  return (space, store) => ({
    ...store,
    catalog: catalogOf(space),
    patterns: { load: async () => patterns },
    // Paths in a call name folders of the caller's machine; none of them is opened here.
    workspace: { observe: async () => [], tree: async () => undefined, isElsewhere: true },
    references: {
      find: async (references) =>
        references.map(({ title, source, purpose, isAuthoritative, resolveFrom }) => ({
          title,
          path: source,
          purpose,
          isAuthoritative,
          isResolved: false,
          isOutside: resolveFrom !== 'workspace',
        })),
    },
    defaults: async () => ok(TEAM_DEFAULTS),
    gateSettings: spaceGates(rulesOf(space), waitingPageOf(publicUrl, space)),
    handedTo: (sessionId) => rulesOf(space).handedTo(sessionId),
    hasher: nodeHasher,
    clock: systemClock,
    ids: randomIds(systemClock),
    answerIds,
    tokenForm: 'bound',
  });
}
