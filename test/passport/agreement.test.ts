import { execFile, spawnSync } from 'node:child_process';
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parsePublicKeys } from '../../src/adapters/system.ts';
import { canonicalBytes, ownJsonBytes } from '../../src/core/json/canonical-json.ts';
import {
  leafOf,
  PAYLOAD_TYPE,
  type PassportStatement,
  preAuthEncoding,
  rootOfLeaves,
  subjectOf,
  WITHHELD_KINDS,
} from '../../src/core/passport/passport.ts';
import { endedAnswers } from '../../src/core/passport/summary.ts';
import { type VerifiedPassport, verifyPassport } from '../../src/core/passport/verify-passport.ts';
import { enforces } from '../enforces.ts';
import { type SeededRandom, seededRandom } from '../simulation/seeded-random.ts';
import { drawnSeed, isLong } from '../volume.ts';
import { answeredLog, KEY, OTHER_KEY, passportOf, randomLog, recordsOf, sourceOf, TOOLS } from './random-passports.ts';

/** The numbers that the acceptance asks for. */
const PASSPORTS = isLong ? 10_000 : 300;
const BATCH = 100;
const GOLDEN = join(import.meta.dirname, '../golden/store-signed');
const VERIFIER = join(import.meta.dirname, '../../examples/verify-passport.py');

const canRun = ['python3', 'openssl'].every((name) => {
  const args = name === 'openssl' ? ['version'] : ['--version'];
  return spawnSync(name, args).status === 0;
});
if (!canRun) console.warn('SKIPPED: the independent verifier of passports, because python3 or openssl is missing.');

