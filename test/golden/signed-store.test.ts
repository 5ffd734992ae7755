import { createHash } from 'node:crypto';
import { chmodSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { knownApprovers, signatureTools } from '../../src/adapters/approvers.ts';
import { nodeBundleTools } from '../../src/adapters/bundle.ts';
import { fileStore } from '../../src/adapters/file-store/file-store.ts';
import { parsePublicKeys } from '../../src/adapters/system.ts';
import { verifyApprovals } from '../../src/app/run/verify-approvals.ts';
import { type ExchangeServices, signaturesPage } from '../../src/app/sessions/console-exchange.ts';
import { logKeysOf } from '../../src/compose/open-bundles.ts';
import { parseApprovers } from '../../src/core/approvals/approver-list.ts';
import { digestHex } from '../../src/core/json/canonical-json.ts';
import { takeAsParsed } from '../../src/core/log/event.ts';
import { signerIn, signingProblem } from '../../src/core/passport/merge-gate.ts';
import { cleanTreeDigest } from '../../src/core/passport/passport.ts';
import { treeOfAttestation } from '../../src/core/passport/summary.ts';
import { verifyPassport } from '../../src/core/passport/verify-passport.ts';
import { withheldEvents, withheldTooWords } from '../../src/core/passport/withhold.ts';
import { enforces } from '../enforces.ts';
import { memoryServices } from '../examples/memory-services.ts';
import { sha256 } from '../examples/sha256.ts';

/**
 * What the release that introduced signatures wrote: a session whose appends are signed and whose three gates were
 * answered with an SSH key, a key in hardware and a passkey, and two passports of it. It is never rewritten.
 */
const GOLDEN = join(import.meta.dirname, 'store-signed');
const bytesOf = (name: string) => readFileSync(join(GOLDEN, name));
const keys = parsePublicKeys(bytesOf('workrail.pem').toString());
const { approvers } = parseApprovers(bytesOf('approvers').toString(), signatureTools.hash);
const root = mkdtempSync(join(tmpdir(), 'workrail-store-signed-'));
cpSync(join(GOLDEN, 'data'), root, { recursive: true });
// Git keeps no permissions, and a store that others may read is refused.
for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
  chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o700 : 0o600);
}
afterAll(() => rmSync(root, { recursive: true, force: true }));
const store = fileStore(root, sha256);

test('the golden files of signed sessions were not edited', () => {
  enforces('schema_changes_additive_within_version');
  const names = readdirSync(GOLDEN, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(GOLDEN.length + 1))
    .sort();
  const all = createHash('sha256');
  for (const name of names) all.update(`${name} ${createHash('sha256').update(bytesOf(name)).digest('hex')}\n`);
  expect([names.length, all.digest('hex')]).toMatchInlineSnapshot(`
    [
      21,
      "6e12f7b3e5c61d60ab867547765f3a3a90e8118b515b6c39084b8196be897a75",
    ]
  `);
});

test('a session that the first signing release wrote is still signed from its first event, by the key of that store', async () => {
  enforces('log_signatures', 'schema_changes_additive_within_version');
  const [sessionId = expect.fail()] = (await store.sessions.list())._unsafeUnwrap();
  const { head } = verifyPassport(bytesOf('passport.json'), { keys, tools: nodeBundleTools })._unsafeUnwrap().statement
    .predicate.log;
  const given = { keys, head: digestHex(head ?? expect.fail()) };
  for (const against of [given, { head: given.head }]) {
    const audit = (await store.audit.audit(sessionId, against))._unsafeUnwrap();
    expect(audit).toMatchObject({
      health: { kind: 'healthy' },
      signature: { kind: 'signed', since: 0, keyids: [keys[0]?.keyid] },
      knownUntil: 31,
      findings: [],
    });
  }
});

test('approvals that the first signing release stored are still those of an SSH key, a key in hardware and a passkey', async () => {
  enforces('signed_gate_needs_approver');
  const [sessionId = expect.fail()] = (await store.sessions.list())._unsafeUnwrap();
  const session = (await store.sessions.load(sessionId))._unsafeUnwrap();
  const known = knownApprovers(approvers);
  const services = { ...memoryServices(), ...store };
  expect((await verifyApprovals(services, session, { known, needed: 1 }))._unsafeUnwrap()).toMatchObject([
    { stepId: 'build', signers: [{ name: 'alice' }] },
    { stepId: 'ship', signers: [{ name: 'bob' }] },
    { stepId: 'announce', signers: [{ name: 'carol' }] },
  ]);
  const others = { known: knownApprovers(approvers.slice(1)), needed: 1 } as const;
  const [first] = (await verifyApprovals(services, session, others))._unsafeUnwrap();
  expect(first?.problem).toBe('approver_unknown');
});

test('the console shows of a session of the first signing release since when and by which key it is signed, and by whom', async () => {
  enforces('console_shows_signatures');
  const [sessionId = expect.fail()] = (await store.sessions.list())._unsafeUnwrap();
  const means = { tools: nodeBundleTools, yieldNow: async () => undefined, homes: [], logKeys: logKeysOf(store) };
  const shown = await signaturesPage({ ...store, ...means } as unknown as ExchangeServices, sessionId);
  const key = keys[0]?.keyid.slice(0, 16);
  const answer = (step: string, words: string) => ({
    words: expect.stringMatching(`^${step}: approved ${words} SHA256:`),
    isSigned: true,
  });
  expect(shown._unsafeUnwrap()).toMatchObject({
    log: { isSigned: true, words: `signed by this store from event 0 on, with key ${key}` },
    head: '6d289cf1eeb448335c5bc1ca67ea48bce84a521f31d86535ccf0a1da06b0f1d3',
    answers: [
      answer('Build', 'at a terminal, signed as alice with the SSH key'),
      answer('Ship', 'at a terminal, signed as bob with the security key'),
      answer('Announce', 'in the console, signed as carol with the passkey'),
    ],
  });
});

