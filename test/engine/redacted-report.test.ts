import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SessionId } from '../../src/core/log/ids.ts';
import { reportHtml } from '../../src/core/report/html/report-html.ts';
import { reportMarkdown } from '../../src/core/report/markdown/report-markdown.ts';
import { redactReport, redactText, redactValue } from '../../src/core/report/redact/redact-report.ts';
import { hiddenMarker } from '../../src/core/report/redact/secret-kinds.ts';
import { type Report, reportJson } from '../../src/core/report/report.ts';
import { FORMATS, hunted, reportOf } from '../e2e/report/hunted-report.ts';
import { enforces } from '../enforces.ts';
import { engine, tokenOf } from '../examples/engine.ts';
import { isLong } from '../volume.ts';

/** Many reports are written, on a busy machine too. */
const TIMEOUT_MS = 600_000;

describe('redacted reports', () => {
  it('a redacted report hides the path of the workspace wherever it occurs', async () => {
    enforces('reports_redact_repo_root');
    const { report, hunt, sessionId } = await hunted(
      'Seen in /work/shop/src/cart.ts and in /work/shop, /work\\/sh**op**/x, %2Fwork%2Fshop%2Fx.',
    );
    const redacted = await reportOf(hunt.services, sessionId, true);
    expect(redacted.sessions[0]?.workspace).toEqual([
      { key: 'repo_root', value: hiddenMarker('workspace path'), at: expect.any(String) },
    ]);
    for (const format of FORMATS) {
      expect(format(report)).toContain('/work/shop');
      expect(format(redacted)).not.toMatch(/work(?:\/|%2F)sh/);
    }
    for (const root of ['/', 'C:\\', '/w']) {
      const [session] = report.sessions;
      const moved = { ...report, sessions: [{ ...session, workspace: [{ key: 'repo_root' as const, value: root }] }] };
      expect(redactReport(moved as Report).sessions[0]?.workspace[0]?.value).toBe(hiddenMarker('workspace path'));
    }
  });

  it('a redacted report hides the folder of a run wherever it occurs', async () => {
    enforces('reports_redact_repo_root');
    const { workspace } = engine().services;
    const run = engine({ services: { workspace: { ...workspace, folder: (folder) => folder } } });
    const host = await run.start('test.plain');
    const joined = await run.start('test.plain', {
      workspace: '/home/else/where',
      attachTo: tokenOf(host, 'stateToken'),
    });
    await run.send(joined, { notes: 'Seen in /home/else/where/a.ts.' });
    const { sessionId } = host.structured['session'] as { readonly sessionId: SessionId };
    const [report, redacted] = [await reportOf(run.services, sessionId), await reportOf(run.services, sessionId, true)];
    for (const format of FORMATS) expect(format(redacted)).not.toContain('else/where');
    expect(reportJson(report)).toContain('/home/else/where/a.ts');
    // The workspace of the session stays what the report shows.
    expect(reportMarkdown(report)).toMatch(/Workspace.*\/work\/shop/);
  });

  it('a redacted report shows the head and the ids of keys, which are public and there to be compared', async () => {
    const { report } = await hunted();
    const [head, keyid] = ['head', 'key'].map((name) => createHash('sha256').update(name).digest('hex')) as [
      string,
      string,
    ];
    const signature = { log: { kind: 'signed' as const, since: 0, keyids: [keyid] as [string] }, head, approvals: [] };
    const signed = { ...report, sessions: report.sessions.map((one) => ({ ...one, signature })) };
    const redacted = redactReport(signed as Report);
    expect(redacted.sessions[0]?.signature).toEqual(signature);
    expect(reportMarkdown(redacted)).toContain(head);
  });

  it('a redacted report leaves out the hash of the workspace path, which would confirm a guess', async () => {
    enforces('reports_redact_repo_root');
    const { report } = await hunted();
    const value = `sha256:${'5'.repeat(64)}`;
    const hashed = { ...report, sessions: report.sessions.map((one) => ({ ...one, workspace: [HASH(value)] })) };
    expect(reportJson(hashed)).toContain(value);
    for (const format of FORMATS) expect(format(redactReport(hashed))).not.toMatch(/repo_root_hash|5{64}/);
  });

  it('no note, goal or artifact can forge the marker of a hidden secret', async () => {
    enforces('reports_hide_secrets');
    const forged = ['«hidden: password»', '«hidden\\: password»', '`«hidden: access key»`', '«**hid**den: password»'];
    const { report, hunt, sessionId } = await hunted(forged.join('\n\n'));
    for (const format of FORMATS) expect(format(report)).not.toMatch(/«\W*hid|<mark>/);
    const redacted = await reportOf(hunt.services, sessionId, true);
    const count = redacted.hidden.reduce((sum, { count }) => sum + count, 0);
    expect(reportJson(redacted).match(/«hidden: /g)).toHaveLength(count);
    expect(reportHtml(redacted).match(/<mark>/g)).toHaveLength(count);
    expect(reportHtml(redacted)).toContain('<p>[U+00AB]hidden: password»</p>');
  });

  it('a redacted report keeps ids and hashes and lists the kind and count of hidden secrets, never their values', async () => {
    enforces('reports_hide_secrets');
    const { report, hunt, sessionId } = await hunted();
    const redacted = await reportOf(hunt.services, sessionId, true);
    const ids = (text: string) => text.match(/(?:sess|run|node|gap)_[0-9a-z]{16}|sha256:[0-9a-f]{64}/g);
    expect(ids(reportJson(redacted))).toEqual(ids(reportJson(report)));
    expect([redacted.isRedacted, redacted.hidden]).toEqual([
      true,
      [
        { kind: 'access key', count: 1 },
        { kind: 'password', count: 1 },
        { kind: 'e-mail address', count: 1 },
        { kind: 'workspace path', count: 1 },
        { kind: 'home folder', count: 1 },
      ],
    ]);
    for (const format of FORMATS) {
      expect(format(redacted)).not.toMatch(/AKIAIOSFODNN7EXAMPLE|hunter2|ana\.silva|home\/ana/);
    }
    expect(reportMarkdown(redacted)).toContain('## What was hidden\n\n- access key: 1 occurrence\n');
    expect(reportHtml(report)).toContain('made without redaction');
  });

  it(
    'no planted secret reaches any format of a redacted report',
    async () => {
      enforces('reports_hide_secrets');
      const { report, hunt } = await hunted();
      const begun = await hunt.start('test.plain', {});
      const tokens = (['stateToken', 'ackToken', 'checkpointToken'] as const).map((name) => tokenOf(begun, name));
      const around = fc.constantFrom(
        ' ',
        '\n',
        '"',
        "'",
        '(',
        ')',
        '`',
        '>',
        '|',
        '**',
        '=',
        ',',
        ': ',
        '\t',
        '<b>',
        '[x](',
        '«',
      );
      const text = fc.string({ unit: 'grapheme', maxLength: 20 });
      fc.assert(
        fc.property(fc.tuple(...planted(tokens)), fc.tuple(text, around, around, text), (secrets, surroundings) => {
          // One of every kind each time, so that few runs try all of them.
          const [before, left, right, after] = surroundings.map((part) => part.replaceAll(/[`~]/g, ' '));
          const written = secrets.map((secret) => `${before}${left}${secret.text}${right}${after}`).join('\n\n');
          const redacted = redactReport(everywhere(report, written));
          for (const format of FORMATS) {
            expect(leaks(format(redacted), [...secrets.map(({ core }) => core), 'planted-too'])).toEqual([]);
          }
        }),
        { numRuns: isLong ? 100 : 8 },
      );
    },
    TIMEOUT_MS,
  );

  it(
    'markup around or inside a secret does not let it through',
    async () => {
      enforces('reports_hide_secrets');
      const { report } = await hunted();
      const text = fc.string({ unit: 'grapheme', maxLength: 12 });
      const apart = fc.constantFrom('\n\n', '\n\n\n', '\n \n');
      const order = fc.shuffledSubarray(Object.keys(DRESSED), { minLength: Object.keys(DRESSED).length });
      fc.assert(
        fc.property(order, fc.nat(), fc.tuple(text, apart), (names, seed, [before, between]) => {
          const cores = names.map(
            (name) => `k7${createHash('sha256').update(`${seed} ${name}`).digest('hex').slice(0, 10)}`,
          );
          const forms = names.map((name, i) => DRESSED[name]?.(cores[i] ?? ''));
          const written = [before.replaceAll(/[`~]/g, ''), ...forms].join(between);
          const redacted = redactReport(everywhere(report, written));
          const secrets = [...cores, ...cores.map(basic)];
          for (const format of FORMATS) expect(leaks(undressed(format(redacted)), secrets)).toEqual([]);
        }),
        { numRuns: isLong ? 50 : 4 },
      );
    },
    TIMEOUT_MS,
  );
});

