import { stat } from 'node:fs/promises';
import { err, ok, type Result } from 'neverthrow';
import { findDataDir, loadOwnConfig, settingsOf } from '../adapters/settings.ts';
import type { ServeOptions, ServeRefusal, Serving } from '../cli/program.ts';
import { serveMcpOnStdio } from '../mcp/serve-stdio.ts';
import { type Backend, mcpBackend } from '../mcp/server.ts';

/** What a server needs from its process. */
type Host = {
  readonly version: string;
  readonly bundledFolder: string;
  readonly writeError: (text: string) => void;
  /** Registers what to do before the process ends. */
  readonly onStop: (stop: () => Promise<void>) => void;
};

/** Serves MCP. This is bundled separately from the commands: only the protocol is loaded before the first reply. */
export async function serveMcp(how: ServeOptions, host: Host): Promise<Result<Serving, ServeRefusal>> {
  const config = await loadOwnConfig(undefined);
  if (config.problems.length + config.ignored.length > 0) {
    const [{ EXIT }, { printable }, { configProblemText, ignoredText }] = await Promise.all([
      import('../cli/problem.ts'),
      import('../cli/output/line.ts'),
      import('../core/settings/settings-words.ts'),
    ]);
    for (const ignored of config.ignored) host.writeError(`workrail: ${printable(ignoredText(ignored))}\n`);
    const [problem] = config.problems;
    if (problem !== undefined) {
      host.writeError(`workrail: ${printable(configProblemText(problem))} Nothing was started.\n`);
      process.exitCode = EXIT.usage;
      return ok({ isRefused: true });
    }
  }
  await warnIfOpen(host);
  const settings = settingsOf(config);
  const isLogged = how.isLogged || settings.isLogged;
  const { isSessionStartOn } = settings;
  const services = async () =>
    (await import('./open-server-services.ts')).openServerServices(settings, host.bundledFolder);
  const backend = mcpBackend({ version: host.version, services, isLogged, isSessionStartOn });
  if (how.transport === 'http') return serveHttp(backend, how.port, host);
  host.onStop(serveMcpOnStdio(backend).stop);
  return ok({});
}

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

async function serveHttp(backend: Backend, port: number, { onStop }: Host): Promise<Result<Serving, ServeRefusal>> {
  const [{ mcpHttpHandler }, { serveLocal }, { openHttpSecret }] = await Promise.all([
    import('../mcp/http-handler.ts'),
    import('../http/serve-local.ts'),
    import('../adapters/http-secret.ts'),
  ]);
  const secret = await openHttpSecret(await findDataDir());
  if (secret.isErr()) return err(secret.error);
  const mcp = mcpHttpHandler(backend);
  const server = await serveLocal({ port, mcp: mcp.fetch, secret: secret.value });
  return server.map(({ url, stop }) => {
    onStop(async () => {
      await mcp.stop();
      await stop();
    });
    return { url, secretFile: secret.value.file };
  });
}
