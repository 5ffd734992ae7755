import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { type Engine, engine, tokenOf, told, withFile } from '../../../test/examples/engine.ts';
import type { GivenReply } from '../../core/log/operation/stored-reply.ts';
import { utf8Length } from '../../core/text/utf8.ts';

type Shown = {
  readonly entries: readonly { readonly stepId: string; readonly title: string; readonly text: string }[];
  readonly omitted: number;
  readonly policy?: string;
};

test('a finished step shows its branches and both recaps, with no note twice', async () => {
  enforces('branch_context_on_non_tip', 'rejoin_branch_preferred', 'rejoin_text_says_choice');
  const agent = engine();
  const replies = await walked(agent, ['One.', 'Two.', 'Three.']);
  const second = replies[1] ?? expect.fail();
  await agent.save(second, 'Before the second.');
  const fork = await agent.send(await agent.show(second), { notes: 'Two again.\nIn other words.' });
  const tip = await agent.send(fork, { notes: 'Three again.' });

  const shown = await agent.show(second);
  expect(shown.structured['recap']).toEqual({
    entries: [
      { stepId: 's1', title: 'Do s1', text: 'One.' },
      { stepId: 's2', title: 'Do s2', text: 'Before the second.', saved: true },
    ],
    omitted: 0,
  });
  expect(shown.structured['branch']).toEqual({
    children: [
      { kind: 'step', summary: 'Two again.' },
      { kind: 'step', summary: 'Two.' },
    ],
    childrenOmitted: 0,
    preferred: {
      stateToken: tokenOf(tip, 'stateToken'),
      stepTitle: 'Do s4',
      isComplete: false,
      recap: {
        entries: [
          { stepId: 's2', title: 'Do s2', text: 'Two again.\nIn other words.' },
          { stepId: 's3', title: 'Do s3', text: 'Three again.' },
        ],
        omitted: 0,
      },
    },
  });
  expect(shown.text).toMatch(
    /already finished this step.* is now at "Do s4"\.\nTo continue where the run is now: .*\nTo do this step again on a new branch/,
  );
});

test('of many branches the newest five are shown, each within its limit', async () => {
  enforces('branch_context_on_non_tip');
  const agent = engine();
  const begun = await agent.start('test.plain');
  for (let n = 1; n <= 7; n++) {
    const blocked = await agent.send(await agent.show(begun));
    await agent.send(blocked, { notes: `${n} ${'é'.repeat(300)}` });
  }
  const { children, childrenOmitted } = told(await agent.show(begun), 'branch') as {
    readonly children: readonly { readonly kind: string; readonly summary: string }[];
    readonly childrenOmitted: number;
  };
  expect(children.map(({ kind, summary }) => [kind, summary[0], utf8Length(summary) <= 256])).toEqual(
    [7, 6, 5, 4, 3].map((n) => ['step', String(n), true]),
  );
  expect(childrenOmitted).toBe(2);
});

test('the branch with the latest activity is shown in full', async () => {
  enforces('rejoin_branch_preferred');
  const agent = engine();
  const [begun = expect.fail(), , old = expect.fail()] = await walked(agent, ['One.', 'Two.']);
  await agent.send(await agent.show(begun), { notes: 'One again.' });
  const stuck = await agent.send(old);
  expect(told(await agent.show(begun), 'branch.preferred.stateToken')).toBe(tokenOf(stuck, 'stateToken'));
});

test('a complete branch is marked as complete', async () => {
  const agent = engine();
  const begun = await agent.start('test.skips');
  await agent.send(await agent.send(begun, { notes: 'One.' }), { notes: 'Two.' });
  expect(told(await agent.show(begun), 'branch.preferred')).toMatchObject({ isComplete: true, stepTitle: 'the end' });
});

test('a checkpoint of a step that was finished by its older token shows the branch as well', async () => {
  const agent = engine();
  const begun = await agent.start('test.plain');
  const saved = await agent.save(begun, 'Half way.');
  const second = await agent.send(begun, { notes: 'One.' });
  const shown = await agent.show(saved);
  expect(told(shown, 'branch.preferred.stateToken')).toBe(tokenOf(second, 'stateToken'));
  expect(told(shown, 'branch.preferred.recap')).toMatchObject({ entries: [{ text: 'One.' }] });
  expect(told(shown, 'recap')).toMatchObject({ entries: [{ text: 'Half way.' }] });
});