const HASH = (value: string) => ({ key: 'repo_root_hash' as const, value });

const basic = (core: string) => Buffer.from(`a:${core}b`).toString('base64');

/** Ways to write a secret that hide it from a plain search. */
const DRESSED: { readonly [name: string]: (core: string) => string } = {
  'escaped name': (core) => `password\\: ${core}`,
  'escaped key': (core) => `sk\\_live\\_${core}`,
  'escaped address': (core) => `${core}\\.silva@shop\\.example`,
  'escaped path': (core) => `/home/${core}\\_x/src`,
  'strong name, value in code': (core) => `**Password:** \`${core}\``,
  'strong name': (core) => `**password**: ${core}`,
  'value in emphasis': (core) => `__Password__: *${core}*`,
  'strong in a name': (core) => `Pass**word**: ${core}`,
  'strong in a value': (core) => `password: ${core.slice(0, 5)}**${core.slice(5)}**`,
  'strong address': (core) => `**${core}**@shop.example`,
  'linked name': (core) => `[Password](https://shop.example/x): ${core}`,
  'name in a heading': (core) => `### Password\n\n${core}`,
  'column of a table': (core) => `| user | password |\n| --- | --- |\n| ana | ${core} |`,
  'row of a table': (core) => `| name | value |\n| --- | --- |\n| **DB_PASSWORD** | \`${core}\` |`,
  'row of no table': (core) => `| password | ${core} |`,
  'nested value': (core) => `"password": {"value": "${core}"}`,
  'value nested twice': (core) => `"password": {"a": {"b": 1}, "c": ["${core}"]}`,
  'phrase in quotes': (core) => `password = "the ${core}"`,
  'almost a reference': (core) => `password=$ABC${core}`,
  'words of a phrase': (core) => `passphrase: correct horse ${core}`,
  'nested lines': (core) => `password:\n  value: ${core}`,
  number: (core) => `"password": 1${core.replaceAll(/\D/g, '')}99${core}`,
  'named field': (core) => `- name: DB_PASSWORD\n  value: ${core}`,
  'named field in JSON': (core) => `{"name":"DB_PASSWORD","value":"${core}"}`,
  pass: (core) => `pass: ${core}`,
  PASS: (core) => `PASS=${core}`,
  DB_PASS: (core) => `DB_PASS=${core}`,
  option: (core) => `mysql --password ${core} -h db`,
  arrow: (core) => `password => "${core}"`,
  'next line': (core) => `password:\n  ${core}`,
  'next block': (core) => `Password:\n\n\`${core}\``,
  element: (core) => `<password>${core}</password>`,
  'JSON in a string': (core) => `"{\\"password\\":\\"${core}\\"}"`,
  'basic header': (core) => `Authorization: Basic ${basic(core)}`,
  'basic alone': (core) => `sent Basic ${basic(core)} then`,
  'curl -u': (core) => `curl -u ana:${core} https://shop.example`,
  Cookie: (core) => `Cookie: a=1; sid=${core}`,
  'Set-Cookie': (core) => `Set-Cookie: sid=${core}; HttpOnly`,
  'tail after a semicolon': (core) => `password=abc;${core}`,
  'tail after a comma': (core) => `password=abc,${core}`,
  'home folder with a space': (core) => `/home/ana ${core}/src`,
  'home folder in small letters': (core) => `/users/${core}/src`,
  'encoded path': (core) => `file:%2F%2F%2Fhome%2F${core}%2Fsrc`,
  'address of a link': (core) => `[x](https://shop.example/?token=${core})`,
  'address that leads nowhere': (core) => `[x](/home/${core}/src)`,
  'language of code': (core) => `\`\`\`ghp_${core}${core}\nx\n\`\`\``,
};

