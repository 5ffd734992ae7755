import { randomBytes } from 'node:crypto';
import { err, ok, type Result } from 'neverthrow';
import { boundedCache } from '../adapters/bounded-cache.ts';
import { readBundleFile } from '../adapters/bundle.ts';
import { consoleAssets } from '../adapters/console.ts';
import { browserSignIn, masterKeySealer, oidcProvider } from '../adapters/identity/identity-provider.ts';
import { re2Patterns } from '../adapters/patterns.ts';
import { teamDatabase } from '../adapters/postgres-store/postgres-store.ts';
import { nodeFolderAccess } from '../adapters/sources/read-folder.ts';
import { withProjectFiles, workflowFiles } from '../adapters/sources/workflow-files.ts';
import { answerIds, nodeHasher, randomIds, systemClock } from '../adapters/system.ts';
import { workflowCatalog } from '../app/catalog/workflow-catalog.ts';
import type {
  IdentityProvider,
  SpaceAccess,
  SpaceRefusal,
  SpaceStore,
  TeamDatabase,
} from '../app/ports/team-database.ts';
import type { SourceListing } from '../app/ports/workflow-sources.ts';
import type { Services } from '../app/services.ts';
import { type Entrance, ownedSessions, type SessionOwners } from '../app/team/access.ts';
import type { TeamServeOptions, TeamServeRefusal, TeamServing } from '../cli/program.ts';
import type { GateSettings } from '../core/settings/settings-in-effect.ts';
import { CALLBACK_PATH } from '../http/team/browser-sessions.ts';
import { resourceOf, serveSpaces } from '../http/team/serve-spaces.ts';
import { type TeamMetrics, teamMetrics, tracedCall } from '../http/team/team-metrics.ts';
import { TOOLS } from '../mcp/answer-call.ts';
import { bareDigest, describedFiles } from '../mcp/described-workflows.ts';
import { describedWorkspace, idsOfCall } from '../mcp/described-workspace.ts';
import { type McpHttpHandler, mcpHttpHandler } from '../mcp/http-handler.ts';
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
  const masterKey = await readMasterKey(how.masterKeyFile);
  if (masterKey.isErr()) return err(masterKey.error);
  const secret = await readClientSecret(how.clientSecretFile);
  if (secret.isErr()) return err(secret.error);
  const { isConfined, connections: connectionsMax } = how;
  const database = teamDatabase(how.databaseUrl, nodeHasher.sha256, { isConfined, connectionsMax });
  const safe = await checked(database, how);
  if (safe.isErr()) {
    await database.close();
    return err(safe.error);
  }
  const metrics = teamMetrics(TOOLS.map(({ name }) => name));
  const stores = openedOnce((space) => database.openSpace(space, masterKey.value));
  const access = openedOnce((space): Promise<Result<SpaceAccess, SpaceRefusal>> => database.access(space));
  const catalogs = teamCatalogs(bundled);
  const servicesOf = spaceServices(catalogs.bundled, access, how.publicUrl);
  const agents = mcpHandlers({ stores, access, servicesOf, catalogs, metrics, version, isLogged: how.isLogged });
  const serving = await serveSpaces({
    publicUrl: how.publicUrl,
    listen: how.listen,
    admin: how.admin,
    entrance: entranceOf(access, how),
    console: {
      publicUrl: how.publicUrl,
      version,
      assets: consoleAssets(pages),
      sealer: masterKeySealer(masterKey.value),
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
      providerOf: providers(),
      audience: how.publicUrl.origin,
      servicesOf: async (space) => (await stores(space)).map((opened) => servicesOf(space, opened)),
      sha256: nodeHasher.sha256,
    },
    mcp: async (space, request, caller) => (await agents.of(space))?.fetch(request, caller),
    readiness: async () => (await database.spaces()).map(() => undefined).mapErr(({ code }) => code),
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
    await agents.stop();
    await stop();
    await database.close();
  });
  return ok({ url, adminUrl });
}

type Agents = {
  readonly stores: (space: string) => Promise<Result<SpaceStore, SpaceRefusal>>;
  readonly access: Entrance['access'];
  readonly servicesOf: (space: string, store: SpaceStore) => Services;
  readonly catalogs: TeamCatalogs;
  readonly metrics: TeamMetrics;
  readonly version: string;
  readonly isLogged: boolean;
};

