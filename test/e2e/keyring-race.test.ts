import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { enforces } from '../enforces.ts';
import { CLIENTS } from './clients.ts';

const SERVERS = 6;

test('servers that start together on a fresh machine share one keyring', async () => {
  enforces('many_processes_share_data_dir');
  const dataDir = mkdtempSync(join(tmpdir(), 'workrail-race-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const connect = CLIENTS['client 2.x'] ?? expect.fail('no client');
  const clients = await Promise.all(Array.from({ length: SERVERS }, () => connect({ WORKRAIL_DATA_DIR: dataDir })));
  onTestFinished(async () => {
    await Promise.all(clients.map((client) => client.close()));
  });

  const started = await Promise.all(
    clients.map((client) => client.call('start_workflow', { workflowId: 'wr.first_steps' })),
  );
  // A token is good for every server, so all of them sign with the same key.
  const shown = await Promise.all(
    clients.map((client, i) => {
      const { stateToken } = started[(i + 1) % SERVERS]?.structuredContent ?? {};
      return client.call('continue_workflow', { stateToken });
    }),
  );
  expect(shown.map(({ structuredContent }) => structuredContent?.['kind'])).toEqual(clients.map(() => 'ok'));
});
