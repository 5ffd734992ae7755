import { expect, test } from 'vitest';
import { verifyApprovals } from '../../src/app/run/verify-approvals.ts';
import { gateLines } from '../../src/cli/sessions/approval-lines.ts';
import type { JsonObject } from '../../src/core/json/json-value.ts';
import type { SessionId } from '../../src/core/log/ids.ts';
import { draftVerdict } from '../../src/core/passport/approved-draft.ts';
import type { BoundWorkspace } from '../../src/core/run/gate-facts.ts';
import { GIT_SILENT } from '../../src/core/run/unseen-files.ts';
import { type GateSettings, REHEARSED_GATES } from '../../src/core/settings/settings-in-effect.ts';
import { enforces } from '../enforces.ts';
import {
  approversOf,
  hardwareApprover,
  passkeyApprover,
  sshApprover,
  type TestApprover,
} from '../examples/approvers.ts';
import { type Engine, engine, eventsOf, withFile } from '../examples/engine.ts';
import {
  answerAt,
  answerId,
  IN_REPOSITORY,
  OBSERVED,
  type Said,
  shipStep,
  TELL,
  teamFile,
  whereStep,
} from '../examples/gates.ts';
import { sha256 } from '../examples/sha256.ts';

const RELEASE = teamFile('team.release', shipStep('signed'), TELL);
const ASK = teamFile('team.ask', whereStep('signed'), TELL);

const [alice, bob, mallory] = [sshApprover('alice'), passkeyApprover('bob'), sshApprover('mallory')];
const GATES: GateSettings = { ...REHEARSED_GATES, accept: ['terminal', 'console'] };

type World = {
  readonly file?: object;
  readonly gates?: Partial<GateSettings>;
  readonly tree?: () => BoundWorkspace | undefined;
  readonly observe?: typeof OBSERVED;
  readonly people?: () => readonly TestApprover[];
};

function made({ file = RELEASE, gates = {}, tree, observe = OBSERVED, people = () => [alice, bob] }: World = {}) {
  return engine({
    listing: () => withFile(file),
    services: {
      gateSettings: async () => ({ ...GATES, ...gates }),
      approvers: async () => approversOf(...people()),
      ...(tree === undefined ? {} : { workspace: { observe, tree: async () => tree() } }),
    },
  });
}
type Reply = Awaited<ReturnType<Engine['send']>>;
const kindOf = ({ structured }: Reply) => structured['kind'];
const stepOf = ({ structured }: Reply) => (structured['pending'] as { readonly stepId: string } | null)?.stepId;

const answer = (run: Engine, from: Reply, said: { who?: TestApprover; statement?: Said; name?: string } = {}) =>
  answerAt(run, from, { ...said, attestationId: answerId(said.name ?? 'one') });

async function blockedAt(run: Engine, workflowId = 'team.release'): Promise<Reply> {
  const blocked = await run.send(await run.start(workflowId), { notes: 'Shipped 1.2.' });
  expect(kindOf(blocked)).toBe('blocked');
  return blocked;
}

test('the prompt of a step that needs a signature asks for one, and for no form', async () => {
  enforces('signed_gate_needs_approver');
  const { text } = await made().start('team.release');
  expect(text).toContain('waits until the user signs an answer in a terminal or in the console');
  expect(text).not.toContain('fills in the form');
});

test('a signed gate opens only for the signature of an approver on exactly this draft', async () => {
  enforces('signed_gate_needs_approver');
  const run = made();
  const blocked = await blockedAt(run);
  expect(blocked.text).toContain('answer');
  expect(blocked.text).toContain('--sign');
  expect((await answer(run, blocked))._unsafeUnwrapErr()).toEqual({
    code: 'signature_needed',
    approvers: ['alice', 'bob'],
  });
  expect((await answer(run, blocked, { who: mallory }))._unsafeUnwrapErr()).toEqual({
    code: 'signature_refused',
    why: { code: 'approver_unknown', fingerprint: mallory.approver.key.fingerprint },
  });
  const again = await run.send(blocked);
  expect(kindOf(again)).toBe('blocked');
  (await answer(run, again, { who: alice }))._unsafeUnwrap();
  expect(stepOf(await run.send(again))).toBe('tell');
  const [said] = eventsOf(run, 'attestation_recorded');
  expect(said?.data).toMatchObject({
    signature: { kind: 'ssh_key', name: 'alice', fingerprint: alice.approver.key.fingerprint },
  });
});

test('a passkey signs a gate, and says so in the record', async () => {
  const run = made();
  const blocked = await blockedAt(run);
  (await answer(run, blocked, { who: bob }))._unsafeUnwrap();
  expect(stepOf(await run.send(blocked))).toBe('tell');
});

