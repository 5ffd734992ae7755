import { writeServerRecord } from '../adapters/server-records.ts';
import { findDataDir } from '../adapters/settings.ts';
import { nodeHasher } from '../adapters/system.ts';
import type { ServeOptions } from '../cli/program.ts';
import { defined } from '../core/json/json-value.ts';
import type { By } from '../core/log/events/event-envelope.ts';
import { appliedConfigHash, appliedSettings } from '../core/settings/applied-settings.ts';
import type { ResolvedSettings } from '../core/settings/resolve-settings.ts';
import type { ServerRecord } from '../core/wire/machine-shapes.ts';
import { publishedTools } from '../mcp/answer-call.ts';

/** A server that has just appended for the first time. */
export type RecordedServer = {
  readonly version: string;
  /** The settings that it read when it started. */
  readonly config: ResolvedSettings;
  readonly how: ServeOptions;
  readonly startedAt: number;
  readonly isSessionStartOn: boolean;
  readonly by?: By;
};

/** Says for everyone on this machine what a running server applied. Returns what takes that back. */
export async function recordServer(server: RecordedServer): Promise<() => Promise<void>> {
  return writeServerRecord(await findDataDir(), await serverRecord(server));
}

/** Loaded with the first append, and when somebody asks the server over HTTP. */
export async function serverRecord({
  version,
  config,
  how,
  startedAt,
  isSessionStartOn,
  by,
}: RecordedServer): Promise<ServerRecord> {
  const applied = appliedSettings(config, await findDataDir());
  return {
    v: 1,
    pid: process.pid,
    version,
    ...defined({ client: by?.client }),
    transport: how.transport,
    ...(how.transport === 'http' && { port: how.port }),
    startedAt,
    appliedConfigHash: appliedConfigHash(applied, nodeHasher.sha256),
    applied,
    tools: publishedTools({ isSessionStartOn }).map(({ name }) => name),
  };
}
