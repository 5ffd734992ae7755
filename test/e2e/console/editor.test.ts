import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enforces } from '../../enforces.ts';
import { startOwnBrowser } from '../browser.ts';
import { runSmall } from '../small-program.ts';
import { type ConsoleFixture, consoleFixture, type OpenPage, openPage } from './console-fixture.ts';
import { startConsole } from './console-server.ts';

/** The editor in a real browser, on files of a real project. */
let fixture: ConsoleFixture;
let opened: OpenPage | undefined;

const DRAFTED = {
  id: 'team.drafted',
  name: 'Drafted',
  description: 'Three steps to move about.',
  version: '1.0.0',
  about: 'For the tests of the editor.',
  examples: ['Move the steps about'],
  steps: [
    {
      id: 'one',
      title: 'First thing',
      prompt: 'Find the place, and write down where it is. Send it as the value "place" of context.',
      sets: ['place'],
    },
    { id: 'two', title: 'Second thing', prompt: 'Do the second thing for {{place}}, and write down what you did.' },
    {
      id: 'three',
      title: 'Third thing',
      prompt: 'Do the third thing, and write down what you did.',
      runCondition: { var: 'place', equals: 'here' },
    },
  ],
};
const WRITTEN = `${JSON.stringify(DRAFTED, null, 2)}\n`;

/** What only the editor loads. */
const EDITOR_CHUNK = /assets\/editor-[\w-]+\.js/;

const fileOf = (id: string) => join(fixture.folder, 'here', '.workrail', 'workflows', `${id}.json`);
const onDisk = (id: string) => readFileSync(fileOf(id), 'utf8');
const address = (path: string) => `http://127.0.0.1:${fixture.server.port}${path}`;

beforeAll(async () => {
  fixture = await consoleFixture(async ({ start, hand }) => {
    const read = await start('project.review', 'Review the sign-in page');
    await hand(await hand(read, 'Read all of it.'), 'Verdict: ship it.');
    await start('project.review', 'Review what nobody finishes');
  });
  opened = await openPage(fixture);
});
afterAll(async () => {
  await opened?.close();
  await fixture.end();
});

/** Opens a file in the editor as it is written here. */
async function edit(page: Page, { id = 'team.drafted', text = WRITTEN, query = '' } = {}): Promise<void> {
  await discard(page);
  writeFileSync(fileOf(id), text);
  rmSync(fileOf(`${id}.test`), { force: true });
  await page.goto(address(`/workflows/${id}/edit${query}`));
  await page.waitForSelector('.code-editor:not([hidden]) .cm-content');
}

/** Puts the cursor behind a text and types. */
async function typeAfter(page: Page, text: string, typed: string): Promise<void> {
  await page.locator('.code-editor:not([hidden]) .cm-line', { hasText: text }).first().click();
  await page.keyboard.press('End');
  await page.keyboard.type(typed);
}

async function replaceAll(page: Page, text: string): Promise<void> {
  await page.locator('.code-editor:not([hidden]) .cm-content').click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(text);
}

const shown = (page: Page) => page.locator('.code-editor:not([hidden]) .cm-content').textContent();
const side = (page: Page) => page.locator('.editor-side');
/** Forgets drafts of earlier tests. A page of the editor would keep its own again. */
async function discard(page: Page): Promise<void> {
  await page.goto(address('/waiting'));
  await page.evaluate(`new Promise((done) => {
    const request = indexedDB.deleteDatabase('workrail-drafts');
    request.onsuccess = request.onerror = request.onblocked = () => done();
  })`);
}

/** Every draft that the browser has. One is written a moment after the last key. */
const drafts = (page: Page) =>
  page.evaluate<string>(`new Promise((done) => {
    const opening = indexedDB.open('workrail-drafts');
    opening.onsuccess = () => {
      const all = opening.result.transaction('drafts').objectStore('drafts').getAll();
      all.onsuccess = () => { opening.result.close(); done(JSON.stringify(all.result)); };
    };
  })`);

/** Waits until the author has nothing left to do but to replace the texts of the template. */
async function onlyTemplateTexts(page: Page): Promise<void> {
  const shown = () =>
    side(page)
      .locator('.problem .meta')
      .filter({ hasText: /^missing_/ })
      .allInnerTexts();
  await expect.poll(shown).toEqual(['missing_about', 'missing_examples']);
  expect(await side(page).locator('.problem').count()).toBe(2);
}

