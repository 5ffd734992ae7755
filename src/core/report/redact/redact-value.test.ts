import { expect, it } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { redactText } from './redact-text.ts';
import { redactValue } from './redact-value.ts';

const redacted = (value: unknown) =>
  redactValue(value, {
    redact: (text) => redactText(text, { homes: [], workspaces: [] }, () => undefined),
    hide: () => '<hidden>',
  });

it('hides what stands under a secret name, however deep and of whatever type', () => {
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
  expect(examples.map(([value]) => redacted(value))).toEqual(examples.map(([, told]) => told));
});

it('leaves what only has to do with secrets', () => {
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
