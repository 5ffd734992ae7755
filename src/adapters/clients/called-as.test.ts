import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { calledAs, commandInReplies } from './called-as.ts';

it('messages name the program as the user can type it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'workrail-path-'));
  const program = '/home/me/workrail/dist/workrail.js';
  const here = { cwd: '/home/me/workrail', program };
  expect(calledAs({ ...here, env: {} })).toBe('node dist/workrail.js');
  expect(calledAs({ ...here, cwd: '/elsewhere', env: { PATH: folder } })).toBe(`node ${program}`);
  expect(calledAs({ cwd: '/', program: '/a folder/workrail.js', env: {} })).toBe('node "a folder/workrail.js"');
  expect(calledAs({ ...here, env: { npm_command: 'exec' } })).toBe('npx --no workrail');
  writeFileSync(join(folder, 'workrail'), '');
  chmodSync(join(folder, 'workrail'), 0o755);
  expect(calledAs({ ...here, env: { PATH: `/nowhere:${folder}` } })).toBe('workrail');
});

it('replies name the program with its whole path, and the data folder where it is not the default one', () => {
  const here = { program: '/home/me/workrail/dist/workrail.js', env: {} };
  expect(commandInReplies(here, undefined)).toBe(`node ${here.program}`);
  expect(commandInReplies(here, '/tmp/data')).toBe(`WORKRAIL_DATA_DIR=/tmp/data node ${here.program}`);
  expect(commandInReplies(here, `/tmp/${'x'.repeat(200)}`)).toBe(`node ${here.program}`);
  expect(commandInReplies({ ...here, program: `/${'x'.repeat(200)}.js` }, undefined)).toBe('workrail');
});