test.each([
  ['passport.json', []],
  ['withheld.json', ['notes']],
] as const)('%s of the first signing release still verifies, with its approvals', (name, kinds) => {
  enforces('passport', 'schema_changes_additive_within_version');
  const { predicate, subject } = verifyPassport(bytesOf(name), { keys, tools: nodeBundleTools })._unsafeUnwrap()
    .statement;
  expect(subject.map(({ name: what }) => what)).toEqual(['commit', 'tree', predicate.session.id]);
  expect([predicate.log.signedSince, predicate.withheld.kinds]).toEqual([0, kinds]);
  expect(predicate.runs).toMatchObject([{ workflowId: 'team.release', status: 'complete' }]);
  expect(predicate.approvals.map(({ signedBy, tree }) => [signedBy?.name, tree])).toEqual([
    ['alice', 'subject'],
    ['bob', 'subject'],
    ['carol', 'subject'],
  ]);
  const signers = predicate.approvals.map(
    (one) => signerIn(predicate, one, { approvers, tools: signatureTools, sha256: nodeBundleTools.sha256 })?.name,
  );
  // A signature whose answer is withheld cannot be checked, and counts for nobody.
  expect(signers).toEqual(kinds.length === 0 ? ['alice', 'bob', 'carol'] : [undefined, undefined, undefined]);
});

test('a signed approval in a passport counts only for what its events show that was handed in', () => {
  enforces('passport');
  const { predicate } = verifyPassport(bytesOf('passport.json'), { keys, tools: nodeBundleTools })._unsafeUnwrap()
    .statement;
  const signing = { approvers, tools: signatureTools, sha256: nodeBundleTools.sha256 };
  expect(signingProblem(predicate, signing)).toBe(undefined);
  // A list of approvers is for somebody who wants an approval: none at all does not pass.
  expect(signingProblem({ ...predicate, approvals: [] }, signing)).toEqual({ code: 'nobody_signed' });
  const alice = predicate.approvals[0] ?? expect.fail();
  const changed = (isFit: (event: string) => boolean, isWithheld = false) => {
    const events = predicate.events.map((shown) => {
      if (shown?.event['kind'] !== 'node_output_appended' || !isFit(JSON.stringify(shown.event))) return shown;
      const payload = { payloadKind: 'notes', notesMarkdown: 'All 240 tests passed.' };
      const { event } = shown;
      return isWithheld ? null : { ...shown, event: { ...event, data: { ...(event['data'] as object), payload } } };
    });
    return { ...predicate, events } as typeof predicate;
  };
  const isFirst = (event: string) => event.includes('Did step 1.');
  // Both the attempt and what was done with it, then only what was done: alice signed neither.
  const forgeries = [changed(isFirst), changed((event) => isFirst(event) && event.includes('"eventIndex":12,'))];
  for (const forged of forgeries) {
    expect(signerIn(forged, alice, signing)).toBe(undefined);
    expect(signingProblem(forged, signing)).toEqual({ code: 'another_draft', event: alice.event });
  }
  const hidden = changed(isFirst, true);
  expect([signerIn(hidden, alice, signing), signingProblem(hidden, signing)?.code]).toEqual([
    undefined,
    'approval_withheld',
  ]);
});

test('a signed approval is about the files that were signed, whatever is written beside them', () => {
  enforces('passport');
  const { predicate } = verifyPassport(bytesOf('passport.json'), { keys, tools: nodeBundleTools })._unsafeUnwrap()
    .statement;
  const signing = { approvers, tools: signatureTools, sha256: nodeBundleTools.sha256 };
  const alice = predicate.approvals[0] ?? expect.fail();
  expect(signerIn(predicate, alice, signing)?.name).toBe(alice.signedBy?.name);
  const tree = 'a'.repeat(40);
  const forged = structuredClone(predicate);
  const event = forged.events[alice.event]?.event ?? expect.fail();
  const { statement } = event['data'] as { statement: Record<string, unknown> };
  statement['treeDigest'] = cleanTreeDigest(tree, nodeBundleTools);
  expect(treeOfAttestation(event as never, tree, nodeBundleTools)).not.toBe('subject');
  expect(signerIn(forged, alice, signing)).toBe(undefined);
  expect(signingProblem(forged, signing)).toEqual({ code: 'not_approved', event: alice.event });
});

test('withholding one note of a stored session by number withholds the same note at another step too', () => {
  enforces('passport_withholding');
  const { predicate } = verifyPassport(bytesOf('passport.json'), { keys, tools: nodeBundleTools })._unsafeUnwrap()
    .statement;
  const events = predicate.events.map((item) => takeAsParsed(item?.event ?? expect.fail()));
  const withheld = withheldEvents(
    { events, snapshots: new Map(), contents: new Map() },
    { kinds: [], events: [7] },
    { subject: undefined, sha256 },
  );
  expect([withheld.get(7), withheld.get(12)]).toEqual(['asked', 'repeats']);
  expect(withheldTooWords(withheld)).toEqual([
    'Withheld too, because they repeat a text of a withheld event: 12.',
    'Withheld too, because they have a hash of withheld content: 8, 9, 14, 17, 18, 23, 26, 27, 31.',
  ]);
});
