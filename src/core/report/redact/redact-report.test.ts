import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FORMATS, hunted, reportOf } from '../../../../test/e2e/report/hunted-report.ts';
import { enforces } from '../../../../test/enforces.ts';
import { tokenOf } from '../../../../test/examples/engine.ts';
import { reportHtml } from '../html/report-html.ts';
import { reportMarkdown } from '../markdown/report-markdown.ts';
import type { Report } from '../report.ts';
import { reportJson } from '../report-json.ts';
import { redactReport } from './redact-report.ts';
import { hiddenMarker } from './secret-kinds.ts';

describe('a redacted report', () => {
  it('hides where the workspace lies, in every place', async () => {
    enforces('reports_redact_repo_root');
    const { report, hunt, sessionId } = await hunted('Seen in /work/shop/src/cart.ts and in /work/shop.');
    const redacted = await reportOf(hunt.services, sessionId, true);
    expect(redacted.sessions[0]?.workspace).toEqual([
      { key: 'repo_root', value: hiddenMarker('workspace path'), at: expect.any(String) },
    ]);
    for (const format of FORMATS) {
      expect(format(report)).toContain('/work/shop');
      expect(format(redacted)).not.toContain('/work/shop');
    }
    for (const root of ['/', 'C:\\', '/w']) {
      const [session] = report.sessions;
      const moved = { ...report, sessions: [{ ...session, workspace: [{ key: 'repo_root' as const, value: root }] }] };
      expect(redactReport(moved as Report).sessions[0]?.workspace[0]?.value).toBe(hiddenMarker('workspace path'));
    }
  });

  it('keeps ids and hashes, and lists what was hidden with its count and never its value', async () => {
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
    expect(reportMarkdown(redacted)).toContain('## What was hidden\n\n- access key: 1 place\n');
    expect(reportHtml(report)).toContain('made without hiding anything');
  });

  it('lets no planted secret through, wherever it stands, in any format', async () => {
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
      fc.property(planted(tokens), fc.tuple(text, around, around, text), (secret, [before, left, right, after]) => {
        const told = `${before}${left}${secret.text}${right}${after}`;
        const redacted = redactReport(everywhere(report, told));
        for (const format of FORMATS) {
          expect(leaks(format(redacted), [secret.core, 'planted-too'])).toEqual([]);
        }
      }),
      { numRuns: 40 },
    );
  });
});

type Planted = { readonly text: string; readonly core: string };

/** Secrets as they occur, each with the part of it that must not be seen. */
function planted(tokens: readonly string[]): fc.Arbitrary<Planted> {
  const of = (alphabet: string, length: number) =>
    fc.string({ unit: fc.constantFrom(...alphabet), minLength: length, maxLength: length });
  const upper = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
  const alnum = `${upper}abcdefghijklmnopqrstuvwxyz`;
  const lead = (prefix: string) => (core: string) => ({ text: `${prefix}${core}`, core });
  // fast-check prefers small numbers, of which nobody makes keys.
  const random = fc.nat().map((seed) => createHash('sha384').update(String(seed)).digest());
  const encoded = fc
    .tuple(
      random,
      fc.integer({ min: 32, max: 48 }),
      fc.constantFrom('hex' as const, 'base64url' as const, 'base64' as const),
    )
    .map(([bytes, length, as]) => bytes.subarray(0, length).toString(as));
  return fc.oneof(
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
  );
}

/** Those that are there, each with a little of what is around it. */
function leaks(told: string, secrets: readonly string[]): readonly string[] {
  return secrets.flatMap((secret) => {
    const at = told.indexOf(secret);
    return at < 0 ? [] : [told.slice(Math.max(0, at - 40), at + secret.length + 10)];
  });
}

/** The report with a text in every place that somebody outside can write to. */
function everywhere(report: Report, text: string): Report {
  const step = { stepId: 'x', title: text, rounds: [] };
  const note = { markdown: text, isSuperseded: false };
  return JSON.parse(JSON.stringify(report), (key, value) => {
    if (['goal', 'name', 'summary', 'text', 'message', 'suggestedFix', 'ref'].includes(key)) return text;
    if (key === 'notes') return [note, { ...note, isSuperseded: true }];
    if (key === 'contextKeys' || key === 'warnings') return [text];
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