describe('the editor', () => {
  it('a new author goes from "New workflow" to a checked, rehearsed and tested workflow with a loop and a contract', async ({
    skip,
  }) => {
    const { page, noise } = opened ?? skip('no chromium');
    const loaded = () =>
      page.evaluate<string>("performance.getEntriesByType('resource').map(({ name }) => name).join(' ')");
    await page.goto(address('/workflows/new'));
    await page.getByRole('radio', { name: /^loop/ }).check();
    expect(await loaded()).not.toMatch(EDITOR_CHUNK);
    await page.getByLabel('Id, as namespace.name').fill('team.first_try');
    await page.getByLabel('Name (optional)').fill('First try');
    expect(await page.locator('main .command code').textContent()).toBe(
      "workrail workflow new team.first_try --template loop --name 'First try'",
    );
    await page.getByRole('button', { name: 'Create and edit' }).click();
    await page.waitForSelector('.cm-content');
    const [chunk = ''] = EDITOR_CHUNK.exec(await loaded()) ?? [];
    expect(statSync(`dist/console/${chunk}.gz`).size).toBeLessThan(150_000);
    await expect
      .poll(() => page.locator('.outline button.step').allInnerTexts())
      .toEqual(['Plan', 'Work in rounds\nloop', 'Work on the next point', 'Continue?', 'Check the result']);
    await onlyTemplateTexts(page);
    await typeAfter(page, '"description"', '"');
    await side(page).getByText('This is not JSON').first().waitFor();
    await page.keyboard.press('Backspace');
    await onlyTemplateTexts(page);
    await page.getByRole('tab', { name: 'Rehearse' }).click();
    await page.getByRole('button', { name: 'Start the rehearsal' }).click();
    for (const title of ['Plan', 'Work on the next point', 'Continue?', 'Check the result']) {
      await side(page)
        .getByRole('heading', { name: new RegExp(`: ${title.replace('?', '\\?')}$`) })
        .waitFor();
      await page.getByRole('button', { name: 'Fill in samples' }).click();
      await page.getByRole('button', { name: 'Hand it in' }).click();
    }
    await side(page).getByText('The run is complete.').waitFor();
    expect(await side(page).textContent()).toContain('plan → work → decide → verify');
    await page.getByRole('button', { name: 'Keep this as a test' }).click();
    await page.getByRole('tab', { name: 'Tests' }).click();
    await page.getByRole('button', { name: 'Run the tests' }).click();
    await side(page).getByText('5 scenarios: 5 passed, 0 failed').waitFor();
    expect(await side(page).textContent()).toContain('Covered: 4 of 4 steps');
    await page.keyboard.press('Control+s');
    await page.getByText('Saved. Running sessions keep the version that they started with.').waitFor();
    expect(readFileSync(fileOf('team.first_try.test'), 'utf8')).toContain('rehearsed: plan, work, decide, verify');
    expect(noise).toEqual([]);
  }, 60_000);

  it('an author writes a loop and a contract into three plain steps from what is offered, and rehearses and tests them', async ({
    skip,
  }) => {
    const { page, noise } = opened ?? skip('no chromium');
    const before = noise.length;
    /** Types the start of a word, and takes what is offered for it. */
    const pick = async (typed: string, wanted: string) => {
      await page.keyboard.type(typed);
      const offered = page.locator('.cm-tooltip-autocomplete [aria-selected] .cm-completionLabel');
      await offered.getByText(wanted, { exact: true }).waitFor();
      await page.waitForTimeout(200);
      await page.keyboard.press('Enter');
    };
    const replaceLine = async (text: string) => {
      await page.locator('.code-editor:not([hidden]) .cm-line', { hasText: text }).first().click({ clickCount: 3 });
      for (const key of ['Enter', 'ArrowUp', 'End']) await page.keyboard.press(key);
    };
    await discard(page);
    rmSync(fileOf('team.tidy'), { force: true });
    rmSync(fileOf('team.tidy.test'), { force: true });
    await page.getByRole('link', { name: 'Workflows' }).click();
    await page.getByRole('link', { name: 'New workflow' }).click();
    await page.getByLabel('Id, as namespace.name').fill('team.tidy');
    await page.getByRole('button', { name: 'Create and edit' }).click();
    await onlyTemplateTexts(page);
    // The second of three plain steps becomes a loop of two rounds.
    await replaceLine('"prompt": "Do the work');
    await pick('"ty', 'type');
    await pick('lo', 'loop');
    await pick(', "loo', 'loop');
    await pick('"ty', 'type');
    await pick('for', 'for');
    await pick(', "cou', 'count');
    await page.keyboard.type('2, "maxIterations": 2');
    await page.keyboard.press('End');
    await pick(', "bod', 'body');
    await page.keyboard.insertText(JSON.stringify(DRAFTED.steps[2], null, 2).replace(/,\s+"runCondition"[^}]*}/, ''));
    await onlyTemplateTexts(page);
    expect(await page.locator('.outline button.step').allInnerTexts()).toEqual([
      'Understand what is asked',
      'Do it\nloop',
      'Third thing',
      'Check the result',
    ]);
    // Its step asks for a contract.
    await page.getByRole('button', { name: 'Third thing', exact: true }).click();
    await page.keyboard.press('ArrowDown');
    await page.getByRole('tab', { name: 'Insert' }).click();
    await page.getByRole('searchbox', { name: 'Find a built-in' }).fill('changed');
    await page.getByRole('button', { name: 'Insert at the cursor: wr.contracts.changed_files' }).click();
    await page.getByRole('tab', { name: /^Problems/ }).click();
    await onlyTemplateTexts(page);
    await page.getByRole('tab', { name: 'Rehearse' }).click();
    await page.getByRole('button', { name: 'Start the rehearsal' }).click();
    const turns = ['Understand what is asked', 'Third thing', 'Third thing', 'Check the result'];
    for (const [i, title] of turns.entries()) {
      await side(page)
        .getByRole('heading', { name: new RegExp(`: ${title}`) })
        .waitFor();
      await page.getByRole('button', { name: 'Fill in samples' }).click();
      await page.getByRole('button', { name: 'Hand it in' }).click();
      await expect.poll(() => side(page).locator('.turns li').count()).toBe(i + 1);
    }
    await side(page).getByText('The run is complete.').waitFor();
    // The tests still expect the plain step; the editor offers the steps that there are now.
    await page.getByRole('tab', { name: 'Tests' }).click();
    await page.getByRole('button', { name: 'Run the tests' }).click();
    await side(page).getByText('Unknown step "do". The workflow\'s steps are understand, three, verify.').waitFor();
    await page.getByRole('button', { name: 'Show the scenarios' }).click();
    await replaceLine('"do"');
    await pick('"thr', 'three');
    await page.keyboard.type(', ');
    await pick('"thr', 'three');
    await page.keyboard.type(',');
    await page.getByRole('button', { name: 'Run the tests' }).click();
    await side(page).getByText('4 scenarios: 4 passed, 0 failed').waitFor();
    expect(await side(page).textContent()).toContain('understand → three → three → verify');
    await page.keyboard.press('Control+s');
    await page.getByText('Saved', { exact: true }).waitFor();
    const [, loop] = JSON.parse(onDisk('team.tidy')).steps;
    expect([loop.loop, loop.body[0].outputContract]).toEqual([
      { type: 'for', count: 2, maxIterations: 2 },
      { contractRef: 'wr.contracts.changed_files' },
    ]);
    expect(noise.slice(before)).toEqual([]);
  }, 60_000);

  it('the outline moves a step by keys, and no other byte of the file changes', async ({ skip }) => {
    enforces('console_save_keeps_bytes');
    const { page } = opened ?? skip('no chromium');
    const compact = WRITTEN.replaceAll('\n', '\r\n').replace('"steps": [', '"steps":   [');
    await edit(page, { text: compact });
    const rows = () => page.locator('.outline button.step').allInnerTexts();
    await page.getByRole('button', { name: 'Second thing', exact: true }).focus();
    await page.keyboard.press('Alt+ArrowUp');
    await expect.poll(rows).toEqual(['Second thing', 'First thing', 'Third thing']);
    await page.getByText('Moved "Second thing" to place 1 of 3.').waitFor();
    await page.keyboard.press('Control+s');
    await page.getByText('Saved', { exact: true }).waitFor();
    const [one = '', two = ''] = DRAFTED.steps.map((step) =>
      JSON.stringify(step, null, 2).replaceAll('\n', '\r\n    '),
    );
    expect(onDisk('team.drafted')).toBe(compact.replace(one, '#').replace(two, one).replace('#', two));
  });

  it('keys and names are completed from the field table, and the pointer explains a field', async ({ skip }) => {
    const { page } = opened ?? skip('no chromium');
    await edit(page);
    await typeAfter(page, '"prompt": "Do the second', ', "outp');
    await page.locator('.cm-tooltip-autocomplete').getByText('outputContract').waitFor();
    expect(await page.locator('.cm-tooltip.cm-completionInfo').textContent()).toBe(
      'The artifact that the step requires.',
    );
    // The editor ignores keys for a moment after the list changed, so that nobody accepts what they did not see.
    await page.waitForTimeout(200);
    await page.keyboard.press('Enter');
    // What was empty is filled at once: its only key, and then the names that may stand there.
    await expect.poll(() => shown(page)).toContain('"outputContract": {}');
    await page.locator('.cm-tooltip-autocomplete').getByText('contractRef').waitFor();
    await page.waitForTimeout(200);
    await page.keyboard.press('Enter');
    await page.locator('.cm-tooltip-autocomplete').getByText('wr.contracts.findings').waitFor();
    await page.keyboard.type('verif');
    await page.locator('.cm-tooltip-autocomplete [aria-selected]', { hasText: 'verification_report' }).waitFor();
    await page.waitForTimeout(200);
    await page.keyboard.press('Enter');
    await expect
      .poll(() => shown(page))
      .toContain('"outputContract": {"contractRef": "wr.contracts.verification_report"}');
    await side(page).getByText('No problems.').waitFor();
    await page.locator('.cm-line', { hasText: '"runCondition"' }).locator('.tok-propertyName').first().hover();
    await page.locator('.field-help').waitFor();
    expect(await page.locator('.field-help').textContent()).toContain('runCondition:');
  });

  it('problems lead to their place, and a fix is one key or one button', async ({ skip }) => {
    const { page } = opened ?? skip('no chromium');
    const wrong = WRITTEN.replace('"description"', '"descripton"').replace('"title": "Second', '"titel": "Second');
    await edit(page, { text: wrong });
    await side(page).getByText('Unknown key "descripton"').waitFor();
    await side(page)
      .getByRole('button', { name: /^Workflow 4:/ })
      .first()
      .click();
    await page.keyboard.press('Control+.');
    await expect.poll(() => shown(page)).toContain('"description"');
    await side(page)
      .getByRole('button', { name: /^Fix: / })
      .first()
      .click();
    await side(page).getByText('No problems.').waitFor();
    await page.keyboard.press('Control+s');
    await page.getByText('Saved', { exact: true }).waitFor();
    expect(onDisk('team.drafted')).toBe(WRITTEN);
  });

  it('the preview shows the exact prompt with sample values, and that a step would be skipped', async ({ skip }) => {
    const { page } = opened ?? skip('no chromium');
    await edit(page, { query: '?panel=preview' });
    const prompt = side(page).locator('.prompt');
    await prompt.waitFor();
    await side(page).getByLabel('place', { exact: true }).fill('Berlin');
    await side(page).getByRole('combobox', { name: 'Step' }).selectOption('two');
    await expect.poll(() => prompt.textContent()).toContain('Do the second thing for "Berlin", and write');
    await side(page).getByRole('combobox', { name: 'Step' }).selectOption('three');
    await side(page).getByText('With these values the step is skipped: it runs only when').waitFor();
    await side(page).getByLabel('place', { exact: true }).fill('here');
    await expect.poll(() => side(page).textContent()).not.toContain('is skipped');
  });

  it('a rehearsal shows what blocks, and goes back a turn', async ({ skip }) => {
    const { page } = opened ?? skip('no chromium');
    await page.goto(address('/workflows/project.release/edit?panel=rehearse'));
    await page.getByRole('button', { name: 'Start the rehearsal' }).click();
    await side(page)
      .getByRole('heading', { name: /Ship to production$/ })
      .waitFor();
    await page.getByRole('button', { name: 'Hand it in' }).click();
    await side(page).getByRole('alert').waitFor();
    // What blocks is in sight, although the button is at the end of a long form.
    const [tabs, blocked] = await Promise.all(
      ['tablist', 'alert'].map((role) =>
        side(page)
          .getByRole(role as 'alert')
          .boundingBox(),
      ),
    );
    expect(blocked?.y).toBeGreaterThanOrEqual((tabs?.y ?? 0) + (tabs?.height ?? 0) - 1);
    await page.getByRole('button', { name: 'Back one turn' }).click();
    await page.getByRole('button', { name: 'Fill in samples' }).click();
    await page.getByRole('button', { name: 'Hand it in' }).click();
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    expect(await side(page).textContent()).not.toContain('no longer counts');
    await side(page)
      .getByRole('heading', { name: /Tell them$/ })
      .waitFor();
  });

  it('a built-in is inserted at the cursor, with the commas that it needs', async ({ skip }) => {
    const { page } = opened ?? skip('no chromium');
    await edit(page, { query: '?insert=wr.contracts.findings' });
    await page.locator('.cm-line', { hasText: 'Do the second thing' }).click();
    // The place is kept while the author chooses a built-in on its own page.
    await page.goto(address('/builtins'));
    await page.waitForSelector('main h1');
    await page.goto(address('/workflows/team.drafted/edit?insert=wr.contracts.findings'));
    await page.getByRole('button', { name: 'Insert at the cursor: wr.contracts.findings' }).click();
    await expect.poll(() => shown(page)).toContain('wr.contracts.findings');
    await page.getByRole('tab', { name: /^Problems/ }).click();
    await side(page).getByText('No problems.').waitFor();
    await page.keyboard.press('Control+s');
    await page.getByText('Saved', { exact: true }).waitFor();
    expect(JSON.parse(onDisk('team.drafted')).steps[1].outputContract).toEqual({
      contractRef: 'wr.contracts.findings',
    });
  });

  it('scenarios are begun, run and shown with what failed', async ({ skip }) => {
    const { page } = opened ?? skip('no chromium');
    await edit(page, { query: '?panel=tests' });
    await page.getByRole('button', { name: 'Write the first scenario' }).click();
    await page.getByRole('button', { name: 'Run the tests' }).click();
    await side(page).getByText('1 scenario: 1 passed, 0 failed').waitFor();
    await replaceAll(
      page,
      JSON.stringify({ workflowId: 'team.drafted', scenarios: [{ name: 'goes on', expect: { path: ['one'] } }] }),
    );
    await page.getByRole('button', { name: 'Run the tests' }).click();
    await side(page).getByText('1 scenario: 0 passed, 1 failed').waitFor();
    expect(await side(page).textContent()).toContain('the path differs at place 2');
  });

  it('a file that changed on disk is merged, and neither side is lost', async ({ skip }) => {
    enforces('console_save_keeps_both');
    const { page } = opened ?? skip('no chromium');
    await edit(page);
    const mine = WRITTEN.replace('"name": "Drafted"', '"name": "Mine"').replace('First thing', 'My thing');
    await replaceAll(page, mine);
    const theirs = WRITTEN.replace('First thing', 'Their thing').replace('Third thing', 'Last thing');
    writeFileSync(fileOf('team.drafted'), theirs);
    await page.keyboard.press('Control+s');
    await page.getByRole('button', { name: 'Compare and merge' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.textContent()).toContain('At 1 place both changed the same lines.');
    expect(await dialog.textContent()).toContain('Their thing');
    expect(onDisk('team.drafted')).toBe(theirs);
    await dialog.getByRole('button', { name: 'Yours', exact: true }).click();
    await dialog.getByRole('button', { name: 'Use the merged text' }).click();
    await page.keyboard.press('Control+s');
    await page.getByText('Saved', { exact: true }).waitFor();
    expect(onDisk('team.drafted')).toBe(mine.replace('Third thing', 'Last thing'));
  });

  it('a bundled workflow can be read, checked and rehearsed, but only its copy can be changed', async ({ skip }) => {
    enforces('console_bundled_read_only');
    const { page } = opened ?? skip('no chromium');
    await page.goto(address('/workflows/wr.first_steps/edit'));
    await side(page).getByText('No problems.').waitFor();
    const before = await shown(page);
    await page.locator('.code-editor:not([hidden]) .cm-content').click();
    await page.keyboard.type('xyz');
    // The keys of the page do not act while somebody types.
    expect(await page.getByText('The address of this view was copied.').count()).toBe(0);
    await page.getByRole('button', { name: 'Look around', exact: true }).focus();
    await page.keyboard.press('Alt+ArrowDown');
    expect(await shown(page)).toBe(before);
    expect(await page.getByRole('button', { name: /^Save/ }).count()).toBe(0);
    await page.getByRole('link', { name: 'Make a copy' }).click();
    expect(await page.getByLabel('Id, as namespace.name').inputValue()).toBe('project.first_steps');
    await page.getByRole('button', { name: 'Create and edit' }).click();
    await page.getByRole('heading', { name: 'project.first_steps' }).waitFor();
    expect(onDisk('project.first_steps')).toContain('"id": "project.first_steps"');
  });

  it('a finished run becomes a workflow whose scenario passes', async ({ skip }) => {
    const { page } = opened ?? skip('no chromium');
    await page.goto(address('/workflows/new'));
    await page.getByRole('radio', { name: 'a finished run' }).check();
    await page.getByRole('combobox', { name: 'Session' }).selectOption({ index: 1 });
    const [, session] =
      /--from-run (sess_\w+)/.exec((await page.locator('main .command code').textContent()) ?? '') ?? [];
    await page.goto(address(`/sessions/${session}`));
    await page.getByRole('button', { name: 'Make a workflow of it' }).click();
    await page.getByLabel('Id, as namespace.name').fill('team.from_run');
    await page.getByRole('button', { name: 'Create and edit' }).click();
    await page.getByRole('tab', { name: 'Tests' }).click();
    await page.getByRole('button', { name: 'Run the tests' }).click();
    await side(page).getByText('1 scenario: 1 passed, 0 failed').waitFor();
    expect(await side(page).textContent()).toContain('read → judge');
  });

  it('"workflow new --from-run" makes the same workflow, and only from a run that is complete', async () => {
    const place = fixture.place();
    const { sessions: rows } = JSON.parse((await runSmall(['session', 'list', '--json'], place)).out).data;
    const run = (session: string) =>
      runSmall(['workflow', 'new', 'team.by_command', '--from-run', session, '--json'], place);
    expect((await run(rows.find((one: { state: string }) => one.state !== 'complete').sessionId)).exitCode).toBe(1);
    const made = await run(rows.find((one: { state: string }) => one.state === 'complete').sessionId);
    expect(JSON.parse(made.out).data).toMatchObject({ id: 'team.by_command', starter: 'run' });
    const steps = JSON.parse(onDisk('team.by_command')).steps;
    expect(steps.map(({ title }: { title: string }) => title)).toEqual(['Read the change', 'Judge it']);
    expect((await runSmall(['workflow', 'test', 'team.by_command'], place)).exitCode).toBe(0);
  });

  it('everything in the editor and the settings is done with the keyboard alone', async ({ skip }) => {
    const { page } = opened ?? skip('no chromium');
    await discard(page);
    rmSync(fileOf('team.by_keys'), { force: true });
    const press = (keys: string) =>
      keys.split(' ').reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve());
    const focused = () =>
      page.evaluate<string>(`(() => {
      const one = document.activeElement;
      return [one.tagName, one.getAttribute('role') ?? '', one.getAttribute('aria-label') ?? one.labels?.[0]?.textContent ?? one.textContent].join(' ');
    })()`);
    /** Every part is reached by the tab key in two rounds of the page, so nothing keeps the focus. A page that is drawn again starts from the top. */
    const tabTo = async (wanted: RegExp, key = 'Tab') => {
      for (let pressed = 0; !wanted.test(await focused()); pressed++) {
        if (pressed === 160) expect.fail(`${wanted} was not reached, but ${await focused()}`);
        await page.keyboard.press(key);
      }
    };
    await press('g l');
    await page.waitForSelector('.library');
    await tabTo(/^A .*New workflow/);
    await press('Enter');
    await page.waitForSelector('.new-workflow');
    await tabTo(/^INPUT .*blank/);
    await press('ArrowDown');
    await tabTo(/^INPUT .*namespace/);
    await page.keyboard.type('team.by_keys');
    await press('Enter');
    await page.waitForSelector('.cm-content');
    await tabTo(/^DIV textbox/);
    await press('Control+Home ArrowDown ArrowDown ArrowDown End ArrowLeft ArrowLeft');
    await page.keyboard.type(' By keys.');
    await expect.poll(() => shown(page)).toContain('By keys."');
    // The tab key leaves the text in both directions.
    await tabTo(/^BUTTON tab Problems/);
    await press('ArrowRight');
    await side(page).locator('.prompt').waitFor();
    await press('ArrowRight');
    await tabTo(/^BUTTON .*Start the rehearsal/);
    await press('Enter');
    for (const title of ['Plan', 'Work on the next point', 'Continue?', 'Check the result']) {
      await side(page)
        .getByRole('heading', { name: `: ${title}` })
        .waitFor();
      await tabTo(/^BUTTON .*Fill in samples/);
      await press('Enter');
      await tabTo(/^BUTTON .*Hand it in/);
      await press('Enter');
    }
    await side(page).getByText('The run is complete.').waitFor();
    await tabTo(/^BUTTON .*Keep this as a test/);
    await press('Enter');
    await tabTo(/^BUTTON tab Rehearse/, 'Shift+Tab');
    await press('ArrowRight');
    await tabTo(/^BUTTON .*Run the tests/);
    await press('Enter');
    await side(page).getByText('5 scenarios: 5 passed, 0 failed').waitFor();
    await tabTo(/^BUTTON .*Check the result/, 'Shift+Tab');
    await press('Alt+ArrowUp Alt+ArrowUp Alt+ArrowDown');
    await page.getByText('Moved "Check the result" to place 2 of 3.').waitFor();
    await press('Control+s');
    await page.getByText('Saved', { exact: true }).waitFor();
    expect(JSON.parse(onDisk('team.by_keys')).steps.map(({ id }: { id: string }) => id)).toEqual([
      'plan',
      'verify',
      'rounds',
    ]);
    writeFileSync(fileOf('team.by_keys'), WRITTEN.replace(DRAFTED.id, 'team.by_keys'));
    await press('Alt+ArrowUp');
    await press('Control+s');
    await tabTo(/^BUTTON .*Compare and merge/);
    await press('Enter');
    await page.getByRole('dialog').waitFor();
    await press('Escape');
    expect(await focused()).toMatch(/Compare and merge/);
    await press('g ,');
    await page.waitForURL(/settings/);
    await page.getByRole('combobox').first().waitFor();
    await tabTo(/^SELECT .*mode/);
    await press('ArrowDown');
    await tabTo(/^BUTTON .*Change/);
  }, 60_000);

  it('every part of the editor is accessible', async ({ skip }) => {
    const { page, expectAccessible, expectStateAccessible } = opened ?? skip('no chromium');
    await page.goto(address('/workflows/new'));
    await page.waitForSelector('main h1');
    await expectAccessible('new');
    for (const from of ['another workflow', 'a finished run']) {
      await page.getByRole('radio', { name: from }).check();
      await expectStateAccessible(`new from ${from}`);
    }
    await page.goto(address('/workflows/wr.first_steps/edit'));
    await side(page).getByText('No problems.').waitFor();
    await expectStateAccessible('a bundled file');
    await edit(page, { text: WRITTEN.replace('"description"', '"descripton"') });
    await side(page).getByText('Unknown key').waitFor();
    for (const panel of ['Problems', 'Preview', 'Rehearse', 'Tests', 'Insert']) {
      await page.getByRole('tab', { name: new RegExp(`^${panel}`) }).click();
      await expectAccessible(panel);
    }
    await replaceAll(page, WRITTEN);
    await page.getByRole('tab', { name: 'Rehearse' }).click();
    await page.getByRole('button', { name: 'Start the rehearsal' }).click();
    await page.getByRole('button', { name: 'Hand it in' }).click();
    await side(page).getByRole('alert').waitFor();
    await expectStateAccessible('a blocked rehearsal');
    await page.getByRole('tab', { name: 'Tests' }).click();
    await page.getByRole('button', { name: 'Write the first scenario' }).click();
    await page.getByRole('button', { name: 'Run the tests' }).click();
    await side(page).getByText('1 scenario: 1 passed, 0 failed').waitFor();
    await expectStateAccessible('tests that ran');
    await page.getByRole('button', { name: /^Workflow/ }).click();
    await typeAfter(page, '"prompt": "Do the second', ', "outp');
    await page.locator('.cm-tooltip-autocomplete').getByText('outputContract').waitFor();
    await expectStateAccessible('what is offered at the cursor');
    await page.keyboard.press('Escape');
    await page.reload();
    await page.getByText('was restored.').waitFor();
    await expectStateAccessible('a restored draft');
    writeFileSync(fileOf('team.drafted'), WRITTEN);
    await replaceAll(page, '{}');
    await page.keyboard.press('Control+s');
    await page.getByRole('button', { name: 'Compare and merge' }).waitFor();
    await expectStateAccessible('a file that changed on disk');
    await page.getByRole('button', { name: 'Compare and merge' }).click();
    await expectAccessible('merge');
    await page.keyboard.press('Escape');
  }, 60_000);

  it('what was typed is there again after the browser was killed', async ({ skip }) => {
    enforces('console_draft_survives');
    const profile = join(fixture.folder, 'profile');
    let server = await startConsole(fixture.place());
    const { port } = server;
    const editor = `http://127.0.0.1:${port}/workflows/team.drafted/edit`;
    writeFileSync(fileOf('team.drafted'), WRITTEN);
    const first = (await startOwnBrowser(profile)) ?? skip('no chromium');
    const page = await first.context.newPage();
    await page.goto(server.link);
    await page.waitForSelector('main h1');
    await page.goto(editor);
    await replaceAll(page, WRITTEN.replace('Second thing', 'A thing that nobody saved'));
    await page.getByText('kept as a draft').waitFor();
    await expect.poll(() => drafts(page)).toContain('nobody saved');
    await first.kill();
    expect(onDisk('team.drafted')).toBe(WRITTEN);
    const second = (await startOwnBrowser(profile)) ?? skip('no chromium');
    const again = await second.context.newPage();
    // A console hands out one link when it starts, so it is started again, where browsers know it.
    await server.stop();
    server = await startConsole({ ...fixture.place(), port });
    await again.goto(server.link);
    await again.waitForSelector('main h1');
    await again.goto(editor);
    await again.getByText('was restored.').waitFor();
    expect(await shown(again)).toContain('A thing that nobody saved');
    await again.getByRole('button', { name: 'Discard the draft' }).click();
    await expect.poll(() => shown(again)).toContain('Second thing');
    await second.kill();
    await server.stop();
  }, 60_000);

  it('of two tabs with one file, neither takes away what was typed in the other', async ({ skip }) => {
    enforces('console_draft_survives');
    const { page, context } = opened ?? skip('no chromium');
    await edit(page);
    const other = await context.newPage();
    const openOther = async () => {
      await other.goto(address('/workflows/team.drafted/edit'));
      await other.waitForSelector('.code-editor:not([hidden]) .cm-content');
    };
    await openOther();
    await replaceAll(page, WRITTEN.replace('Second thing', 'Typed in one tab'));
    await expect.poll(() => drafts(page)).toContain('Typed in one tab');
    // The other tab types something, and takes it back: its own draft ends, and no other one.
    await replaceAll(other, WRITTEN.replace('Third thing', 'Typed in the other tab'));
    await expect.poll(() => drafts(page)).toContain('Typed in the other tab');
    expect(await drafts(page)).toContain('Typed in one tab');
    await replaceAll(other, WRITTEN);
    await expect.poll(() => drafts(page)).not.toContain('Typed in the other tab');
    expect(await drafts(page)).toContain('Typed in one tab');
    // The next page that opens the file shows that draft, and the author may discard it.
    await page.goto(address('/waiting'));
    await openOther();
    expect(await shown(other)).toContain('Typed in one tab');
    await other.getByRole('button', { name: 'Discard the draft' }).click();
    await expect.poll(() => drafts(other)).not.toContain('Typed in one tab');
    await other.close();
  });

  it('hostile texts in files, prompts and findings are only text', async ({ skip }) => {
    const { page, noise } = opened ?? skip('no chromium');
    const before = noise.length;
    const hostile = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>';
    const file = { ...DRAFTED, [hostile]: 1, steps: [{ id: 'one', title: hostile, prompt: `${hostile} \u202egnp` }] };
    await edit(page, { text: JSON.stringify(file, null, 2) });
    for (const panel of ['Problems', 'Preview', 'Rehearse', 'Tests']) {
      await page.getByRole('tab', { name: new RegExp(`^${panel}`) }).click();
      await page.waitForTimeout(200);
      expect([panel, await page.evaluate('typeof window.pwned')]).toEqual([panel, 'undefined']);
      expect(await page.locator('main img, main script').count()).toBe(0);
    }
    for (const path of ['..%2f..%2fkeys', '%00', '__proto__', 'constructor', 'x'.repeat(500)]) {
      await page.goto(address(`/workflows/${path}/edit`));
      await page.getByRole('alert').waitFor();
    }
    expect(noise.slice(before).filter((line) => !/status of 40[49]/.test(line))).toEqual([]);
  });
});
