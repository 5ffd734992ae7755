import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestClient, ToolResult } from './clients.ts';

/** A project with one workflow, whose first step waits for a person. */
export type GatedPlace = {
  readonly folder: string;
  readonly here: string;
  readonly home: string;
  readonly env: { readonly WORKRAIL_DATA_DIR: string; readonly HOME: string; readonly PATH: string };
  readonly remove: () => void;
};

/** `assurance` is what the step says about it; without one, the default counts. */
export function gatedPlace(assurance?: 'signed'): GatedPlace {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'workrail-gated-')));
  const [home, here] = [join(folder, 'home'), join(folder, 'here')];
  const workflows = join(here, '.workrail', 'workflows');
  mkdirSync(workflows, { recursive: true });
  mkdirSync(home);
  const ship = {
    id: 'ship',
    title: 'Ship to production',
    prompt: 'Ship it.',
    requireConfirmation: { kind: 'human_approval' },
    ...(assurance === undefined ? {} : { assurance }),
  };
  const release = {
    id: 'project.release',
    name: 'Release',
    description: 'Ships it.',
    version: '1.0.0',
    steps: [ship, { id: 'tell', title: 'Tell them', prompt: 'Tell them.' }],
  };
  writeFileSync(join(workflows, 'project.release.json'), JSON.stringify(release));
  return {
    folder,
    here,
    home,
    env: { WORKRAIL_DATA_DIR: join(folder, 'data'), HOME: home, PATH: process.env['PATH'] ?? '' },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** What a reply says about the gate. */
export const data = ({ structuredContent = {} }: ToolResult) =>
  structuredContent as {
    kind: string;
    ackToken: string;
    pending: { stepId: string } | null;
    warnings?: { code: string; message: string }[];
    blockers?: { message: string; details?: { approval?: { code: string } } }[];
  };

export const textOf = ({ content }: ToolResult) => content.map(({ text = '' }) => text).join('\n');

export async function startedRun(client: TestClient, { here }: Pick<GatedPlace, 'here'>): Promise<string> {
  const started = await client.call('start_workflow', { workflowId: 'project.release', workspacePath: here });
  return data(started).ackToken;
}

/** The call that hands in the draft. */
export const handIn = (ackToken: string) => ({ ackToken, output: { notesMarkdown: 'Shipped 1.2 to production.' } });

/** A run whose draft waits for a person. */
export async function blockedRun(client: TestClient, place: Pick<GatedPlace, 'here'>): Promise<ToolResult> {
  return client.call('continue_workflow', handIn(await startedRun(client, place)));
}
