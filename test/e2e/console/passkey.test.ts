import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { approverLine } from '../../../src/core/approvals/approver-list.ts';
import { enforces } from '../../enforces.ts';
import { sshApprover } from '../../examples/approvers.ts';
import { CLIENT_KINDS, type TestClient } from '../clients.ts';
import { blockedRun, data, gatedPlace } from '../gated-run.ts';
import { runSmall } from '../small-program.ts';
import { hasTerminal } from '../terminal.ts';
import { type OpenPage, openPage } from './console-fixture.ts';
import { type RunningConsole, startConsole } from './console-server.ts';

const place = gatedPlace('signed');
const { env, here, home } = place;
let server: RunningConsole;
let agent: TestClient;
let opened: OpenPage | undefined;

beforeAll(async () => {
  agent = await (CLIENT_KINDS['client 2.x'] ?? expect.fail())({ env, cwd: here });
  server = await startConsole({ env, cwd: here });
  opened = await openPage({ server: { ...server, link: server.nameLink } });
});
afterAll(async () => {
  await opened?.close();
  await Promise.all([agent.close(), server.stop()]);
  place.remove();
});

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

    const { ackToken: blocked } = data(await blockedRun(agent, place));
    await page.getByRole('button', { name: 'Approve with a passkey' }).waitFor();
    expect(await text()).toContain('These can sign: alice.');
    await expectAccessible('a draft that must be signed');

    // The person at the device is not the one who made the passkey: the browser gives no signature.
    await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
    await page.getByRole('button', { name: 'Approve with a passkey' }).click();
    await page.locator('form [role=alert], form .error').first().waitFor();
    const again = await advance(blocked);
    expect(again.kind).toBe('blocked');

    await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
    appendFileSync(join(home, '.workrail', 'approvers'), `${approverLine(sshApprover('bob').approver)}\n`);
    await page.goto(`http://localhost:${server.port}/waiting`);
    await page.getByText('bob with an SSH key').waitFor();
    await page.getByRole('button', { name: 'Approve with a passkey' }).click();
    await page.getByText('signed as alice with the passkey SHA256:').first().waitFor();
    expect((await advance(again.ackToken)).pending?.stepId).toBe('tell');

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

    enforces('console_shows_signatures');
    // The page of the session says who signed, since when the log is signed, and by which key.
    await page.goto(`http://localhost:${server.port}/sessions/${newest?.sessionId}`);
    await page.getByRole('button', { name: 'Signatures' }).click();
    await page.getByRole('region', { name: 'Signatures' }).waitFor();
    const shown = await text();
    expect(shown).toMatch(/The log is signed by this WorkRail store from event 0 on, with key [0-9a-f]{16}\./);
    expect(shown).toMatch(/Ship to production: approved in the console, signed as alice with the passkey SHA256:/);
    expect(shown).toContain('Nothing: this page reads the whole session.');
    const head = /Head\s*([0-9a-f]{64})/.exec(shown)?.[1] ?? expect.fail(shown);
    const held = ['session', 'verify', newest?.sessionId ?? '', '--head', head];
    expect((await runSmall(held, { env, cwd: here })).exitCode).toBe(0);
    expect(page.url()).toContain('signatures=shown');
    await expectAccessible('the signatures of a session');

    // A passport is saved from the same page, and the dialog says before what it leaves out.
    await page.getByRole('button', { name: 'Export …' }).click();
    await page.getByRole('radio', { name: /^Passport/ }).check();
    await page.getByText('Nothing is withheld: it shows every event').waitFor();
    await page.getByRole('checkbox', { name: 'notes' }).check();
    await page.getByText(/^Withheld: \d+ of \d+ events \(notes, and what repeats them/).waitFor();
    await page.getByText('Answers of people: 1, 1 of them signed.').waitFor();
    await page.getByText('Nobody can check 1 signature of these: what was signed is withheld.').waitFor();
    await expectAccessible('a passport that is exported');
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const [saved, pem] = [join(place.folder, 'passport.json'), join(place.folder, 'workrail.pem')];
    await (await saving).saveAs(saved);
    writeFileSync(pem, (await runSmall(['keys', 'public'], { env, cwd: here })).out);
    const checked = await runSmall(['verify', saved, '--key', pem], { env, cwd: here });
    expect([checked.exitCode, checked.out]).toEqual([0, expect.stringContaining('events (notes, and what')]);
  },
);
