import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { share } from '../../../../test/volume.ts';
import { findSecrets, hasAccessSecret } from './find-secrets.ts';
import { redactNote } from './redact-note.ts';
import { redactText } from './redact-report.ts';
import type { SecretKind } from './secret-kinds.ts';

const NO_FOLDERS = { homes: [], workspaces: [] };

const PRIVATE: readonly SecretKind[] = ['e-mail address', 'workspace path', 'home folder', 'random-looking text'];

/** The text with its secrets hidden. Whether one of them gives access must be found without trying all patterns, too. */
function redacted(text: string, folders: Parameters<typeof redactText>[1] = NO_FOLDERS): string {
  if (text.length < 10_000) {
    const hasOne = findSecrets(text, NO_FOLDERS).some(({ kind }) => !PRIVATE.includes(kind));
    expect([text, hasAccessSecret(text)]).toEqual([text, hasOne]);
  }
  return redactText(text, folders, () => undefined);
}

describe('hiding secrets in a text', () => {
  it('text that looks like a secret is replaced by its kind', () => {
    const body = 'aB3dE5gH7jK9mN1pQ3sT5vX7zA9cE1gI3kM5';
    const examples: readonly (readonly [string, string])[] = [
      ['mail ana.silva+x@shop.example.org.', 'mail «hidden: e-mail address».'],
      ['müller@straße.de', '«hidden: e-mail address»'],
      ['in /home/ana/shop/cart.ts:3', 'in «hidden: home folder»/shop/cart.ts:3'],
      ['"/Users/Ana Silva/shop"', '"«hidden: home folder»/shop"'],
      ['C:\\Users\\Ana Silva\\shop', '«hidden: home folder»\\shop'],
      ['{"at":"C:\\\\Users\\\\ana\\\\shop"}', '{"at":"«hidden: home folder»\\\\shop"}'],
      ['/mnt/c/Users/ana/x and file:///home/ana/x', '«hidden: home folder»/x and file://«hidden: home folder»/x'],
      ['in /home/ana and /work/x', 'in «hidden: home folder» and /work/x'],
      ['/root/.ssh', '«hidden: home folder»/.ssh'],
      ['cc -I/home/ana/include -L/root/lib', 'cc -I«hidden: home folder»/include -L«hidden: home folder»/lib'],
      ['-/home/ana/x --/home/ana/y', '-«hidden: home folder»/x --«hidden: home folder»/y'],
      ['-eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVP', '-«hidden: JSON web token»'],
      ['key AKIAIOSFODNN7EXAMPLE!', 'key «hidden: access key»!'],
      [`ghp_${body}`, '«hidden: access key»'],
      [`(github_pat_11AB_${body})`, '(«hidden: access key»)'],
      ['use sk-proj-abc123def456ghi789', 'use «hidden: access key»'],
      ['xoxb-123456789012-abcdefghijkl', '«hidden: access key»'],
      [`Authorization: Bearer ${body}`, 'Authorization: Bearer «hidden: access key»'],
      ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVP', '«hidden: JSON web token»'],
      ['postgres://app:s3cr3t@db.local/shop', 'postgres://«hidden: password»/shop'],
      ['password=hunter2 next', 'password=«hidden: password» next'],
      ['DB_PASSWORD="two words" next', 'DB_PASSWORD="«hidden: password»" next'],
      ['{"clientSecret": "a\\"b", "x": 1}', '{"clientSecret": "«hidden: password»", "x": 1}'],
      ['api_key: abcdefg1', 'api_key: «hidden: password»'],
      [`?token=abc12345&x=1`, '?token=«hidden: password»&x=1'],
      [`ack_49q9${'0123456789abcdefghjkmnpqrstvwxyz'.repeat(2).slice(0, 44)}`, '«hidden: WorkRail token»'],
      ['st.v1.eyJ2IjoxfQ.c2lnbmF0dXJl', '«hidden: WorkRail token»'],
      [PEM, '«hidden: private key»'],
      [`"${PEM.replaceAll('\n', '\\n')}"`, '"«hidden: private key»"'],
      [PEM.slice(0, 90), '«hidden: private key»'],
      [`seen: ${'0123456789abcdef'.repeat(4)}`, 'seen: «hidden: random-looking text»'],
      [`x ${body} y`, 'x «hidden: random-looking text» y'],
    ];
    expect(examples.map(([text]) => redacted(text))).toEqual(examples.map(([, hidden]) => hidden));
  });

  it('our own ids and hashes, commits, versions, names and paths are not mistaken for secrets', () => {
    const innocent = [
      'sess_3fpba4mr97zy2vrt run_w9b0g1h72w4j49q9 node_0123456789abcdef',
      `sha256:${'4ab0cd01134aab573913a1beddf5e83e'.repeat(2)}`,
      '4f2a91c0d9e8b7a6f5e4d3c2b1a09f8e7d6c5b4a',
      '"integrity": "sha512-q1MfTpw3aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789abcdefghijklmnopqrstuvwxyzABCDEFG=="',
      '3f2b1c4d-5e6f-4a7b-8c9d-0e1f2a3b4c5d',
      'vitest@4.1.12, git@github.com:team/shop.git, @scope/package',
      'src/core/report/redact/redact-report-with-a-long-name.test.ts',
      'src/pages/home/index.tsx and https://shop.example/home/page',
      'thisIsAVeryLongCamelCaseNameOfSomething AND_THIS_IS_A_VERY_LONG_CONSTANT_NAME',
      'a-task-with-a-very-long-kebab-case-name-and-no-end',
      'The token is checked. A password must be long. Passwords, secrets: no.'.replace(': no', ''),
      '2026-11-15T14-20-07-2026-11-15T14-20-08',
      '---------------------------------------- ======================== ________________________',
    ];
    expect(innocent.map((text) => redacted(text))).toEqual(innocent);
  });

  it('sentences about secrets stay readable in texts and in notes', () => {
    const harmless = [
      'the password field is required',
      'A password reset flow.',
      'Passwords are hashed with bcrypt; the password is required, not optional.',
      'function setPassword(password: string): void {}',
      'password: required',
      '**Password:** must be long',
      'password = process.env.DB_PASSWORD',
      'Use the `--password` flag.',
      'Enter the password:\n\nThen click on it.',
      'Forgot your password? Reset it.',
      'keep "password" in the form, "email" too',
      '| Field | Type | Required |\n| --- | --- | --- |\n| password | string | yes |',
      '| Part | What it does |\n| --- | --- |\n| `core/token` | reads tokens of 48 characters |',
      `needs_a_token: 'one that only 1 user has'`,
      'The token is checked. max_tokens: 4096, tokens: 12000',
      'secrets are kept in the vault, which is the secret of success',
      'Tests: pass: 12, fail: 0; outcome: pass',
      'GET /users/42 answers 404, see /users/{id} and /api/users/list',
      'Set-Cookie was missing; so is the cookie banner.',
      'Basic authentication is off. Basic JavaScript knowledge, basic responsibilities',
      'Authorization: required',
      'docker run -u 1000:1000 shop',
      'a sale of 50% off, 100%25',
    ];
    expect(harmless.map((text) => redacted(text))).toEqual(harmless);
    expect(harmless.map((text) => redactNote(text, NO_FOLDERS, () => undefined))).toEqual(harmless);
  });

  it('a note with secrets is written again with them hidden, and a note without is unchanged', () => {
    const examples: readonly (readonly [string, string])[] = [
      ['# A #\n\n<password>**abc**\\_d</password>', '# A\n\n\\<password\\>**«hidden: password»**\\</password\\>'],
      ['**Key** AKIA*IOSF*ODNN7EXAMPLE, see [x](y)', '**Key** «hidden: access key», see x'],
      ['[a](mailto:ana@shop.example)\n\n***', 'a (mailto:«hidden: e-mail address»)\n\n***'],
      ['password: https://shop.example/x', 'password: «hidden: password»'],
      ['# A #\n\n\n__b__ [x](y)', '# A #\n\n\n__b__ [x](y)'],
    ];
    expect(examples.map(([note]) => redactNote(note, NO_FOLDERS, () => undefined))).toEqual(
      examples.map(([, hidden]) => hidden),
    );
  });

  it('a known folder is hidden wherever its whole name occurs', () => {
    const folders = { homes: ['/data/people/ana/', '/home7'], workspaces: ['/work/shop', 'D:\\work\\shop', '/'] };
    expect(
      [
        'in /work/shop/src, /work/shop and /work/shopping',
        '/data/people/ana/notes',
        '/home7/x but not src/home7/x',
        'D:\\work\\shop\\a "D:\\\\work\\\\shop\\\\a" D:/work/shop/a',
        'a / b',
      ].map((text) => redacted(text, folders)),
    ).toEqual([
      'in «hidden: workspace path»/src, «hidden: workspace path» and /work/shopping',
      '«hidden: home folder»/notes',
      '«hidden: home folder»/x but not src/home7/x',
      '«hidden: workspace path»\\a "«hidden: workspace path»\\\\a" «hidden: workspace path»/a',
      'a / b',
    ]);
  });

  it('secrets that overlap are hidden together under the most telling kind', () => {
    const kinds: SecretKind[] = [];
    const text = redactText(
      'password=AKIAIOSFODNN7EXAMPLE and api_key="ghp_0123456789abcdefghij"',
      NO_FOLDERS,
      (kind) => kinds.push(kind),
    );
    expect([text, kinds]).toEqual([
      'password=«hidden: access key» and api_key="«hidden: access key»"',
      ['access key', 'access key'],
    ]);
  });

  it('the time to redact a text grows with its length, even for the worst input of each pattern', () => {
    const pieces = [
      '-',
      'eyJ',
      'sk-',
      'a@a.',
      'password:"',
      'C:\\Users\\',
      'st_',
      'password\n',
      '\\',
      '`a*',
      '-password ',
    ];
    for (const piece of share(pieces, { every: 2 })) {
      const text = piece.repeat(Math.ceil(262_144 / piece.length));
      expect(redacted(text).length).toBeGreaterThan(0);
    }
    const rows = '|x|y12345|\n'.repeat(20_000);
    expect(redactNote(`|a|password|\n|-|-|\n${rows}`, NO_FOLDERS, () => undefined)).not.toContain('y12345');
    // The same noise each time: in any other, something may look like an access key.
    const blocks = Array.from({ length: 12_288 }, (_, i) => createHash('sha512').update(`${i}`).digest());
    const noise = Buffer.concat(blocks).toString('base64');
    expect(redacted(noise)).toBe('«hidden: random-looking text»');
  });
});

const PEM = `-----BEGIN RSA PRIVATE KEY-----
MIIEowIBAAKCAQEAx4UbaDzY5xjW6hc9jwN0mX33XpTDVW7mOXQ
Dm1zW9pYF0E5nTqDlqxUe1sJ4w==
-----END RSA PRIVATE KEY-----`;