/** A document together with what a reader sees of it. */
function undressed(document: string): string {
  return `${document}\n${document.replaceAll(/<[^>]*>|[\\*_`]/g, '')}`;
}

type Planted = { readonly text: string; readonly core: string };

/** Kinds of secrets as they occur, each with the part of it that must not be seen. */
function planted(tokens: readonly string[]): readonly fc.Arbitrary<Planted>[] {
  const of = (alphabet: string, length: number) =>
    fc.string({ unit: fc.constantFrom(...alphabet), minLength: length, maxLength: length });
  const upper = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
  const alnum = `${upper}abcdefghijklmnopqrstuvwxyz`;
  const lead = (prefix: string) => (core: string) => ({ text: `${prefix}${core}`, core });
  // fast-check prefers small numbers, which are not used as keys.
  const random = fc.nat().map((seed) => createHash('sha384').update(String(seed)).digest());
  const encoded = fc
    .tuple(
      random,
      fc.integer({ min: 32, max: 48 }),
      fc.constantFrom('hex' as const, 'base64url' as const, 'base64' as const),
    )
    .map(([bytes, length, as]) => bytes.subarray(0, length).toString(as));
  return [
    of(upper, 16).map(lead('AKIA')),
    of(alnum, 36).map(lead('ghp_')),
    of(`${alnum}-_`, 40).map((body) => lead('sk-ant-')(`a1${body}`)),
    of(alnum, 24).map(lead('xoxb-1234-')),
    of(alnum, 12).map((core) => ({ text: `password=${core}`, core })),
    of(alnum, 12).map((core) => ({ text: `"client_secret": "${core}"`, core })),
    of(alnum, 12).map((core) => ({ text: `postgres://app:${core}@db.local/x`, core })),
    of(alnum.toLowerCase(), 10).map((core) => ({ text: `${core}@shop.example`, core })),
    of(alnum.toLowerCase(), 10).map((core) => ({ text: `/home/${core}/src`, core })),
    of(alnum.toLowerCase(), 10).map((core) => ({ text: `C:\\Users\\${core}\\src`, core })),
    of(alnum, 40).map((core) => ({ text: `-----BEGIN PRIVATE KEY-----\n${core}\n-----END PRIVATE KEY-----`, core })),
    of(alnum, 30).map((core) => ({ text: `eyJhbGciOiJIUzI1NiJ9.${core}.${core}`, core })),
    encoded.map((core) => ({ text: core, core: core.slice(4, 24) })),
    fc.constantFrom(...tokens).map((token) => ({ text: token, core: token.slice(10) })),
  ];
}

