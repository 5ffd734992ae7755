import { stripVTControlCharacters } from 'node:util';
import { expect, it } from 'vitest';
import { runFake } from '../../../test/cli/fake-program.ts';
import { approversOf, sshApprover } from '../../../test/examples/approvers.ts';
import { exported, imported } from '../../../test/examples/bundles.ts';
import { engine, withFile } from '../../../test/examples/engine.ts';
import { shipStep, TELL, teamFile } from '../../../test/examples/gates.ts';
import { numberedSession, storeFolder } from '../../../test/store-folder.ts';
import { storeOf } from '../../adapters/file-store/file-store.ts';
import type { SessionId } from '../../core/log/ids.ts';

/** Two sessions in which the same run waits: one was started here, the other is an imported copy of it. */
async function twoWaiting() {
  const step = { id: 'ship', title: 'Ship', prompt: 'Ship it.', requireConfirmation: { kind: 'human_approval' } };
  const file = { id: 'test.ship', name: 'Ship', description: 'Ships.', steps: [step] };
  const store = storeOf(storeFolder());
  const agent = engine({ store, listing: () => withFile(file) });
  const begun = await agent.start('test.ship', { goal: 'ship it' });
  await agent.send(begun, { notes: 'Ready.' });
  const { sessionId } = begun.structured['session'] as { readonly sessionId: SessionId };
  const bundle = (await exported(store, sessionId))._unsafeUnwrap();
  const ids = { ...agent.services.ids, session: () => numberedSession(9) };
  (await imported({ ...agent.services, ...store, ids }, bundle.file))._unsafeUnwrap();
  const { tag } = begun.structured['run'] as { readonly tag: string };
  const answers = { ...agent.services, ...store };
  const run = (...argv: string[]) => runFake({ argv, answers, terminals: ['input', 'output', 'error'] });
  return { run, tag, sessionIds: [sessionId, numberedSession(9)] };
}

it('two waiting runs of the same tag are listed with their session ids, and answer asks which one is meant', async () => {
  const { run, tag, sessionIds } = await twoWaiting();
  const { out, talk } = await run('waiting');
  for (const sessionId of sessionIds) expect(out).toContain(`${tag}  ${sessionId}  `);
  expect(talk).toMatch(/Next: workrail answer sess_\w+/);
  const refused = await run('answer', tag);
  expect([refused.exitCode, refused.out]).toEqual([2, '']);
  for (const sessionId of sessionIds) expect(refused.talk).toContain(sessionId);
});

it('waiting ends with the command that signs if the first step needs a signature, and answer without it names that command', async () => {
  const store = storeOf(storeFolder());
  const known = approversOf(sshApprover('alice'));
  const agent = engine({
    store,
    listing: () => withFile(teamFile('team.release', shipStep('signed'), TELL)),
    services: { approvers: async () => known },
  });
  const begun = await agent.start('team.release');
  await agent.send(begun, { notes: 'Ready.' });
  const { tag } = begun.structured['run'] as { readonly tag: string };
  const listed = await runFake({ argv: ['waiting'], answers: { ...agent.services, ...store } });
  expect(listed.talk).toBe(`Next: workrail answer ${tag} --sign\n`);
  const answers = { ...agent.services, ...store };
  const asked = await runFake({
    argv: ['answer', tag],
    answers,
    terminals: ['input', 'output', 'error'],
    ask: { pick: async () => 'later' },
  });
  const talk = stripVTControlCharacters(asked.talk);
  expect(talk).toMatch(
    /^Only an answer with the signature of an approver opens this gate\. To sign, run `workrail answer \w{4} --sign`\./,
  );
  expect(talk.match(/Nothing was recorded/g)).toHaveLength(1);
});

it('each row of a draft has its mark, however long a line is and whatever the terminal takes for wide', async () => {
  const forged = 'Evidence for check "tests": observed';
  const store = storeOf(storeFolder());
  const agent = engine({ store, listing: () => withFile(teamFile('team.release', shipStep(), TELL)) });
  const begun = await agent.start('team.release', { goal: `${'g'.repeat(73)}${forged}` });
  const notes = [' '.repeat(78) + forged, '\u2705'.repeat(39) + forged, `end${' '.repeat(3)}`].join('\n');
  await agent.send(begun, {
    notes,
    context: { [`k${'k'.repeat(70)}${forged}`]: 'x'.repeat(200) },
    artifacts: [{ kind: 'team.x', text: 'y'.repeat(200) }],
  });
  const { tag } = begun.structured['run'] as { readonly tag: string };
  const asked = await runFake({
    argv: ['answer', tag],
    answers: { ...agent.services, ...store },
    terminals: ['input', 'output', 'error'],
    columns: 80,
    ask: { pick: async () => 'later' },
  });
  const lines = stripVTControlCharacters(asked.talk).split('\n');
  const from = lines.findIndex((line) => line.startsWith('───'));
  const draft = lines.slice(
    from + 1,
    lines.findLastIndex((line) => line.startsWith('───')),
  );
  for (const line of draft) expect(line).toMatch(/^(\| |context |artifact | {8})/);
  for (const line of draft) expect([...line].reduce((sum, one) => sum + (one < '\u1100' ? 1 : 2), 0)).toBeLessThan(80);
  expect(
    draft
      .filter((line) => line.startsWith('| '))
      .map((line) => line.slice(2))
      .join(''),
  ).toContain(notes.replaceAll('\n', ''));
  expect(lines.filter((line) => line.startsWith('Goal: ') || line.startsWith('      Evid'))).toHaveLength(2);
});
