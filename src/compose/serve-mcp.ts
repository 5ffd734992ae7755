import { stat } from 'node:fs/promises';
import { ok, type Result } from 'neverthrow';
import { findDataDir, loadOwnConfig, settingsOf } from '../adapters/settings.ts';
import type { ServeOptions, ServeRefusal, Serving } from '../cli/program.ts';
import { defined } from '../core/json/json-value.ts';
import { serveMcpOnStdio } from '../mcp/serve-stdio.ts';
import { type BackendOptions, mcpBackend } from '../mcp/server.ts';
import type { Bundled } from './open-catalog.ts';

/** What a server needs from its process. */
type Host = {
  readonly version: string;
  readonly bundled: Bundled;
  readonly workingDir: string;
  readonly writeError: (text: string) => void;
  /** Registers what to do before the process ends. */
  readonly onStop: (stop: () => Promise<void>) => void;
} & Pick<BackendOptions, 'onRest'>;

/** Serves MCP. This is bundled separately from the commands, as scripts: only the protocol is loaded before the first reply. */
export async function serveMcp(how: ServeOptions, host: Host): Promise<Result<Serving, ServeRefusal>> {
  const config = await loadOwnConfig([]);
  if (config.problems.length + config.ignored.length > 0) {
    const { lines, exitCode } = (await import('./config-notices.ts')).configNotices(config);
    for (const line of lines) host.writeError(line);
    if (exitCode !== undefined) {
      process.exitCode = exitCode;
      return ok({ isRefused: true });
    }
  }
  await warnIfOpen(host);
  const settings = settingsOf(config);
  const isLogged = how.isLogged || settings.isLogged;
  const { isSessionStartOn } = settings;
  const services = async () => (await import('./open-server-services.ts')).openServerServices(settings, host.bundled);
  const startedAt = Math.max(0, Date.now());
  // Port 0 asks for any free port, and which one that is shows once the server listens.
  let opened = how;
  const started = () => ({ version: host.version, config, how: opened, startedAt, isSessionStartOn });
  // Only a server that has recorded something is known to others: a client may start many and never use them.
  let recorded: Promise<() => Promise<void>> | undefined;
  let recording: NodeJS.Timeout | undefined;
  const onStop = (stop: () => Promise<void>) =>
    host.onStop(async () => {
      await stop();
      clearTimeout(recording);
      await (await recorded)?.();
    });
  const backend = mcpBackend({
    workingDir: host.workingDir,
    version: host.version,
    services,
    isLogged,
    isSessionStartOn,
    ...defined({ onRest: host.onRest }),
    onAppend: (by) => {
      recording ??= setTimeout(() => {
        recorded = import('./record-server.ts').then(({ recordServer }) => recordServer({ ...started(), by }));
      }, RECORD_AFTER_MS).unref();
    },
  });
  if (how.transport === 'http') {
    const { serveHttp } = await import('./serve-http.ts');
    const serving = await serveHttp(backend, { port: how.port, onStop, started });
    const { url } = serving.unwrapOr<Serving>({});
    if (url !== undefined) opened = { ...how, port: Number(new URL(url).port) };
    return serving;
  }
  onStop(serveMcpOnStdio(backend).stop);
  return ok({});
}

/** The reply to the first append, and a call that follows it at once, need not wait for the record. */
const RECORD_AFTER_MS = 100;

/** A data folder that somebody made with a mode open to others stays open; nobody else would say so. */
async function warnIfOpen({ writeError }: Host): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await findDataDir();
  const mode = await stat(folder).then(
    (found) => found.mode & 0o777,
    () => 0o700,
  );
  if ((mode & 0o077) === 0) return;
  writeError(
    `workrail: Other users of this machine can open the data folder ${JSON.stringify(folder)} (mode ${mode.toString(8)}). Run: chmod 700 ${JSON.stringify(folder)}\n`,
  );
}