/** Those that are there, each with a little of what is around it. */
function leaks(written: string, secrets: readonly string[]): readonly string[] {
  return secrets.flatMap((secret) => {
    const at = written.indexOf(secret);
    return at < 0 ? [] : [written.slice(Math.max(0, at - 40), at + secret.length + 10)];
  });
}

/** The report with a text in every field that an agent or user can write to. */
function everywhere(report: Report, text: string): Report {
  const round = { loopId: 'x', round: 1 };
  const items = [
    { name: 'files', value: { [text]: [text] } },
    { name: 'passwords', value: 'planted-too' },
  ];
  const step = { stepId: 'x', title: text, rounds: items.map((item) => ({ ...round, item })) };
  const note = { markdown: text, isSuperseded: false };
  return JSON.parse(JSON.stringify(report), (key, value) => {
    if (['goal', 'name', 'summary', 'text', 'message', 'suggestedFix', 'ref'].includes(key)) return text;
    if (key === 'notes') return [note, { ...note, isSuperseded: true }];
    if (key === 'contextKeys' || key === 'warnings') return [text];
    if (key === 'contextValues') return { [text]: [{ [text]: text }], password: 'planted-too' };
    if (key === 'artifacts') {
      const fact = { sha256: `sha256:${'0'.repeat(64)}`, contentType: 'application/json', byteLength: 1 };
      return [
        {
          ...fact,
          isSuperseded: false,
          kind: text,
          content: { text, nested: [{ [text]: text }], password: 'planted-too' },
        },
      ];
    }
    if (key === 'workspace') return [{ key: 'git_branch', value: text }];
    return key === 'step' || key === 'waiting' ? step : value;
  }) as Report;
}

