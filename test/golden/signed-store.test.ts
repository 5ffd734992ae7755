import { createHash } from 'node:crypto';
import { chmodSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { err, ok } from 'neverthrow';
import { afterAll, expect, test } from 'vitest';
import { knownApprovers, signatureTools } from '../../src/adapters/approvers.ts';
import { nodeBundleTools } from '../../src/adapters/bundle.ts';
import { fileStore } from '../../src/adapters/file-store/file-store.ts';
import { parsePublicKeys } from '../../src/adapters/system.ts';
import { gitCommits } from '../../src/adapters/workspace.ts';
import { exportPassport } from '../../src/app/passport.ts';
import { verifyApprovals } from '../../src/app/run/verify-approvals.ts';
import { type ExchangeServices, signaturesPage } from '../../src/app/sessions/console-exchange.ts';
import type { PassportAccess } from '../../src/cli/program.ts';
import { bundleServices, logKeysOf } from '../../src/compose/open-bundles.ts';
import { passportMaking } from '../../src/compose/open-passports.ts';
import { parseApprovers } from '../../src/core/approvals/approver-list.ts';
import { digestHex } from '../../src/core/json/canonical-json.ts';
import type { JsonObject } from '../../src/core/json/json-value.ts';
import { takeAsParsed } from '../../src/core/log/event.ts';
import { signerIn, signingProblem } from '../../src/core/passport/merge-gate.ts';
import { cleanTreeDigest, subjectOf } from '../../src/core/passport/passport.ts';
import { treeOfAttestation } from '../../src/core/passport/summary.ts';
import { verifyPassport } from '../../src/core/passport/verify-passport.ts';
import { type Withholding, withheldEvents, withheldTooWords } from '../../src/core/passport/withhold.ts';
import { runFake } from '../cli/fake-program.ts';
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
    log: { isSigned: true, words: `signed by this WorkRail store from event 0 on, with key ${key}` },
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

test('a signed approval of the first step can be checked without what was observed when the run started', () => {
  enforces('passport', 'passport_withholding');
  const { predicate } = verifyPassport(bytesOf('passport.json'), { keys, tools: nodeBundleTools })._unsafeUnwrap()
    .statement;
  const signing = { approvers, tools: signatureTools, sha256: nodeBundleTools.sha256 };
  const without = (isGone: (event: JsonObject) => boolean) => {
    const events = predicate.events.map((shown) => (shown !== null && isGone(shown.event) ? null : shown));
    return { ...predicate, events };
  };
  const observed = without(({ kind }) => kind === 'observation_recorded');
  expect(observed.events).toContain(null);
  expect([
    signerIn(observed, predicate.approvals[0] ?? expect.fail(), signing)?.name,
    signingProblem(observed, signing),
  ]).toEqual(['alice', undefined]);
  // What came after the start may have been handed in.
  const later = without(({ kind, eventIndex }) => kind === 'decision_trace_appended' && eventIndex === 13);
  expect(signerIn(later, predicate.approvals[0] ?? expect.fail(), signing)).toBe(undefined);
});

test('a signed approval that was rejected before its step was done does not count for the step', () => {
  enforces('passport');
  const { predicate } = verifyPassport(bytesOf('passport.json'), { keys, tools: nodeBundleTools })._unsafeUnwrap()
    .statement;
  const signing = { approvers, tools: signatureTools, sha256: nodeBundleTools.sha256 };
  const alice = predicate.approvals[0] ?? expect.fail();
  const answered = (kind: 'approved' | 'rejected', digest?: string) => {
    const forged = structuredClone(predicate);
    const next = alice.event + 1;
    const copy = structuredClone(forged.events[alice.event]) ?? expect.fail();
    const data = copy.event['data'] as {
      statement: { kind: string };
      subject: { digest: string };
      signature?: unknown;
    };
    data.statement.kind = kind;
    data.subject.digest = digest ?? data.subject.digest;
    delete data.signature;
    forged.events.splice(next, 0, copy);
    const moved = forged.approvals.map((one) => ({ ...one, event: one.event + (one.event >= next ? 1 : 0) }));
    const { signedBy: _, ...unsigned } = alice;
    forged.approvals = [...moved, { ...unsigned, event: next, statement: kind }];
    return signingProblem(forged, signing);
  };
  const ended = { code: 'another_draft', event: alice.event };
  expect([answered('approved'), answered('rejected')]).toEqual([undefined, ended]);
  // The same for another draft of the step: who rejects a later one did not mean the earlier one to be done.
  const other = `sha256:${'0'.repeat(64)}`;
  expect([answered('approved', other), answered('rejected', other)]).toEqual([undefined, ended]);
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
  expect(treeOfAttestation(event as never, { tree }, nodeBundleTools)).not.toBe('subject');
  expect(signerIn(forged, alice, signing)).toBe(undefined);
  expect(signingProblem(forged, signing)).toEqual({ code: 'not_approved', event: alice.event });
});

test('a signed approval counts only for the run and the workflow that the signed node belongs to', () => {
  enforces('passport', 'merge_gate');
  const { predicate } = verifyPassport(bytesOf('passport.json'), { keys, tools: nodeBundleTools })._unsafeUnwrap()
    .statement;
  const signing = { approvers, tools: signatureTools, sha256: nodeBundleTools.sha256 };
  const alice = predicate.approvals[0] ?? expect.fail();
  const [run = expect.fail()] = predicate.runs;
  // Nobody signs in which run an answer stands in the log, nor what that run says about its workflow.
  const elsewhere = { ...alice, runId: 'run_bbbbbbbbbbbbbbbb' as never };
  const other = { ...run, runId: elsewhere.runId };
  const renamed = { ...run, workflowHash: `sha256:${'5'.repeat(64)}` as never };
  const forgeries = [
    { runs: [run, other], answer: elsewhere },
    { runs: [renamed], answer: alice },
    { runs: [run, renamed], answer: alice },
    { runs: [], answer: alice },
  ];
  for (const { runs, answer } of forgeries) {
    const forged = { ...predicate, runs, approvals: [answer, ...predicate.approvals.slice(1)] };
    expect(signerIn(forged, answer, signing)).toBe(undefined);
    expect(signingProblem(forged, signing)).toEqual({ code: 'another_draft', event: alice.event });
  }
});

test('verify names the people of your list, and with --tree wants a signed approval of exactly these files', async () => {
  enforces('passport');
  const { predicate, subject } = verifyPassport(bytesOf('passport.json'), {
    keys,
    tools: nodeBundleTools,
  })._unsafeUnwrap().statement;
  const signing = { approvers, tools: signatureTools, sha256: nodeBundleTools.sha256 };
  const elsewhere = { ...predicate, approvals: predicate.approvals.map((one) => ({ ...one, tree: 'other' as const })) };
  expect(signingProblem(elsewhere, signing)).toBe(undefined);
  expect(signingProblem(elsewhere, { ...signing, isTreeAsked: true })).toEqual({ code: 'other_files_signed' });
  expect(signingProblem(predicate, { ...signing, isTreeAsked: true })).toBe(undefined);
  const { tree } = subjectOf({ subject });
  const renamed = bytesOf('approvers')
    .toString()
    .replace(/^alice /m, 'a.smith ');
  const refs = ['refs/heads/main', 'refs/tags/main'];
  const commits = {
    commitNamed: async (_: string, name: string) =>
      err(name === 'main' ? { code: 'commit_ambiguous', refs } : { code: 'commit_unknown' }),
    commitAt: async () => ({ commit: 'a'.repeat(40), tree }),
  };
  const passports = {
    services: { tools: nodeBundleTools, commits },
    signatureTools,
    readKeys: async () => ok(keys),
    readPassport: async (file: string) => ok(file === 'people' ? Buffer.from(renamed) : bytesOf('passport.json')),
  } as unknown as PassportAccess;
  const argv = ['verify', 'passport.json', '--key', 'key', '--tree', 'HEAD', '--approvers', 'people'];
  const { exitCode, out } = await runFake({ argv, passports });
  // The name in the record is the word of the store.
  expect([exitCode, out]).toEqual([0, expect.stringMatching(/signature of a\.smith \(SHA256:\S+\) checked against/)]);
  expect(out).not.toContain('alice');
  // Git would take the tag.
  const unclear = await runFake({ argv: argv.with(5, 'main'), passports });
  expect([unclear.exitCode, unclear.talk]).toEqual([2, expect.stringContaining('main stands for different commits')]);
});

test('an export knows which signed answers nobody can check with the file', async () => {
  enforces('passport_withholding');
  const [sessionId = expect.fail()] = (await store.sessions.list())._unsafeUnwrap();
  const services = {
    ...store,
    ...bundleServices('1.2.3'),
    ...passportMaking(store, { ...gitCommits, commitAt: async () => undefined }),
  };
  const exported = async (withholding: Withholding) =>
    (await exportPassport(services, { sessionId, ref: undefined, withholding }))._unsafeUnwrap();
  const whole = await exported({ kinds: [], events: [] });
  expect(whole.uncheckable).toEqual([]);
  const { approvals } = whole.statement.predicate;
  const signed = approvals.filter(({ signedBy }) => signedBy !== undefined).map(({ event }) => event);
  expect(signed).toHaveLength(3);
  // Without a commit nobody knows that the digest of an answer covers no other files.
  for (const kind of ['notes', 'workspace'] as const) {
    expect((await exported({ kinds: [kind], events: [] })).uncheckable).toEqual(signed);
  }
  // Whatever is withheld, an answer is named exactly if the check of it fails for that reason.
  const signing = { approvers, tools: signatureTools, sha256 };
  const counts = new Set<number>();
  for (let event = 0; event < whole.statement.predicate.events.length; event++) {
    const { statement, uncheckable } = await exported({ kinds: [], events: [event] });
    const { predicate } = statement;
    const failing = signed.filter((one) => {
      const alone = { ...predicate, approvals: predicate.approvals.filter((answer) => answer.event === one) };
      return signingProblem(alone, signing)?.code === 'approval_withheld';
    });
    expect([event, uncheckable]).toEqual([event, failing]);
    counts.add(failing.length);
  }
  expect(counts.size).toBeGreaterThan(2);
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
    'Withheld too: event 12 (a text of a withheld event is repeated there).',
    'Withheld too: events 8, 9, 14, 17, 18, 23, 26, 27, 31 (a hash of withheld content is there).',
  ]);
});