test('a key in hardware signs a gate if somebody touches it', async () => {
  const [touched, untouched, other] = [
    hardwareApprover('carol'),
    hardwareApprover('dave', { flags: 0 }),
    hardwareApprover('erin', { application: 'example.org' }),
  ];
  const run = made({ people: () => [touched, untouched, other] });
  const blocked = await blockedAt(run);
  const why = async (who: TestApprover) => (await answer(run, blocked, { who }))._unsafeUnwrapErr();
  expect(await why(untouched)).toEqual({ code: 'signature_refused', why: { code: 'nobody_present' } });
  expect(await why(other)).toEqual({ code: 'signature_refused', why: { code: 'signature_malformed' } });
  (await answer(run, blocked, { who: touched }))._unsafeUnwrap();
  expect(eventsOf(run, 'attestation_recorded')[0]?.data.signature?.kind).toBe('security_key');
  expect(stepOf(await run.send(blocked))).toBe('tell');
});

test('a setting raises every gate to signed, and invalid settings do too', async () => {
  const { assurance: _, ...ship } = RELEASE.steps[0] as JsonObject;
  const file = { ...RELEASE, steps: [ship, RELEASE.steps[1]] };
  const run = made({ file, gates: { minimum: 'signed' } });
  const blocked = await blockedAt(run);
  expect((await answer(run, blocked)).isErr()).toBe(true);
  (await answer(run, blocked, { who: alice }))._unsafeUnwrap();
  expect(stepOf(await run.send(blocked))).toBe('tell');
});

test('a rejection needs no signature, ends an earlier approval, and can be followed by a signed one', async () => {
  const run = made();
  const blocked = await blockedAt(run);
  (await answer(run, blocked, { who: alice }))._unsafeUnwrap();
  (await answer(run, blocked, { statement: { kind: 'rejected', shown: 'whole' }, name: 'two' }))._unsafeUnwrap();
  const rejected = await run.send(blocked);
  expect(kindOf(rejected)).toBe('blocked');
  (await answer(run, rejected, { who: alice, name: 'three' }))._unsafeUnwrap();
  expect(stepOf(await run.send(rejected))).toBe('tell');
});

test('a key that was added after the run started opens no gate of the run, and a removed one opens none', async () => {
  enforces('approvers_fixed_at_start');
  let people = [alice];
  const run = made({ people: () => people });
  const blocked = await blockedAt(run);
  people = [alice, mallory];
  expect((await answer(run, blocked, { who: mallory }))._unsafeUnwrapErr()).toEqual({
    code: 'signature_refused',
    why: { code: 'not_known_at_start' },
  });
  (await answer(run, blocked, { who: alice }))._unsafeUnwrap();
  people = [mallory];
  expect(kindOf(await run.send(blocked))).toBe('blocked');
  const [started] = eventsOf(run, 'run_started');
  expect(started?.data).toMatchObject({ approvers: [alice.approver.key.fingerprint] });
});

test('a run that recorded no approvers when it started opens for no key that needs to sign later', async () => {
  enforces('approvers_fixed_at_start');
  const gates: { minimum: GateSettings['minimum'] } = { minimum: 'stated' };
  const run = made({ file: teamFile('team.release', shipStep('confirmed'), TELL), gates });
  const blocked = await blockedAt(run);
  expect(eventsOf(run, 'run_started')[0]?.data.approvers).toBeUndefined();
  gates.minimum = 'signed';
  expect((await answer(run, blocked, { who: alice }))._unsafeUnwrapErr()).toMatchObject({
    code: 'signature_refused',
    why: { code: 'not_known_at_start' },
  });
});

test('a run that nobody can approve says so when it starts, and a run that needs no signature looks for no keys', async () => {
  const run = made({ people: () => [] });
  const start = await run.start('team.release');
  expect(start.structured['warnings']).toMatchObject([{ code: 'approvers_missing', details: { known: 0, needed: 1 } }]);
  const plain = { ...RELEASE, steps: [RELEASE.steps[1]] };
  const other = made({ file: plain, people: () => assertUnused() });
  expect((await other.start('team.release')).structured['warnings']).toEqual([]);
});

function assertUnused(): never {
  throw new Error('nobody asked for keys');
}

test('four eyes: two people with different keys must sign the same answer', async () => {
  enforces('four_eyes_two_keys');
  const second = sshApprover('alice', 'her other key');
  const run = made({ gates: { isFourEyes: true }, people: () => [alice, second, bob] });
  const blocked = await blockedAt(run);
  (await answer(run, blocked, { who: alice }))._unsafeUnwrap();
  const once = await run.send(blocked);
  expect([kindOf(once), once.text]).toEqual(['blocked', expect.stringContaining('alice has signed')]);
  (await answer(run, once, { who: second, name: 'two' }))._unsafeUnwrap();
  const twice = await run.send(once);
  expect(kindOf(twice)).toBe('blocked');
  (await answer(run, twice, { who: bob, name: 'three' }))._unsafeUnwrap();
  expect(stepOf(await run.send(twice))).toBe('tell');
});

test('a signed answer to a question fills its key, and only with the value that was signed', async () => {
  const run = made({ file: ASK });
  const blocked = await run.send(await run.start('team.ask'), { context: { target: 'production' } });
  (
    await answer(run, blocked, { who: alice, statement: { kind: 'answered', value: 'staging', shown: 'whole' } })
  )._unsafeUnwrap();
  const next = await run.send(blocked, { context: { target: 'production' } });
  expect(stepOf(next)).toBe('tell');
  const [set] = eventsOf(run, 'context_set').slice(-1);
  expect(set?.data).toMatchObject({ context: { target: 'staging' }, source: 'person' });
});

