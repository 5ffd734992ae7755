import { err, type Result } from 'neverthrow';
import { openHttpSecret } from '../adapters/http-secret.ts';
import { findDataDir } from '../adapters/settings.ts';
import type { ServeRefusal, Serving } from '../cli/program.ts';
import { serveLocal } from '../http/serve-local.ts';
import { mcpHttpHandler } from '../mcp/http-handler.ts';
import type { Backend } from '../mcp/server.ts';
import type { RecordedServer } from './record-server.ts';

type Hosting = {
  readonly port: number;
  /** Registers what to do before the process ends. */
  readonly onStop: (stop: () => Promise<void>) => void;
  /** What is known of the server by now. */
  readonly started: () => RecordedServer;
};

/** Serves MCP on a local port. Few servers do, so this is loaded by those alone. */
export async function serveHttp(
  backend: Backend,
  { port, onStop, started }: Hosting,
): Promise<Result<Serving, ServeRefusal>> {
  const secret = await openHttpSecret(await findDataDir());
  if (secret.isErr()) return err(secret.error);
  const mcp = mcpHttpHandler(backend);
  const about = async () => (await import('./record-server.ts')).serverRecord(started());
  const server = await serveLocal({ port, mcp: mcp.fetch, about, secret: secret.value });
  return server.map(({ url, stop }) => {
    onStop(async () => {
      await mcp.stop();
      await stop();
    });
    return { url, secretFile: secret.value.file };
  });
}
