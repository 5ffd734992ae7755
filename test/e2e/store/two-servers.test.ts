import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { enforces } from '../../enforces.ts';
import { CLIENTS, type TestClient, type ToolResult } from '../clients.ts';
import { fastDir } from './fast-dir.ts';

const RUNS = 4;
const STEPS = 3;

let dataDir: string;
let servers: readonly TestClient[];

beforeEach(async () => {
  dataDir = fastDir('two-servers');
  servers = await Promise.all([connect(), connect()]);
});

afterEach(async () => {
  await Promise.all(servers.map((server) => server.close()));
  rmSync(dataDir, { recursive: true });
});

it('two servers that get the same token at once advance once and give the same reply', async () => {
  enforces('many_processes_share_data_dir');
  for (let run = 0; run < RUNS; run++) {
    let reply = await (servers[run % 2] as TestClient).call('start_workflow', { workflowId: 'wr.first_steps' });
    for (let step = 0; step < STEPS; step++) {
      const call = { ackToken: data(reply)['ackToken'], output: { notesMarkdown: `step ${step}` } };
      const replies = await Promise.all(servers.map((server) => server.call('continue_workflow', call)));
      const [one, other] = replies.map(({ content, structuredContent }) => ({ content, structuredContent }));
      expect(one).toEqual(other);
      expect(data(replies[0])).toMatchObject({ kind: 'ok' });
      expect(segmentsOf(reply)).toBe(2 + step);
      reply = replies[0] as ToolResult;
    }
    expect(data(reply)).toMatchObject({ isComplete: true });
  }
});

function connect(): Promise<TestClient> {
  const client = CLIENTS['client 2.x']?.({ WORKRAIL_DATA_DIR: dataDir });
  if (client === undefined) throw new Error('no such client');
  return client;
}

function data(result: ToolResult | undefined): Record<string, unknown> {
  return result?.structuredContent ?? {};
}

/** One for the start, and one for every advance. */
function segmentsOf(reply: ToolResult): number {
  const { sessionId } = data(reply)['session'] as { sessionId: string };
  const manifest = readFileSync(join(dataDir, 'sessions', sessionId, 'manifest.jsonl'), 'utf8');
  return manifest.split('\n').filter((line) => line.includes('"kind":"segment_closed"')).length;
}
