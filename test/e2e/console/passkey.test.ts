import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CLIENT_KINDS, type TestClient, type ToolResult } from '../clients.ts';
import { runSmall } from '../small-program.ts';
import { hasTerminal } from '../terminal.ts';
import { type OpenPage, openPage } from './console-fixture.ts';
import { type RunningConsole, startConsole } from './console-server.ts';

const RELEASE = {
  id: 'project.release',
  name: 'Release',
  description: 'Ships it.',
  version: '1.0.0',
  steps: [
    {
      id: 'ship',
      title: 'Ship to production',
      prompt: 'Ship it.',
      requireConfirmation: { kind: 'human_approval' },
      assurance: 'signed',
    },
    { id: 'tell', title: 'Tell them', prompt: 'Tell them.' },
  ],
};

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'workrail-passkey-')));
const [home, here] = [join(folder, 'home'), join(folder, 'here')];
const env = { WORKRAIL_DATA_DIR: join(folder, 'data'), HOME: home, PATH: process.env['PATH'] ?? '' };
let server: RunningConsole;
let agent: TestClient;
let opened: OpenPage | undefined;

beforeAll(async () => {
  mkdirSync(join(here, '.workrail', 'workflows'), { recursive: true });
  mkdirSync(home);
  writeFileSync(join(here, '.workrail', 'workflows', 'project.release.json'), JSON.stringify(RELEASE));
  agent = await (CLIENT_KINDS['client 2.x'] ?? expect.fail())({ env, cwd: here });
  server = await startConsole({ env, cwd: here });
  opened = await openPage({ server: { ...server, link: server.nameLink } });
});
afterAll(async () => {
  await opened?.close();
  await Promise.all([agent.close(), server.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

const data = ({ structuredContent = {} }: ToolResult) =>
  structuredContent as { kind: string; ackToken: string; pending: { stepId: string } | null };

async function blockedRun(): Promise<string> {
  const start = await agent.call('start_workflow', { workflowId: 'project.release', workspacePath: here });
  const output = { notesMarkdown: 'Shipped 1.2 to production.' };
  return data(await agent.call('continue_workflow', { ackToken: data(start).ackToken, output })).ackToken;
}

const advance = async (ackToken: string) => data(await agent.call('continue_workflow', { ackToken }));

it.runIf(hasTerminal)(
  'a passkey that was added in the page signs exactly the draft that the page shows',
  async ({ skip }) => {
    const { page, context, expectAccessible, text } = opened ?? skip('no chromium');
    const cdp = await context.newCDPSession(page);
    await cdp.send('WebAuthn.enable');
    const options = {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    } as const;
    const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', { options });

    await page.goto(`http://localhost:${server.port}/waiting`);
    await page.getByLabel('Your name').fill('alice');
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByText('It counts for runs that start from now on').waitFor();
    const list = readFileSync(join(home, '.workrail', 'approvers'), 'utf8');
    expect(list).toMatch(/^alice namespaces="workrail-approval" sk-ecdsa-sha2-nistp256@openssh\.com \S+ passkey:\S+/);

    const blocked = await blockedRun();
    await page.getByRole('button', { name: 'Approve with a passkey' }).waitFor();
    expect(await text()).toContain('These can sign: alice.');
    await expectAccessible('a draft that must be signed');

    // The person at the device is not the one who made the passkey: the browser gives no signature.
    await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
    await page.getByRole('button', { name: 'Approve with a passkey' }).click();
    await page.locator('form [role=alert], form .error').first().waitFor();
    const held = await advance(blocked);
    expect(held.kind).toBe('blocked');

    await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
    await page.goto(`http://localhost:${server.port}/waiting`);
    await page.getByRole('button', { name: 'Approve with a passkey' }).click();
    await page.getByText('signed as alice with the passkey SHA256:').first().waitFor();
    expect((await advance(held.ackToken)).pending?.stepId).toBe('tell');

    const listed = JSON.parse((await runSmall(['session', 'list', '--json', '--all'], { env, cwd: here })).out) as {
      data: { sessions: { sessionId: string }[] };
    };
    const [newest] = listed.data.sessions;
    const file = join(home, '.workrail', 'approvers');
    const verified = await runSmall(['session', 'verify', newest?.sessionId ?? '', '--approvers', file], {
      env,
      cwd: here,
    });
    expect([verified.exitCode, verified.out]).toEqual([0, expect.stringContaining('signed by alice (SHA256:')]);
  },
);
