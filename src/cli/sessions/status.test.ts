import { expect, it } from 'vitest';
import { lookedAtWorld, MINUTE_MS } from '../../../test/cli/looked-at.ts';
import { withFile } from '../../../test/examples/engine.ts';

it('status shows waiting runs first, then blocked, then running; here before elsewhere', async () => {
  const { start, send, wait, look } = lookedAtWorld();
  await start('test.plain', { goal: 'over there', workspace: '/work/other' });
  const asking = await start('test.dependencies', { goal: 'ask the person' });
  await send(asking, { notes: 'tried' });
  wait(MINUTE_MS);
  await send(await start('test.demands', { goal: 'lacks something' }), { notes: 'n' });
  wait(5 * MINUTE_MS);
  await start('test.plain', { goal: 'goes on' });
  const { out, talk } = await look(['status']);
  expect(out.replaceAll(/(?<=^ {2}. )\w{4}/gm, 'id00').replaceAll(/(?<=^ {6}run )\w{4}/gm, 'tag0')).toBe(
    [
      'Here, in /work/shop',
      '  ? id00  ask the person                     blocked: waiting for you  6 min ago',
      '      run tag0 at step 1: Do secret-or-token',
      '      ← This step needs the user: Please: needs_user_secret_or_token.',
      '  ▲ id00  lacks something                    blocked                   5 min ago',
      '      run tag0 at step 1: Do contracted',
      '      ← Assessment "readiness": The required artifact of kind wr.assessment was…',
      '  ● id00  goes on                             running                   just now',
      '      run tag0 at step 1: Do s1',
      '',
      'Elsewhere',
      '  ● id00  over there                         running                   6 min ago',
      '      run tag0 at step 1: Do s1 /work/other',
      '',
    ].join('\n'),
  );
  expect(talk).toMatch(/^Next: workrail session resume \w{4}\n$/);
});

it('status suggests to answer a run that waits for an approval, and calls it blocked as the list of sessions does', async () => {
  const step = { id: 'ship', title: 'Ship', prompt: 'Ship it.', requireConfirmation: { kind: 'human_approval' } };
  const file = { id: 'test.ship', name: 'Ship', description: 'Ships.', steps: [step] };
  const { start, send, look } = lookedAtWorld({
    listing: () => withFile(file),
    services: { command: 'node dist/workrail.js' },
  });
  await send(await start('test.ship', { goal: 'ship it' }), { notes: 'Ready.' });
  const { out, talk } = await look(['status']);
  expect(out).toContain('blocked: waiting for you');
  const tag = /run (\w{4}) at step 1: Ship/.exec(out)?.[1];
  expect(talk).toBe(`Next: workrail answer ${tag}\n`);
  expect((await look(['session', 'list'])).out).toContain('blocked');
});

it('status --waiting lists nothing if nothing waits for a person, and exits with 0', async () => {
  const { start, look } = lookedAtWorld();
  await start('test.plain', { goal: 'goes on' });
  const { exitCode, out } = await look(['status', '--waiting']);
  expect([exitCode, out]).toEqual([0, 'Nothing is waiting for you.\n']);
});
