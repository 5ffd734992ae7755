import { existsSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { enforces } from '../../test/enforces.ts';
import { enableCodeCache, prepareCodeCache } from './code-cache.ts';

test('compiled code is kept only after a run has made a place for it, and a start makes none', () => {
  enforces('startup_has_no_side_effects');
  const dataDir = mkdtempSync(join(tmpdir(), 'workrail-code-'));
  const enable = vi.fn();
  enableCodeCache(dataDir, enable);
  expect([enable.mock.calls, readdirSync(dataDir)]).toEqual([[], []]);
  prepareCodeCache(dataDir, enable);
  enableCodeCache(dataDir, enable);
  expect(enable.mock.calls).toEqual([[join(dataDir, 'cache', 'code')]]);
});

test('nothing is made for a version of Node that keeps no compiled code, or where nothing can be written', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'workrail-code-'));
  prepareCodeCache(dataDir, undefined);
  expect(existsSync(join(dataDir, 'cache'))).toBe(false);
  writeFileSync(join(dataDir, 'cache'), 'in the way');
  prepareCodeCache(dataDir, vi.fn());
  const enable = vi.fn();
  enableCodeCache(dataDir, enable);
  expect(enable).not.toHaveBeenCalled();
});
