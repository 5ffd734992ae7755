import { ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { verifyApprovals } from '../../src/app/run/verify-approvals.ts';
import { setPreferences } from '../../src/app/upkeep/set-preferences.ts';
import type { SessionId } from '../../src/core/log/ids.ts';
import { type GateSettings, REHEARSED_GATES } from '../../src/core/settings/settings-in-effect.ts';
import { enforces } from '../enforces.ts';
import { approversOf, sshApprover, type TestApprover } from '../examples/approvers.ts';
import { type Engine, engine, withFile } from '../examples/engine.ts';
import { answerAt, answerId, shipStep, TELL, teamFile } from '../examples/gates.ts';
import { memoryServices } from '../examples/memory-services.ts';

type Reply = Awaited<ReturnType<Engine['send']>>;

const GATES: GateSettings = { ...REHEARSED_GATES, accept: ['team'], isFourEyes: true };
const PEOPLE = ['alice', 'bob', 'carol'].map((name) => sshApprover(name));

/** One run that the agents of several people send to, as members of a space do. It may be handed over. */
function space(assurance?: string, handed: { to?: string } = {}) {
  const store = memoryServices();
  const by = (principal: string): Engine =>
    engine({
      store,
      listing: () => withFile(teamFile('team.release', shipStep(assurance), TELL)),
      services: {
        gateSettings: async () => GATES,
        handedTo: async () => ok(handed.to),
        approvers: async () => approversOf(...PEOPLE),
        by: { principal, via: 'mcp' },
      },
    });
  const [ann, vic, pat] = [by('ann'), by('vic'), by('pat')];
  const decide = (from: Reply, principal: string, who?: TestApprover) =>
    answerAt(ann, from, {
      by: { via: 'team', launch: 'l1', askedAt: 1, answerMs: 5_000, principal },
      attestationId: answerId(principal),
      who,
    });
  return { ann, vic, pat, decide };
}

const kindOf = ({ structured }: Reply) => structured['kind'];

test("nobody approves their own draft after another person's agent repeated the call", async () => {
  const { ann, vic, decide } = space();
  const blocked = await vic.send(await ann.start('team.release'), { notes: 'Vic wrote this.' });
  let again = await ann.send(blocked);
  again = await ann.send(again);
  expect((await decide(again, 'vic'))._unsafeUnwrapErr()).toEqual({ code: 'own_draft' });
  expect((await decide(again, 'ann'))._unsafeUnwrapErr()).toEqual({ code: 'own_draft' });
  (await decide(again, 'pat'))._unsafeUnwrap();
  expect(kindOf(await ann.send(again))).toBe('ok');
});

test('the owner of a run approves no draft of it, even one to which only others sent something', async () => {
  const { ann, vic, decide } = space();
  const blocked = await vic.send(await ann.start('team.release'), { notes: 'Vic wrote this.' });
  expect((await decide(blocked, 'ann'))._unsafeUnwrapErr()).toEqual({ code: 'own_draft' });
});

test('a second author who only adds artifacts does not let the first author approve', async () => {
  const { ann, vic, pat, decide } = space();
  const blocked = await vic.send(await ann.start('team.release'), { notes: 'Vic wrote this.' });
  const more = await pat.send(blocked, { artifacts: [{ kind: 'extra', from: 'pat' }] });
  for (const maker of ['vic', 'pat']) {
    expect((await decide(more, maker))._unsafeUnwrapErr()).toEqual({ code: 'own_draft' });
  }
  (await decide(more, 'zoe'))._unsafeUnwrap();
  expect(kindOf(await ann.send(more))).toBe('ok');
});

test('an approval does not count any more once the agent of that person sends an attempt at the step', async () => {
  const { ann, vic, decide } = space();
  const blocked = await ann.send(await ann.start('team.release'), { notes: 'Shipped 1.2.' });
  (await decide(blocked, 'vic'))._unsafeUnwrap();
  const changed = await vic.send(blocked, { notes: 'Vic wrote this.' });
  expect(kindOf(await ann.send(changed, { notes: 'Shipped 1.2.' }))).toBe('blocked');
});

test('nobody sets never-stop for a run whose draft they may not approve', async () => {
  const { ann, vic } = space();
  const start = await ann.start('team.release');
  const blocked = await vic.send(start, { notes: 'Vic wrote this.' });
  const { sessionId } = blocked.structured['session'] as { readonly sessionId: SessionId };
  const set = (principal: string, mode: 'full_auto_never_stop' | 'full_auto_stop_on_user_deps') => {
    const services = { ...ann.services, by: { via: 'team', principal } } as const;
    return setPreferences(services, { sessionId, mode, isLooseningAllowed: true });
  };
  const { tag } = blocked.structured['run'] as { readonly tag: string };
  for (const maker of ['ann', 'vic']) {
    const refused = (await set(maker, 'full_auto_never_stop'))._unsafeUnwrapErr();
    expect(refused).toEqual({ code: 'own_run_never_stop', tags: [tag] });
  }
  expect((await set('ann', 'full_auto_stop_on_user_deps')).isOk()).toBe(true);
  expect(kindOf(await ann.send(blocked))).toBe('blocked');
  expect((await set('pat', 'full_auto_never_stop')).isOk()).toBe(true);
  expect(kindOf(await ann.send(await ann.show(blocked)))).toBe('ok');
});

test('never-stop passes no gate where who set it hands in the draft afterwards', async () => {
  const { ann, vic } = space();
  const start = await ann.start('team.release');
  const { sessionId } = start.structured['session'] as { readonly sessionId: SessionId };
  const services = { ...ann.services, by: { via: 'team', principal: 'vic' } } as const;
  const mode = 'full_auto_never_stop';
  expect((await setPreferences(services, { sessionId, mode, isLooseningAllowed: true })).isOk()).toBe(true);
  const blocked = await vic.send(await vic.show(start), { notes: 'Vic wrote this.' });
  expect(kindOf(blocked)).toBe('blocked');
  // Whoever sends it again: it still is the draft of the person who set the mode.
  expect(kindOf(await ann.send(blocked))).toBe('blocked');
});

test('somebody to whom a run was handed over counts as its owner, also for what they approved before', async () => {
  const handed: { to?: string } = {};
  const { ann, decide } = space(undefined, handed);
  const blocked = await ann.send(await ann.start('team.release'), { notes: 'Shipped 1.2.' });
  handed.to = 'zoe';
  expect((await decide(blocked, 'zoe'))._unsafeUnwrapErr()).toEqual({ code: 'own_draft' });
  (await decide(blocked, 'pat'))._unsafeUnwrap();
  handed.to = 'pat';
  const still = await ann.send(blocked);
  expect(kindOf(still)).toBe('blocked');
  handed.to = 'zoe';
  expect(kindOf(await ann.send(still))).toBe('ok');
});

test('checking a log asks for two signers who did not make the draft themselves', async () => {
  const { ann, vic, decide } = space('signed');
  const blocked = await vic.send(await ann.start('team.release'), { notes: 'Vic wrote this.' });
  const [alice, bob] = PEOPLE;
  (await decide(blocked, 'pat', alice))._unsafeUnwrap();
  (await decide(blocked, 'zoe', bob))._unsafeUnwrap();
  const done = await ann.send(blocked);
  expect(kindOf(done)).toBe('ok');
  const { sessionId } = done.structured['session'] as { readonly sessionId: SessionId };
  const session = (await ann.services.sessions.load(sessionId))._unsafeUnwrap();
  const known = approversOf(...PEOPLE);
  const [verdict] = (await verifyApprovals(ann.services, session, { known, needed: 2 }))._unsafeUnwrap();
  expect(verdict).toMatchObject({ signers: [{ name: 'alice' }, { name: 'bob' }] });
  // The same log, had bob signed in as the person whose agent sent the draft.
  const { attestations } = session.view;
  const renamed = new Map(
    [...attestations].map(([node, all]) => [
      node,
      all.map((one) => (one.data.by.principal === 'zoe' ? withPrincipal(one, 'vic') : one)),
    ]),
  );
  const forged = { ...session, view: { ...session.view, attestations: renamed } };
  const [again] = (await verifyApprovals(ann.services, forged, { known, needed: 2 }))._unsafeUnwrap();
  expect(again).toMatchObject({ problem: 'too_few', signers: [{ name: 'alice' }] });
});

test('a signer who tries the step again on a new branch does not end what was signed before', async () => {
  const { ann, pat, vic, decide } = space('signed');
  const start = await ann.start('team.release');
  const blocked = await vic.send(start, { notes: 'Vic wrote this.' });
  const [alice, bob] = PEOPLE;
  (await decide(blocked, 'pat', alice))._unsafeUnwrap();
  (await decide(blocked, 'zoe', bob))._unsafeUnwrap();
  const done = await ann.send(blocked);
  expect(kindOf(await pat.send(await pat.show(start), { notes: 'Pat does it again.' }))).toBe('blocked');
  const { sessionId } = done.structured['session'] as { readonly sessionId: SessionId };
  const session = (await ann.services.sessions.load(sessionId))._unsafeUnwrap();
  const how = { known: approversOf(...PEOPLE), needed: 2 } as const;
  const [verdict] = (await verifyApprovals(ann.services, session, how))._unsafeUnwrap();
  expect(verdict).toMatchObject({ signers: [{ name: 'alice' }, { name: 'bob' }] });
  expect(verdict?.problem).toBeUndefined();
});

test('the comment of a signer whose approval was ended does not reach the agent with the approvals of others', async () => {
  const { ann, vic, decide } = space('signed');
  const blocked = await vic.send(await ann.start('team.release'), { notes: 'Vic wrote this.' });
  const [alice, bob, carol] = PEOPLE;
  const by = { via: 'team', launch: 'l1', askedAt: 1, answerMs: 5_000, principal: 'pat' } as const;
  const said = { shown: 'whole', comment: 'Ship it today.' } as const;
  const first = { by, attestationId: answerId('first'), who: alice, statement: { kind: 'approved', ...said } } as const;
  (await answerAt(ann, blocked, first))._unsafeUnwrap();
  const ended = { by, attestationId: answerId('ended'), statement: { kind: 'rejected', shown: 'whole' } } as const;
  (await answerAt(ann, blocked, ended))._unsafeUnwrap();
  (await decide(blocked, 'zoe', bob))._unsafeUnwrap();
  (await decide(blocked, 'max', carol))._unsafeUnwrap();
  const next = await ann.send(blocked);
  expect(kindOf(next)).toBe('ok');
  for (const { text } of [next, await ann.show(next)]) expect(text).not.toContain('Ship it today.');
});

test('checking a log takes no signature that was taken back before the step was done', async () => {
  enforces('approval_binds_draft_once');
  const { ann, vic, decide } = space('signed');
  const blocked = await vic.send(await ann.start('team.release'), { notes: 'Vic wrote this.' });
  const [alice, bob] = PEOPLE;
  (await decide(blocked, 'pat', alice))._unsafeUnwrap();
  (await decide(blocked, 'zoe', bob))._unsafeUnwrap();
  const done = await ann.send(blocked);
  const { sessionId } = done.structured['session'] as { readonly sessionId: SessionId };
  const session = (await ann.services.sessions.load(sessionId))._unsafeUnwrap();
  // The same log, had somebody rejected another draft of the step in between, and the program had done it all the same.
  const attestations = new Map(
    [...session.view.attestations].map(([node, all]) => [
      node,
      all.flatMap((one, i) => (i === 0 ? [one, rejectedAfter(one)] : [one])),
    ]),
  );
  const forged = { ...session, view: { ...session.view, attestations } };
  const how = { known: approversOf(...PEOPLE), needed: 2 } as const;
  const [verdict] = (await verifyApprovals(ann.services, forged, how))._unsafeUnwrap();
  expect(verdict).toMatchObject({ problem: 'too_few', signers: [{ name: 'bob' }] });
});

function rejectedAfter<One extends { readonly eventIndex: number; readonly data: object }>(one: One): One {
  const data = { ...one.data, statement: { kind: 'rejected', shown: 'whole' } };
  return { ...one, eventIndex: one.eventIndex + 0.5, data };
}

function withPrincipal<One extends { readonly data: { readonly by: object } }>(one: One, principal: string): One {
  return { ...one, data: { ...one.data, by: { ...one.data.by, principal } } };
}