test('notes within 6 KiB are all shown in order; over it the oldest are dropped and counted', async () => {
  enforces('recap_budgeted', 'recap_truncation_announced');
  const agent = engine();
  const short = await walked(agent, ['One.', 'Two.', 'Three.', 'Four.']);
  expect(textsOf(await agent.show(short.at(-1) ?? expect.fail()))).toEqual(['One.', 'Two.', 'Three.', 'Four.']);

  const notes = Array.from({ length: 10 }, (_, i) => `${i} ${'x'.repeat(998)}`);
  const long = await walked(agent, notes);
  const shown = await agent.show(long.at(-1) ?? expect.fail());
  const recap = told(shown, 'recap') as unknown as Shown;
  expect(recap.entries.map(({ text }) => text)).toEqual(notes.slice(4));
  expect([recap.omitted, recap.policy]).toEqual([4, 'kept_newest']);
  expect(shown.text).toContain('4 older notes are left out; the newest are kept');
});

test('one entry shows at most 4096 bytes of its note', async () => {
  enforces('recap_entry_4096');
  const agent = engine();
  const [, second = expect.fail()] = await walked(agent, ['y'.repeat(20_000)]);
  const [text = ''] = textsOf(await agent.show(second));
  expect([utf8Length(text), text.endsWith('[TRUNCATED]')]).toEqual([4096, true]);
});

test('both recaps of a finished step share one budget', async () => {
  enforces('recap_budgeted', 'branch_context_on_non_tip');
  const agent = engine();
  const notes = Array.from({ length: 12 }, (_, i) => `${i} ${'x'.repeat(700)}`);
  const replies = await walked(agent, notes);
  const shown = await agent.show(replies[6] ?? expect.fail());
  const above = told(shown, 'recap') as unknown as Shown;
  const below = told(shown, 'branch.preferred.recap') as unknown as Shown;
  expect(above.entries.map(({ text }) => text[0])).toEqual(['2', '3', '4', '5']);
  expect(below.entries.map(({ text }) => text.slice(0, 2))).toEqual(['8 ', '9 ', '10', '11']);
  expect([above.omitted, below.omitted]).toEqual([2, 2]);
  expect(bytesOf(above) + bytesOf(below)).toBeLessThanOrEqual(6_144);
});

test('headings count towards the recap budget', async () => {
  enforces('recap_budgeted');
  const title = 'A title that takes more room than what was noted under it';
  const steps = Array.from({ length: 290 }, (_, i) => ({ id: `s${i}`, title, prompt: 'Do it.' }));
  const agent = engine({ listing: () => withFile({ id: 'test.more', name: 'More', description: 'Many.', steps }) });
  let at = await agent.start('test.more');
  for (let i = 0; i < 280; i++) at = await agent.send(at, { notes: 'ok' });
  const shown = await agent.show(at);
  const recap = told(shown, 'recap') as unknown as Shown;
  expect(recap.entries.length + recap.omitted).toBe(280);
  expect(recap.entries.length).toBeGreaterThan(50);
  expect(utf8Length(shown.text)).toBeLessThan(10_000);
});

test('one call of at most 10 kB replaces a lost reply', async () => {
  enforces('rejoin_branch_preferred', 'recap_budgeted');
  const agent = engine();
  const notes = Array.from({ length: 10 }, (_, i) => `${i} ${'x'.repeat(1_500)}`);
  const begun = await agent.start('test.plain', { goal: 'Ship the parser' });
  let at = begun;
  for (const note of notes) at = await agent.send(at, { notes: note });
  const third = await agent.show(begun);
  for (const { text } of [third, await agent.show(at)]) {
    expect(utf8Length(text)).toBeLessThanOrEqual(10_000);
    for (const part of ['> Goal:\n>   Ship the parser\n', 'Never skip a step.', 'x'.repeat(1_000), 'st_', 'ack_']) {
      expect(text).toContain(part);
    }
  }
  const stateToken = String(told(third, 'branch.preferred.stateToken'));
  expect(third.text).toContain(`continue_workflow {"stateToken":"${stateToken}"}`);
  const back = await agent.show(stateToken);
  expect(tokenOf(back, 'ackToken')).toBe(tokenOf(at, 'ackToken'));
  expect(back.structured['pending']).toEqual(at.structured['pending']);
});

/** Starts a run and takes one step for each note; the replies from the start on. */
async function walked(agent: Engine, notes: readonly string[]): Promise<readonly GivenReply[]> {
  const replies = [await agent.start('test.plain')];
  for (const note of notes) replies.push(await agent.send(replies.at(-1) ?? expect.fail(), { notes: note }));
  return replies;
}

function textsOf(reply: GivenReply): readonly string[] {
  return (told(reply, 'recap') as unknown as Shown).entries.map(({ text }) => text);
}

function bytesOf({ entries }: Shown): number {
  return entries.reduce((sum, { title, text }) => sum + utf8Length(title) + utf8Length(text), 0);
}
