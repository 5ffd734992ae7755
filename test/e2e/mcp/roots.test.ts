import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { workflowText } from '../../catalog/catalog-of.ts';
import { enforces } from '../../enforces.ts';
import { isLong } from '../../volume.ts';
import { CLIENT_KINDS, type TestClient } from '../clients.ts';
import { type HttpServer, startHttp } from './local-http.ts';

let folder: string;
let http: HttpServer;

let dataDir: string;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'workrail-roots-'));
  http = await startHttp({ WORKRAIL_DATA_DIR: dataDir });
});

afterAll(async () => {
  await http.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'workrail-roots-')));
  for (const name of ['told', 'here', 'asked']) project(name);
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A project with a workflow of its own name. */
function project(name: string): void {
  const workflows = join(folder, name, '.workrail', 'workflows');
  mkdirSync(workflows, { recursive: true });
  writeFileSync(join(workflows, `project.${name}.json`), workflowText(`project.${name}`));
}

describe.each(Object.entries(CLIENT_KINDS))('%s', (kind, connect) => {
  const place = () => ({
    env: { WORKRAIL_DATA_DIR: join(folder, 'data') },
    cwd: join(folder, 'here'),
  });
  const roots = () => ['file://elsewhere/x', pathToFileURL(join(folder, 'told')).href];

  it('a client with a root sees the workflows of that folder, and is asked once', async () => {
    enforces('default_workspace');
    let asked = 0;
    const client = await connect(place(), { roots: roots(), onRootsAsked: () => (asked += 1) });
    expect(await projectsOf(client)).toEqual(['project.told']);
    expect(await projectsOf(client)).toEqual(['project.told']);
    expect(await startOf(client, 'project.told')).toBe('ok');
    await client.close();
    expect(asked).toBe(1);
  });

  it('a client that sends workspacePath is not asked for its root', async () => {
    enforces('default_workspace');
    let asked = 0;
    const client = await connect(place(), { roots: roots(), onRootsAsked: () => (asked += 1) });
    expect(await projectsOf(client, { workspacePath: join(folder, 'asked') })).toEqual(['project.asked']);
    await client.close();
    expect(asked).toBe(0);
  });

  it('a client without roots gets the workflows of the working directory of the server', async () => {
    enforces('default_workspace');
    const client = await connect(place());
    expect(await projectsOf(client)).toEqual(['project.here']);
    await client.close();
    // In a check one kind of client is enough: what the server does at start does not depend on the client.
    for (const cwd of isLong || kind === 'client 2.x' ? ['/', homedir()] : []) {
      const lost = await connect({ ...place(), cwd });
      expect(await projectsOf(lost)).toEqual([]);
      await lost.close();
    }
  });

  it('a client over HTTP sees the workflows of its root if the protocol supports it', async () => {
    const client = await connect(http, { roots: roots() });
    const projects = await projectsOf(client);
    expect(projects).toEqual(kind.includes('2026') ? ['project.told'] : []);
    await client.close();
  });
});

async function projectsOf(client: TestClient, args: Record<string, unknown> = {}): Promise<readonly string[]> {
  const { structuredContent } = await client.call('list_workflows', args);
  const { workflows } = structuredContent as { readonly workflows: readonly { id: string; sourceKind: string }[] };
  return workflows.filter(({ sourceKind }) => sourceKind === 'project').map(({ id }) => id);
}

async function startOf(client: TestClient, workflowId: string): Promise<unknown> {
  return (await client.call('start_workflow', { workflowId })).structuredContent?.['kind'];
}