const folder = mkdtempSync(join(tmpdir(), 'workrail-passports-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.runIf(canRun)(
  `the independent verifier and the program agree on ${PASSPORTS} random passports: good, damaged and withheld`,
  async () => {
    enforces('passport');
    const pem = join(folder, 'key.pem');
    writeFileSync(pem, KEY.publicKey.pem);
    const seed = drawnSeed();
    const accepted = { program: 0, total: 0 };
    const seen = new Set<string>();
    let ended = 0;
    for (let first = 0; first < PASSPORTS; first += BATCH) {
      const made = Array.from({ length: Math.min(BATCH, PASSPORTS - first) }, (_, i) =>
        randomPassport(seed + first + i),
      );
      const files = made.map(({ bytes }, i) => {
        const file = join(folder, `${i}.json`);
        writeFileSync(file, bytes);
        return file;
      });
      const said = await verdictsOf([...files, pem]);
      for (const [i, { bytes, what }] of made.entries()) {
        const verified = verifyPassport(bytes, { keys: [KEY.publicKey], tools: TOOLS });
        const isValid = verified.isOk();
        const since = verified.map(verdictWords).unwrapOr('refused');
        ended += verified.map(({ statement }) => endedAnswers(statement.predicate).size).unwrapOr(0);
        expect([first + i, what, said[i]]).toEqual([first + i, what, since]);
        if (what === 'good') expect(isValid).toBe(true);
        if (what in FORMS) expect([what, isValid]).toEqual([what, false]);
        seen.add(what);
        accepted.program += isValid ? 1 : 0;
        accepted.total += 1;
      }
    }
    expect(seen).toEqual(new Set(['good', ...Object.keys(DAMAGES)]));
    // Both kinds are there in numbers, or agreeing would mean nothing.
    expect(accepted.program / accepted.total).toBeGreaterThan(0.3);
    expect(accepted.program / accepted.total).toBeLessThan(0.7);
    expect(ended).toBeGreaterThan(accepted.total / 100);
  },
  isLong ? 3_600_000 : 120_000,
);

test.runIf(canRun)('the independent verifier accepts the passports that the first signing release wrote', async () => {
  const golden = ['passport.json', 'withheld.json', 'workrail.pem'].map((name) => join(GOLDEN, name));
  const words = [
    'signed\nlog signed from event 0 on',
    `commit ${'f'.repeat(40)}, tree ${'c'.repeat(40)}`,
    'run of team.release (sha256:a82cfbb04ad3e9f0d911bbc63805f3be17044a40dcdc85f820c9338dd7905565): complete',
    'approved via terminal, signature of "alice" not checked, for exactly these files',
    'approved via terminal, signature of "bob" not checked, for exactly these files',
    'approved via console, signature of "carol" not checked, for exactly these files',
  ].join('\n');
  expect(await verdictsOf(golden)).toEqual([words, words]);
});

/** Values of an event, as they are written, that one program reads and another does not. */
const ODD_VALUES: readonly (readonly [text: string, isFine: boolean])[] = [
  ['{"a":[9007199254740992,1e+21,"__proto__"]}', true],
  [`${'['.repeat(250)}1${']'.repeat(250)}`, true],
  [`${'['.repeat(251)}1${']'.repeat(251)}`, false],
  [`${'['.repeat(400)}1${']'.repeat(400)}`, false],
  ['{"__proto__":1}', false],
  ['9007199254740993', false],
  ['"\\ud800"', false],
  ['-0', false],
];

/** A passport that the store signed, in which an event of an append that is hidden has a value, written as it is. */
function withValue(written: string): Uint8Array {
  const source = sourceOf(randomLog(3));
  const { statement } = passportOf(source, { withholding: { kinds: [], events: [1] } });
  const shown = statement.predicate.events[0] ?? expect.fail();
  Object.assign(shown.event['data'] as object, { odd: '@@value' });
  const asWritten = (value: object) => textOf(ownJsonBytes(value)).replace('"@@value"', () => written);
  const leaf = TOOLS.digestOf(Buffer.concat([Buffer.from(shown.salt, 'hex'), Buffer.from(asWritten(shown.event))]));
  statement.predicate.leaves[0] = leaf.slice('sha256:'.length);
  Object.assign(statement.subject.at(-1)?.digest ?? {}, { sha256: rootOfLeaves(statement.predicate.leaves, TOOLS) });
  return signedPayload(Buffer.from(asWritten(statement)));
}

test.runIf(canRun)('both verifiers refuse what one of them could not read, and keys of another kind', async () => {
  enforces('passport');
  const pem = join(folder, 'odd.pem');
  writeFileSync(pem, KEY.publicKey.pem);
  const outcomes = await Promise.all(
    ODD_VALUES.map(async ([written, isFine], i) => {
      const [bytes, file] = [withValue(written), join(folder, `odd-${i}.json`)];
      writeFileSync(file, bytes);
      const isAccepted = verifyPassport(bytes, { keys: [KEY.publicKey], tools: TOOLS }).isOk();
      const [said] = await verdictsOf([file, pem]);
      return [written.slice(0, 40), isFine, isAccepted, said?.startsWith('signed')];
    }),
  );
  expect(outcomes).toEqual(ODD_VALUES.map(([written, isFine]) => [written.slice(0, 40), isFine, isFine, isFine]));
  // Short signatures of other kinds have 64 bytes, too.
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 512 });
  const { statement } = passportOf(sourceOf(randomLog(3)));
  const payload = ownJsonBytes(statement);
  const keyid = createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex');
  const sig = sign('sha256', preAuthEncoding(payload), privateKey).toString('base64');
  const [other, copy] = [join(folder, 'other.pem'), join(folder, 'other.json')];
  writeFileSync(other, publicKey.export({ type: 'spki', format: 'pem' }));
  writeFileSync(copy, sealed(TOOLS.toBase64(payload), { keyid, sig }));
  expect(parsePublicKeys(publicKey.export({ type: 'spki', format: 'pem' }).toString())).toEqual([]);
  expect((await verdictsOf([copy, other])).join()).not.toContain('signed');
});

function verdictsOf(args: readonly string[]): Promise<readonly string[]> {
  return new Promise((resolve) => {
    execFile('python3', [VERIFIER, ...args], { maxBuffer: 1e8 }, (_, output) =>
      resolve(
        // A passport is a line, and its summary is indented below it.
        output
          .trimEnd()
          .split(/\n(?! )/)
          .map((said) => {
            const [head = '', ...summary] = said.split('\n    ');
            const [, verdict = head, log] =
              /^[^:]+: (signed|refused)(?:.* (log (?:not )?signed [^,]*))?/.exec(head) ?? [];
            return [verdict, ...(log === undefined ? [] : [log]), ...summary].join('\n');
          }),
      ),
    );
  });
}

