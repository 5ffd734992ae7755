import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { onTestFinished } from 'vitest';
import { fileStore } from '../../../src/adapters/file-store/file-store.ts';
import { nodeHasher } from '../../../src/adapters/system.ts';
import type { SessionEvent } from '../../../src/core/log/event.ts';
import type { Reply } from '../../simulation/agent/reader/obedient-reader.ts';
import { servicesOver } from '../../simulation/agent/world/services-over.ts';
import { SMALL_FILES } from '../../simulation/agent/world/small-workflows.ts';
import type { Chat, World } from '../../simulation/agent/world/world.ts';
import { SMALL_PROGRAM } from '../small-program.ts';

/** The built program over a folder that goes with the test: every chat is a process, and the log is read from the files. */
export function realWorld(): World {
  const folder = mkdtempSync(join(tmpdir(), 'workrail-agent-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [dataDir, project] = [join(folder, 'data'), join(folder, 'project')];
  mkdirSync(join(project, 'workflows'), { recursive: true });
  for (const { ref, content } of SMALL_FILES) {
    if (content.kind === 'text') writeFileSync(join(project, 'workflows', ref), content.text);
  }
  return {
    services: servicesOver(fileStore(dataDir, nodeHasher.sha256), SMALL_FILES),
    log: () => logIn(join(dataDir, 'sessions')),
    newChat: () => newProcess({ WORKRAIL_DATA_DIR: dataDir }, project),
  };
}

async function newProcess(env: Record<string, string>, cwd: string): Promise<Chat> {
  const transport = new StdioClientTransport({ command: process.execPath, args: [SMALL_PROGRAM, 'serve'], env, cwd });
  const client = new Client({ name: 'lossy-agent', version: '0' });
  await client.connect(transport);
  const { pid } = transport;
  if (pid === null || pid === undefined) throw new Error('a server that answers is a process');
  const call: Chat['call'] = async ({ tool, arguments: given }) =>
    (await client.callTool({ name: tool, arguments: { ...given } })) as Reply;
  return {
    call,
    killDuring: async (lost, afterMs) => {
      const lostReply = call(lost).catch(() => undefined);
      await setTimeout(afterMs);
      process.kill(pid, 'SIGKILL');
      await lostReply;
      while (isAlive(pid)) await setTimeout(1);
    },
    close: () => client.close(),
  };
}

function isAlive(pid: number): boolean {
  return existsSync(`/proc/${pid}/stat`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}

/** What the manifests attest; a segment that none of them names was never acknowledged. */
function logIn(sessions: string): ReadonlyMap<string, readonly SessionEvent[]> {
  if (!existsSync(sessions)) return new Map();
  const found = readdirSync(sessions).map((sessionId) => {
    const manifest = join(sessions, sessionId, 'manifest.jsonl');
    const segments = existsSync(manifest) ? records(manifest).filter(({ kind }) => kind === 'segment_closed') : [];
    const events = segments.flatMap(({ segmentRelPath }) => records(join(sessions, sessionId, String(segmentRelPath))));
    return [sessionId, events as unknown as readonly SessionEvent[]] as const;
  });
  return new Map(found);
}

/** A killed writer may leave half a line, which is no record. */
function records(path: string): readonly Record<string, unknown>[] {
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line));
}
