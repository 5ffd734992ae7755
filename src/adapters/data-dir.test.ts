import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { enforces } from '../../test/enforces.ts';
import { dataDir } from './data-dir.ts';

const PLATFORMS = ['linux', 'darwin', 'win32'] as const;

test('WORKRAIL_DATA_DIR decides, on every platform', () => {
  enforces('data_dir_location');
  for (const platform of PLATFORMS) {
    const env = { WORKRAIL_DATA_DIR: '/somewhere/else', XDG_DATA_HOME: '/xdg', LOCALAPPDATA: '/local' };
    expect(dataDir(env, platform)).toBe(resolve('/somewhere/else'));
    expect(dataDir({ WORKRAIL_DATA_DIR: 'here' }, platform)).toBe(resolve('here'));
  }
});

test('a tilde in WORKRAIL_DATA_DIR is the home folder, even without a shell', () => {
  enforces('data_dir_location');
  expect(dataDir({ WORKRAIL_DATA_DIR: '~' }, 'linux')).toBe(homedir());
  expect(dataDir({ WORKRAIL_DATA_DIR: '~/runs' }, 'linux')).toBe(join(homedir(), 'runs'));
  expect(dataDir({ WORKRAIL_DATA_DIR: '/a/~/b' }, 'linux')).toBe(resolve('/a/~/b'));
});

test("without WORKRAIL_DATA_DIR, data is in the platform's default place", () => {
  enforces('data_dir_location');
  const home = homedir();
  expect(dataDir({}, 'linux')).toBe(join(home, '.local', 'share', 'workrail'));
  expect(dataDir({ WORKRAIL_DATA_DIR: '' }, 'linux')).toBe(join(home, '.local', 'share', 'workrail'));
  expect(dataDir({ XDG_DATA_HOME: '/xdg' }, 'linux')).toBe('/xdg/workrail');
  expect(dataDir({}, 'darwin')).toBe(join(home, 'Library', 'Application Support', 'workrail'));
  expect(dataDir({ LOCALAPPDATA: '/local' }, 'win32')).toBe(join('/local', 'workrail'));
});

test('a relative XDG_DATA_HOME is ignored, as its specification says', () => {
  enforces('data_dir_location');
  expect(dataDir({ XDG_DATA_HOME: 'share' }, 'linux')).toBe(join(homedir(), '.local', 'share', 'workrail'));
});

test('data is never in a folder that workflows are read from', () => {
  enforces('data_dir_location');
  for (const platform of PLATFORMS) {
    expect(dataDir({}, platform)).not.toContain('.workrail');
    expect(dataDir({}, platform)).not.toMatch(/workflows/);
  }
});