function verdictWords({ signedSince, statement }: VerifiedPassport): string {
  const log = signedSince === null ? 'not signed by this key' : `signed from event ${signedSince} on`;
  const { runs, checks, approvals } = statement.predicate;
  const { commit, tree } = subjectOf(statement);
  const ended = endedAnswers(statement.predicate);
  const about = { subject: 'for exactly these files', other: 'for other files', unknown: 'files not recorded' };
  const place = (one: { tree: keyof typeof about; isOnLine: boolean }) =>
    `${about[one.tree]}${one.isOnLine ? '' : ', on a branch that the run left'}`;
  return [
    'signed',
    `log ${log}`,
    tree === undefined ? 'no commit' : `commit ${commit}, tree ${tree}`,
    ...runs.map((run) => `run of ${run.workflowId} (${run.workflowHash}): ${run.status.replaceAll('_', ' ')}`),
    ...checks.map((check) => `check "${check.checkId}": ${check.grade ?? 'no grade'}, ${place(check)}`),
    ...approvals.map((one) => {
      const by = one.signedBy === undefined ? 'not signed' : `signature of "${one.signedBy.name}" not checked`;
      const end = ended.has(one.event) ? ', ended by a later rejection' : '';
      return `${one.statement} via ${one.via}, ${by}, ${place(one)}${end}`;
    }),
  ].join('\n');
}

let damaged = 0;

type Made = { readonly bytes: Uint8Array; readonly what: string };

function randomPassport(seed: number): Made {
  const random = seededRandom(seed);
  const log = random.chance(0.25) ? answeredLog(random.below(1e9)) : randomLog(seed, 3 + random.below(14));
  const unsigned = random.below(4);
  const records = recordsOf(log, (append) => (append < unsigned ? undefined : random.chance(0.1) ? OTHER_KEY : KEY));
  const source = sourceOf(log, records);
  const withholding = random.chance(0.5)
    ? {
        kinds: WITHHELD_KINDS.filter(() => random.chance(0.25)),
        events: source.events.map(({ eventIndex }) => eventIndex as number).filter(() => random.chance(0.2)),
      }
    : { kinds: [], events: [] };
  const { bytes, statement } = passportOf(source, {
    withholding,
    ...(random.chance(0.2) ? { subject: undefined } : {}),
  });
  if (random.chance(0.5)) return { bytes, what: 'good' };
  // Each in its turn, so that none is left out.
  const [what, damage] = Object.entries(DAMAGES)[damaged++ % Object.keys(DAMAGES).length] ?? expect.fail();
  return { what, bytes: damage({ bytes, statement, random }) };
}

type Damaging = { readonly bytes: Uint8Array; readonly statement: PassportStatement; readonly random: SeededRandom };
type Damage = (good: Damaging) => Uint8Array;

/** Changes a statement and signs it with the key of the store, so that only the rules of the format are left to refuse it. */
const resigned =
  (change: (statement: PassportStatement) => void): Damage =>
  ({ statement }) => {
    const changed = structuredClone(statement);
    change(changed);
    return signedPayload(ownJsonBytes(changed));
  };

function signedPayload(payload: Uint8Array): Uint8Array {
  return sealed(TOOLS.toBase64(payload), { keyid: KEY.keyid, sig: KEY.signBytes(preAuthEncoding(payload)) });
}

function sealed(payload: string, signature: object, more: object = {}): Uint8Array {
  return ownJsonBytes({ payload, payloadType: PAYLOAD_TYPE, signatures: [signature], ...more });
}

const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('utf8');
const envelopeOf = (bytes: Uint8Array) =>
  JSON.parse(textOf(bytes)) as { payload: string; signatures: [{ keyid: string; sig: string }] };