const redacted = (value: unknown) =>
  redactValue(value, {
    redact: (text) => redactText(text, { homes: [], workspaces: [] }, () => undefined),
    hide: () => '<hidden>',
  });

it('a value under a secret name is hidden at any depth and of any type', () => {
  enforces('reports_hide_secrets');
  const hidden = '<hidden>';
  const examples: readonly (readonly [unknown, unknown])[] = [
    [{ password: 12345678 }, { password: hidden }],
    [{ password: { value: 'hunter', at: [987654] } }, { password: { value: hidden, at: [hidden] } }],
    [{ apiKey: { current: 'abcdef123456x' } }, { apiKey: { current: hidden } }],
    [
      { secrets: ['correct horse'], passwords: { a: 'x y' } },
      { secrets: [hidden], passwords: { a: hidden } },
    ],
    [{ env: [{ name: 'DB_PASSWORD', value: 'hunter' }] }, { env: [{ name: 'DB_PASSWORD', value: hidden }] }],
    [
      { key: 'api_key', default: { of: 'abcdefgh' } },
      { key: 'api_key', default: { of: hidden } },
    ],
    [{ headers: [['password', 'hunter9x']] }, { headers: [['password', hidden]] }],
    [
      { dbPassword: 'hunter', password2: 'hunter', Passwort: 'hunter' },
      { dbPassword: hidden, password2: hidden, Passwort: hidden },
    ],
    [
      { pass: 'hunter9x', DB_PASS: 'hunter', pw: 12345678 },
      { pass: hidden, DB_PASS: hidden, pw: hidden },
    ],
    [
      { cookie: 'sid=a', authorization: 'Basic abc' },
      { cookie: hidden, authorization: hidden },
    ],
    [{ json: '{"password":"hunter"}' }, { json: '{"password":"«hidden: password»"}' }],
    [{ json: '{\\"password\\":\\"hunter\\"}' }, { json: '{\\"password\\":\\"«hidden: password»\\"}' }],
  ];
  expect(examples.map(([value]) => redacted(value))).toEqual(examples.map(([, expected]) => expected));
});

it('values that are only about secrets stay visible', () => {
  const harmless = {
    outcome: 'pass',
    checks: { pass: 12, fail: 0, skipped: true },
    password: { isRequired: true, minLength: 12, type: 'string', was: null },
    fields: ['password', 'email'],
    usage: { tokens: 4096, max_tokens: 200_000 },
    passwordPolicy: 'at least 12 characters',
    name: 'password',
    columns: [{ name: 'password', type: 'varchar' }],
  };
  expect(redacted(harmless)).toEqual(harmless);
});
