import { describe, expect, it } from 'vitest';
import { readSettings } from './environment.ts';

describe('the settings of a server', () => {
  it('are the short tokens, unless the long ones are asked for', () => {
    for (const env of [{}, { WORKRAIL_TOKEN_FORMAT: '' }, { WORKRAIL_TOKEN_FORMAT: 'v2' }]) {
      expect(readSettings(env)._unsafeUnwrap().tokenForm).toBe('compact');
    }
    expect(readSettings({ WORKRAIL_TOKEN_FORMAT: 'v1' })._unsafeUnwrap().tokenForm).toBe('json');
  });

  it.each(['v3', 'V1', 'json', 'toString'])('are refused when the token format is %s', (value) => {
    expect(readSettings({ WORKRAIL_TOKEN_FORMAT: value })._unsafeUnwrapErr()).toEqual({
      name: 'WORKRAIL_TOKEN_FORMAT',
      value,
      expected: 'v1 (long) or v2 (short, the default)',
    });
  });

  it('are refused when data would lie in the home folder of somebody else', () => {
    for (const value of ['~ada', '~ada/runs']) {
      expect(readSettings({ WORKRAIL_DATA_DIR: value })._unsafeUnwrapErr()).toMatchObject({
        name: 'WORKRAIL_DATA_DIR',
        value,
      });
    }
    for (const value of ['', '~', '~/runs', '/data/~', 'here']) {
      expect(readSettings({ WORKRAIL_DATA_DIR: value }).isOk()).toBe(true);
    }
  });
});
