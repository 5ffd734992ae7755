import { err, ok, type Result } from 'neverthrow';
import { readBundleFile } from '../adapters/bundle.ts';
import { oidcProvider } from '../adapters/identity-provider.ts';
import { re2Patterns } from '../adapters/patterns.ts';
import { teamDatabase } from '../adapters/postgres-store/postgres-store.ts';
import { nodeFolderAccess } from '../adapters/sources/read-folder.ts';
import { workflowFiles } from '../adapters/sources/workflow-files.ts';
import { answerIds, nodeHasher, randomIds, systemClock } from '../adapters/system.ts';
import { workflowCatalog } from '../app/catalog/workflow-catalog.ts';
import type { SpaceAccess, SpaceRefusal, SpaceStore, TeamDatabase } from '../app/ports/team-database.ts';
import type { Services } from '../app/services.ts';
import { type Entrance, ownedSessions } from '../app/team/access.ts';
import type { TeamServeOptions, TeamServeRefusal, TeamServing } from '../cli/program.ts';
import type { GateSettings } from '../core/settings/settings-in-effect.ts';
import { resourceOf, serveSpaces } from '../http/team/serve-spaces.ts';
import { teamMetrics } from '../http/team/team-metrics.ts';
import { TOOLS } from '../mcp/answer-call.ts';
import { describedWorkspace } from '../mcp/described-workspace.ts';
import { type McpHttpHandler, mcpHttpHandler } from '../mcp/http-handler.ts';
import { mcpBackend } from '../mcp/server.ts';
import { type Bundled, catalogTools } from './open-catalog.ts';

type Host = {
  readonly version: string;
  readonly bundled: Bundled;
  /** Registers what to do before the process ends. */
  readonly onStop: (stop: () => Promise<void>) => void;
};

/** Load balancers look at readiness about this often. */
const DRAIN_MS = 5_000;

/** Serves a team from its database. Only this loads the driver and the identity provider. */
export async function serveTeam(
  how: TeamServeOptions,
  { version, bundled, onStop }: Host,
): Promise<Result<TeamServing, TeamServeRefusal>> {
  const masterKey = await readMasterKey(how.masterKeyFile);
  if (masterKey.isErr()) return err(masterKey.error);
  const database = teamDatabase(how.databaseUrl, nodeHasher.sha256, { isConfined: how.isConfined });
  const safe = await checked(database, how);
  if (safe.isErr()) {
    await database.close();
    return err(safe.error);
  }
  const metrics = teamMetrics(TOOLS.map(({ name }) => name));
  const catalog = bundledCatalog(bundled);
  const stores = openedOnce((space) => database.openSpace(space, masterKey.value));
  const handlers = new Map<string, McpHttpHandler>();
  const handlerOf = async (space: string): Promise<McpHttpHandler | undefined> => {
    const known = handlers.get(space);
    if (known !== undefined) return known;
    const store = await stores(space);
    if (store.isErr()) return undefined;
    const backend = mcpBackend({
      version,
      services: async () => spaceServices(store.value, catalog),
      isLogged: how.isLogged,
    });
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
    const sessionsFor = ownedSessions(() => database.access(space), systemClock);
    const handler = mcpHttpHandler({ ...backend, log: counted, place, describedWorkspace, sessionsFor });
    handlers.set(space, handler);
    return handler;
  };
  const serving = await serveSpaces({
    publicUrl: how.publicUrl,
    listen: how.listen,
    admin: how.admin,
    entrance: entranceOf(database, how),
    mcp: async (space, request, caller) => (await handlerOf(space))?.fetch(request, caller),
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
    await Promise.all([...handlers.values()].map((handler) => handler.stop()));
    await stop();
    await database.close();
  });
  return ok({ url, adminUrl });
}

function entranceOf(database: TeamDatabase, { publicUrl, issuer }: TeamServeOptions): Entrance {
  return {
    clock: systemClock,
    sha256: nodeHasher.sha256,
    access: openedOnce((space): Promise<Result<SpaceAccess, SpaceRefusal>> => database.access(space)),
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

/** The workflows that come with the program. No folder of the server's machine belongs to a caller. */
function bundledCatalog(bundled: Bundled): Services['catalog'] {
  const files = workflowFiles({ bundled: bundled.folder }, nodeFolderAccess);
  return workflowCatalog({ files: () => files.files(undefined) }, catalogTools(bundled));
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

function spaceServices(store: SpaceStore, catalog: Services['catalog']): Services {
  const patterns = re2Patterns();
  return {
    ...store,
    catalog,
    patterns: { load: async () => patterns },
    // Paths in a call name folders of the caller's machine; none of them is opened here.
    workspace: { observe: async () => [], tree: async () => undefined },
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
    gateSettings: async () => TEAM_GATES,
    hasher: nodeHasher,
    clock: systemClock,
    ids: randomIds(systemClock),
    answerIds,
    tokenForm: 'compact',
  };
}