/** Files that say the same in another form. */
const FORMS: { readonly [what: string]: Damage } = {
  'white space': ({ bytes }) => Buffer.from(`${textOf(bytes)}\n`),
  'another order of names': ({ bytes }) =>
    Buffer.from(JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(textOf(bytes)) as object).reverse()))),
  'url base64': ({ bytes }) => {
    const { payload, signatures } = envelopeOf(bytes);
    return sealed(payload, {
      ...signatures[0],
      sig: signatures[0].sig.replaceAll('+', '-').replaceAll('/', '_').replace(/=*$/, ''),
    });
  },
  'two signatures': ({ bytes }) => {
    const { payload, signatures } = envelopeOf(bytes);
    return sealed(payload, signatures[0], { signatures: [signatures[0], signatures[0]] });
  },
  'another field': ({ bytes }) => {
    const { payload, signatures } = envelopeOf(bytes);
    return sealed(payload, signatures[0], { more: 1 });
  },
  'another key': ({ statement }) => {
    const payload = ownJsonBytes(statement);
    return sealed(TOOLS.toBase64(payload), {
      keyid: OTHER_KEY.keyid,
      sig: OTHER_KEY.signBytes(preAuthEncoding(payload)),
    });
  },
  'another key id': ({ bytes }) => {
    const { payload, signatures } = envelopeOf(bytes);
    return sealed(payload, { ...signatures[0], keyid: OTHER_KEY.keyid });
  },
  'a byte order mark': ({ bytes }) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]),
  'a repeated name': ({ bytes }) =>
    Buffer.from(textOf(bytes).replace('"payloadType":', `"payloadType":"${PAYLOAD_TYPE}","payloadType":`)),
  'another spelling of a character': ({ bytes }) => Buffer.from(textOf(bytes).replace('in-toto', '\\u0069n-toto')),
  'loose bits in base64': ({ bytes }) => {
    const { payload, signatures } = envelopeOf(bytes);
    const { sig } = signatures[0];
    // The last character before the padding has bits that decoding drops.
    const loose = ({ A: 'B', Q: 'R', g: 'h', w: 'x' } as { readonly [last: string]: string })[sig.at(-3) ?? ''];
    return sealed(payload, { ...signatures[0], sig: `${sig.slice(0, -3)}${loose}==` });
  },
  'white space in a signed payload': ({ statement }) => signedPayload(Buffer.from(JSON.stringify(statement, null, 1))),
  'another order in a signed payload': ({ statement }) =>
    signedPayload(Buffer.from(JSON.stringify(Object.fromEntries(Object.entries(statement).reverse())))),
};

/** Changes any part of a statement, gives every event the leaf that it has then, and signs it with the key of the store. */
const anyPart =
  (change: (parent: Part, name: string, random: SeededRandom) => void): Damage =>
  ({ bytes, statement, random }) => {
    const changed = structuredClone(statement);
    const { parent, name } = random.pick(partsOf(changed as never));
    change(parent, name, random);
    if (canonicalBytes(changed as never).isErr()) return bytes;
    const { subject, predicate } = changed;
    const isWhole = [predicate?.events, predicate?.leaves, subject].every(Array.isArray);
    for (const [i, item] of isWhole ? predicate.events.entries() : []) {
      const isEvent = i < predicate.leaves.length && typeof item?.salt === 'string' && typeof item.event === 'object';
      if (isEvent) predicate.leaves[i] = leafOf(Buffer.from(item.salt, 'hex'), item.event, TOOLS);
    }
    const isHashed = isWhole && predicate.leaves.every((leaf) => typeof leaf === 'string');
    const root = subject?.at?.(-1)?.digest;
    if (isHashed && typeof root === 'object' && root !== null) {
      Object.assign(root, { sha256: rootOfLeaves(predicate.leaves, TOOLS) });
    }
    return canonicalBytes(changed as never)
      .map(signedPayload)
      .unwrapOr(bytes);
  };

type Part = { [name: string]: unknown };

function partsOf(value: Part): readonly { readonly parent: Part; readonly name: string }[] {
  return Object.entries(value).flatMap(([name, part]) => [
    { parent: value, name },
    ...(typeof part === 'object' && part !== null ? partsOf(part as Part) : []),
  ]);
}

