import { ok } from 'neverthrow';
import { expect, it } from 'vitest';
import { runFake } from '../../../test/cli/fake-program.ts';
import { KEY, passportAbout, passportOf, randomLog, sourceOf, TOOLS } from '../../../test/passport/random-passports.ts';
import { verifyPassport } from '../../core/passport/verify-passport.ts';
import type { PassportAccess } from '../program.ts';
import { passportOutcome } from './passport.ts';

type Status = 'complete' | 'complete_with_gaps' | 'in_progress' | 'blocked';

/** A passport whose only run ended like this. */
function passportEnding(wanted: Status) {
  for (let seed = 1; seed < 400; seed++) {
    const made = passportOf(sourceOf(randomLog(seed, 5)));
    const { runs } = made.statement.predicate;
    if (runs.length === 1 && runs[0]?.status === wanted) return made;
  }
  return expect.fail(`no history ends ${wanted}`);
}

const wordsOf = (lines: ReturnType<typeof passportOutcome>['lines']) =>
  lines.map((line) => line.map((part) => (typeof part === 'string' ? part : part.text)).join(''));

it('export names the signed answers that nobody can check with the passport', () => {
  const made = { ...passportEnding('complete'), keyid: KEY.keyid, signature: { kind: 'unsigned' as const } };
  const saidOf = (uncheckable: readonly number[]) => {
    const { lines, data } = passportOutcome({ ...made, uncheckable }, 'passport.json');
    return [wordsOf(lines).filter((line) => line.includes('check the signed')), data.uncheckable];
  };
  expect(saidOf([])).toEqual([[], undefined]);
  const [one] = saidOf([18]);
  expect(one).toEqual([
    '! Nobody can check the signed answer in event 18 with this passport: it, or a part of what it covers, is withheld or not recorded. A merge gate that requires signed approvals does not count it. To keep it, withhold less.',
  ]);
  expect(saidOf([18, 25])).toEqual([[expect.stringContaining('answers in events 18, 25 with')], [18, 25]]);
});

it.each([
  ['in_progress', true],
  ['blocked', true],
  ['complete', false],
] as const)('export and verify say of a run that is %s whether it is complete', async (status, isOpen) => {
  const made = passportEnding(status);
  const { predicate } = made.statement;
  const signature = { kind: 'signed' as const, since: 0, keyids: [KEY.keyid] };
  const written = wordsOf(
    passportOutcome({ ...made, uncheckable: [], keyid: KEY.keyid, signature }, 'passport.json').lines,
  );
  const warning = '! The run is not complete. A merge gate counts only complete runs. Finish it, then export again.';
  expect(written.includes(warning)).toBe(isOpen);

  const passports = {
    services: { tools: TOOLS, commits: {} },
    readKeys: async () => ok([KEY.publicKey]),
    readPassport: async () => ok(made.bytes),
  } as unknown as PassportAccess;
  const { exitCode, out } = await runFake({ argv: ['verify', 'passport.json', '--key', 'key'], passports });
  const [first = '', second] = out.split('\n');
  expect(exitCode).toBe(0);
  // The tick is for the signature alone.
  expect(first).toContain(`✓ passport.json  signed by key ${KEY.keyid.slice(0, 4)}`);
  expect(first).toContain(predicate.session.id);
  expect(second === '! The run is not complete.').toBe(isOpen);
  expect(out.includes('not complete')).toBe(isOpen);
});

it.each([
  [
    'another commit, and its check and approval are about other files',
    { seen: '1'.repeat(40), ran: '2'.repeat(40) },
    true,
  ],
  ['another commit, and its check ran on the files', { seen: '1'.repeat(40), said: 'rejected' }, false],
  ['the commit that it is about', { seen: 'f'.repeat(40), ran: '2'.repeat(40) }, false],
])('export and verify warn about a passport whose run last saw %s: %o', async (_, about, isWarned) => {
  const bytes = passportAbout('b'.repeat(40), about);
  const { statement } = verifyPassport(bytes, { keys: [KEY.publicKey], tools: TOOLS })._unsafeUnwrap();
  const signature = { kind: 'signed' as const, since: 0, keyids: [KEY.keyid] };
  const made = { bytes, statement, withheld: new Map(), uncheckable: [], keyid: KEY.keyid, signature };
  const warning =
    '! The run last saw commit 1111111111, and this passport is about ffffffffff. Nothing in it shows that the run was about these files.';
  expect(wordsOf(passportOutcome(made, 'passport.json').lines).includes(warning)).toBe(isWarned);
  const passports = {
    services: { tools: TOOLS, commits: {} },
    readKeys: async () => ok([KEY.publicKey]),
    readPassport: async () => ok(bytes),
  } as unknown as PassportAccess;
  const { exitCode, out } = await runFake({ argv: ['verify', 'passport.json', '--key', 'key'], passports });
  expect([exitCode, out.includes(warning)]).toEqual([0, isWarned]);
});