test('where git does not answer, nothing can be signed: a signature must cover the files', async () => {
  let tree: BoundWorkspace = GIT_SILENT;
  const run = made({ tree: () => tree });
  const blocked = await blockedAt(run);
  expect((await answer(run, blocked, { who: alice }))._unsafeUnwrapErr()).toEqual({
    code: 'files_unknown',
    unseen: GIT_SILENT,
  });
  tree = { headSha: 'a'.repeat(40), treeDigest: `sha256:${'b'.repeat(64)}` };
  const again = await run.send(blocked);
  (await answer(run, again, { who: alice }))._unsafeUnwrap();
  const [said] = eventsOf(run, 'attestation_recorded');
  expect(said?.data).toMatchObject({ subject: { workspace: tree } });
  expect(stepOf(await run.send(again))).toBe('tell');
});

test("if a run's repository disappears, nobody can sign, and an earlier signature counts again only when the repository is back", async () => {
  enforces('vanished_repository_is_unknown');
  const SEEN: BoundWorkspace = { headSha: 'a'.repeat(40), treeDigest: `sha256:${'b'.repeat(64)}` };
  let tree: BoundWorkspace | undefined;
  const run = made({ tree: () => tree, observe: IN_REPOSITORY });
  const blocked = await blockedAt(run);
  expect(blocked.text).toContain("Nothing can be signed yet: the run's folder is no longer in a git repository");
  expect((await answer(run, blocked, { who: alice }))._unsafeUnwrapErr()).toEqual({
    code: 'files_unknown',
    unseen: { unseen: 'repository_gone' },
  });
  tree = SEEN;
  const bound = await run.send(blocked);
  (await answer(run, bound, { who: alice }))._unsafeUnwrap();
  tree = undefined;
  const hidden = await run.send(bound);
  expect(kindOf(hidden)).toBe('blocked');
  expect(hidden.text).toContain('Put the repository (the folder ".git") back.');
  tree = SEEN;
  expect(stepOf(await run.send(hidden))).toBe('tell');
});

test.each([
  [
    'files that were signed',
    () => ({ headSha: 'a'.repeat(40), treeDigest: `sha256:${'b'.repeat(64)}` }),
    {},
    undefined,
  ],
  ['no files, where there is no repository', () => undefined, {}, false],
  ['no files, at a step that does not depend on them', () => undefined, { bindsTree: false }, undefined],
])('a verified signature is about %s', async (...[, tree, more, filesCovered]) => {
  enforces('vanished_repository_is_unknown');
  const file = teamFile('team.release', { ...shipStep('signed'), ...more }, TELL);
  const run = made({ file, tree });
  const blocked = await blockedAt(run);
  (await answer(run, blocked, { who: alice }))._unsafeUnwrap();
  const next = await run.send(blocked);
  const { sessionId } = next.structured['session'] as { readonly sessionId: SessionId };
  const session = (await run.services.sessions.load(sessionId))._unsafeUnwrap();
  const how = { known: approversOf(alice), needed: 1 } as const;
  const [verdict] = (await verifyApprovals(run.services, session, how))._unsafeUnwrap();
  expect([verdict?.signers[0]?.name, verdict?.filesCovered]).toEqual(['alice', filesCovered]);
  const shown = { ...verdict, signers: [...(verdict?.signers ?? [])] } as Parameters<typeof gateLines>[0][number];
  expect(JSON.stringify(gateLines([shown])).includes('for no particular files')).toBe(filesCovered === false);
});

test.each([
  ['a page of another site', { origin: 'https://localhost.example:443' }],
  ['a page on another address', { origin: 'http://127.0.0.1:7434' }],
  ['a touch without checking who touches', { flags: 1 }],
  ['no touch', { flags: 4 }],
  ['another site', { site: 'example.org' }],
  ['a registration', { type: 'webauthn.create' }],
  ['a frame in another page', { rest: ',"crossOrigin":true}' }],
])('a signature of a passkey with %s is refused', async (_, tricks) => {
  enforces('console_passkey_signs');
  const eve = passkeyApprover('eve', tricks);
  const run = made({ people: () => [eve] });
  const refused = await answer(run, await blockedAt(run), { who: eve });
  expect(refused._unsafeUnwrapErr()).toMatchObject({ code: 'signature_refused' });
});

test('a passport knows what was signed after the agent asked again without sending anything', async () => {
  enforces('passport');
  const run = made({ tree: () => ({ headSha: 'a'.repeat(40), treeDigest: `sha256:${'b'.repeat(64)}` }) });
  const again = await run.send(await blockedAt(run));
  await answer(run, again, { who: alice });
  const verdict = () => {
    const events = run.events.map((event) => ({ salt: '', event: event as unknown as JsonObject }));
    const said = run.events.findIndex(({ kind }) => kind === 'attestation_recorded');
    return draftVerdict({ events, log: { appends: [] } }, said, sha256).kind;
  };
  expect(verdict()).toBe('draft');
  await run.send(again);
  expect(verdict()).toBe('done');
});