const OTHER_VALUES = [null, true, false, 0, 1, -1, 1.5, 1e21, '', 'x', '0'.repeat(64), [], {}, [null], { a: 1 }];

const ANY_PART: { readonly [what: string]: Damage } = {
  'a part missing, signed': anyPart((parent, name) => {
    if (Array.isArray(parent)) parent.splice(Number(name), 1);
    else delete parent[name];
  }),
  'a part more, signed': anyPart((parent, name, random) => {
    if (Array.isArray(parent)) parent.splice(Number(name), 0, structuredClone(parent[Number(name)]));
    else parent['more'] = random.pick(OTHER_VALUES);
  }),
  'a part replaced, signed': anyPart((parent, name, random) => {
    parent[name] = random.pick(OTHER_VALUES);
  }),
  'a number changed, signed': anyPart((parent, name) => {
    const value = parent[name];
    // A program that takes true for 1 and false for 0 must not pass either.
    if (typeof value === 'number') parent[name] = value < 2 ? value === 1 : value + 1;
    else parent[name] = `${value}x`;
  }),
};

const DAMAGES: { readonly [what: string]: Damage } = {
  ...FORMS,
  ...ANY_PART,
  flip: ({ bytes, random }) => {
    const flipped = Uint8Array.from(bytes);
    const at = random.below(bytes.length);
    flipped[at] = (flipped[at] as number) ^ (1 + random.below(255));
    return flipped;
  },
  'cut off': ({ bytes, random }) => bytes.subarray(0, random.below(bytes.length)),
  'another spelling of base64': ({ bytes }) => {
    const { payload, signatures } = envelopeOf(bytes);
    return sealed(payload.replace(/=*$/, ''), signatures[0]);
  },
  'changed leaf, signed': resigned(({ predicate }) => {
    predicate.leaves[0] = '0'.repeat(64);
  }),
  'withheld not named, signed': resigned(({ predicate }) => {
    predicate.withheld.events = predicate.withheld.events.length === 0 ? [0] : [];
  }),
  'wrong head, signed': resigned(({ predicate }) => {
    predicate.log.head = `sha256:${'1'.repeat(64)}`;
  }),
  'wrong signedSince, signed': resigned(({ predicate: { log } }) => {
    log.signedSince = log.signedSince === null ? 0 : null;
  }),
  'signed by no key, signed': resigned(({ predicate: { log } }) => {
    log.keyids = [];
    if (log.signedSince === null) log.signedSince = 0;
  }),
  'hidden without need, signed': resigned(({ predicate: { log } }) => {
    const [first] = log.appends;
    if (first === undefined || !('record' in first)) log.appends.shift();
    else {
      const { firstEventIndex, lastEventIndex, chain } = first.record;
      log.appends[0] = { firstEventIndex, lastEventIndex, chain };
    }
  }),
  'missing append, signed': resigned(({ predicate }) => predicate.log.appends.pop()),
  'another workflow, signed': resigned(({ predicate }) => {
    const [run] = predicate.runs;
    if (run === undefined || predicate.events[run.event] === null) predicate.v = 2 as never;
    else run.workflowHash = `sha256:${'2'.repeat(64)}` as never;
  }),
  'another run, signed': resigned(({ predicate: { checks } }) => {
    for (const check of checks) check.ran = Math.max(0, (check.ran ?? check.event) - 1 - (check.event % 7));
  }),
  'invented approval, signed': resigned(({ predicate }) => {
    const event = predicate.events.findIndex((item) => item !== null);
    const answer = { statement: 'approved', via: 'console', tree: 'unknown', isOnLine: true } as const;
    if (event === -1) predicate.v = 2 as never;
    predicate.approvals.unshift({ event: Math.max(0, event), runId: 'run_0000000000000000' as never, ...answer });
  }),
  'another tree, signed': resigned(({ subject }) => {
    const [, tree] = subject;
    if (tree !== undefined && 'gitTree' in tree.digest) tree.digest.gitTree = '7'.repeat(39);
    else subject.pop();
  }),
  'foreign session, signed': resigned(({ predicate }) => {
    predicate.session.id = 'sess_zzzzzzzzzzzzzzzz' as never;
  }),
};