/** Answers MCP in each space; `undefined` for one that does not exist. */
function mcpHandlers({ stores, access, servicesOf, catalogs, metrics, version, isLogged }: Agents) {
  const handlers = new Map<string, McpHttpHandler>();
  return {
    of: async (space: string): Promise<McpHttpHandler | undefined> => {
      const known = handlers.get(space);
      if (known !== undefined) return known;
      const store = await stores(space);
      if (store.isErr()) return undefined;
      const backend = mcpBackend({ version, services: async () => servicesOf(space, store.value), isLogged });
      const owners = ownedSessions(() => access(space), systemClock);
      const catalogOf = (meta: unknown) => catalogs.of(space, meta);
      const handler = countedHandler({ ...backend, catalogOf }, metrics, owners);
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
  sessionsFor: SessionOwners,
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
  return mcpHttpHandler({
    ...backend,
    log: counted,
    traced: ({ meta, tool }, work) => tracedCall({ meta, tool: isTool(tool) ? tool : 'other' }, work),
    place,
    describedWorkspace,
    sessionsFor,
    idsOfCall: (meta, { name: tool, arguments: args }, principal) =>
      idsOfCall(meta, { principal, tool, arguments: args }, nodeHasher),
  });
}

/** An agent can call a tool by any name. */
const isTool = (name: string) => TOOLS.some((tool) => tool.name === name);

const TOKEN_BYTES = 32;

/** Browsers sign in where the operator named the client that the identity provider knows this server as. */
function signInOf({ issuer, clientId, publicUrl }: TeamServeOptions, clientSecret: string | undefined) {
  if (issuer === undefined || clientId === undefined) return undefined;
  return browserSignIn({ issuer, clientId, clientSecret, redirectUri: new URL(CALLBACK_PATH, publicUrl).href });
}

/** The keys of each CI system are fetched once. */
function providers(): (issuer: string) => IdentityProvider {
  const known = new Map<string, IdentityProvider>();
  return (issuer) => {
    const provider = known.get(issuer) ?? oidcProvider(issuer);
    known.set(issuer, provider);
    return provider;
  };
}

function entranceOf(access: Entrance['access'], { publicUrl, issuer }: TeamServeOptions): Entrance {
  return {
    clock: systemClock,
    sha256: nodeHasher.sha256,
    access,
    identity: issuer === undefined ? undefined : oidcProvider(issuer),
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
  { issuer, isConfined }: TeamServeOptions,
): Promise<Result<void, TeamServeRefusal>> {
  const found = await database.dangers();
  if (found.isErr()) return err(found.error);
  const dangers = found.value.filter(
    (danger) => (danger !== 'no_access' || issuer === undefined) && (danger !== 'bypasses_rls' || isConfined),
  );
  return dangers.length === 0 ? ok(undefined) : err({ code: 'database_unfit', dangers });
}

const HEX_KEY = /^[0-9a-f]{64}$/i;

async function readMasterKey(file: string): Promise<Result<Uint8Array, TeamServeRefusal>> {
  const read = await readBundleFile(file);
  if (read.isErr()) return err({ code: 'master_key_unusable', file });
  const text = Buffer.from(read.value).toString('latin1').trim();
  return HEX_KEY.test(text) ? ok(Buffer.from(text, 'hex')) : err({ code: 'master_key_unusable', file });
}

async function readClientSecret(file: string | undefined): Promise<Result<string | undefined, TeamServeRefusal>> {
  if (file === undefined) return ok(undefined);
  const read = await readBundleFile(file);
  const text = read.isOk() ? Buffer.from(read.value).toString('utf8').trim() : '';
  return text === '' ? err({ code: 'client_secret_unusable', file }) : ok(text);
}

/** The workflows of calls. What is remembered is only a cache: another replica asks for the texts that it lacks. */
function teamCatalogs(bundled: Bundled): TeamCatalogs {
  const source = workflowFiles({ bundled: bundled.folder }, nodeFolderAccess);
  const tools = catalogTools(bundled);
  const catalogs = boundedCache<string, Services['catalog']>(CATALOGS_MAX);
  const texts = boundedCache<string, string>(TEXTS_MAX);
  const { sha256 } = nodeHasher;
  return {
    bundled: workflowCatalog({ files: () => source.files(undefined) }, tools),
    of: (space, meta) => {
      const described = describedFiles(meta, { space, texts, sha256 });
      if (described?.kind !== 'files') return described;
      const { files } = described;
      const key = bareDigest(JSON.stringify([space, files.map(({ ref, digest }) => [ref, digest])]), sha256);
      const known = catalogs.get(key);
      if (known !== undefined) return { kind: 'catalog', catalog: known };
      // Made once, so that files that did not change are the same objects.
      let listing: Promise<SourceListing> | undefined;
      const brought = async () => withProjectFiles(await source.files(undefined), files);
      const made = { files: () => (listing ??= brought()) };
      const catalog = workflowCatalog(made, tools);
      catalogs.set(key, catalog);
      return { kind: 'catalog', catalog };
    },
  };
}

/** Projects whose workflows are kept compiled. */
const CATALOGS_MAX = 64;
/** Files of projects whose texts are remembered; a bridge sends the others again. */
const TEXTS_MAX = 1_000;

type TeamCatalogs = {
  /** The workflows that come with the program. No folder of the server's machine belongs to a caller. */
  readonly bundled: Services['catalog'];
  /** Those and the files that a call brings along; `undefined` if it brings none. */
  readonly of: (space: string, meta: unknown) => CallCatalog | undefined;
};

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

/** How long what an admin set is remembered. */
const SETTINGS_MS = 5_000;

/** The gates of a space: four eyes are a setting of it. What cannot be read is taken to be the stricter. */
function spaceGates(access: () => ReturnType<Entrance['access']>, page: string): Services['gateSettings'] {
  let known: { readonly isFourEyes: boolean; readonly until: number } | undefined;
  return async () => {
    const now = systemClock.nowMs();
    if (known === undefined || now >= known.until) {
      const opened = await access();
      const read = opened.isOk() ? await opened.value.isFourEyes() : ok(true);
      known = { isFourEyes: read.unwrapOr(true), until: now + SETTINGS_MS };
    }
    return { ...TEAM_GATES, page, isFourEyes: known.isFourEyes };
  };
}

/** What the use cases need for a space. All who ask for the same space share what is remembered of its settings. */
function spaceServices(
  catalog: Services['catalog'],
  access: Entrance['access'],
  publicUrl: URL,
): (space: string, store: SpaceStore) => Services {
  const patterns = re2Patterns();
  const gates = new Map<string, Services['gateSettings']>();
  return (space, store) => {
    const gateSettings = gates.get(space) ?? spaceGates(() => access(space), waitingPageOf(publicUrl, space));
    gates.set(space, gateSettings);
    return {
      ...store,
      catalog,
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
      gateSettings,
      hasher: nodeHasher,
      clock: systemClock,
      ids: randomIds(systemClock),
      answerIds,
      tokenForm: 'bound',
    };
  };
}
