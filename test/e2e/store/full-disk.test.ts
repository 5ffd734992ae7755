import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readdirSync, rmSync, truncateSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { fileStore } from '../../../src/adapters/file-store/file-store.ts';
import { nodeHasher } from '../../../src/adapters/system.ts';
import { enforces } from '../../enforces.ts';
import { CLIENTS } from '../clients.ts';
import { appendCheckpoint } from './append-checkpoint.ts';
import { sessionNamed } from './named-plans.ts';
import { storedNames } from './stored-names.ts';

const PAGE = 4_096;
/** More pages than an append needs, so that it fails at every place where it can. */
const PAGES_MAX = 16;

let disk: string;
let isMounted: boolean;

beforeEach(() => {
  disk = mkdtempSync(join(tmpdir(), 'workrail-full-'));
  isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'none', disk]).status === 0;
});

afterEach(() => {
  if (isMounted) spawnSync('umount', ['-l', disk]);
  rmSync(disk, { recursive: true });
});

it('an append on a full disk reports it, leaves no partial data, and works once there is space', async () => {
  enforces('io_errors_are_typed');
  if (!isMounted) return sayNotTried();
  const root = join(disk, 'data');
  const sessionId = sessionNamed('one');
  const { sessions } = fileStore(root, nodeHasher.sha256);
  const acknowledged: string[] = [];
  const append = async (name: string) => {
    const appended = await appendCheckpoint(sessions, sessionId, { name, artifacts: [`${name}-artifact`] });
    if (appended.isOk()) acknowledged.push(name);
    return appended.isOk() ? 'acknowledged' : appended.error;
  };
  expect(await append('before')).toBe('acknowledged');

  const ends: unknown[] = [];
  for (let pages = 0; pages <= PAGES_MAX; pages++) {
    fill(pages);
    const end = await append(`full-${pages}`);
    if (end !== 'acknowledged') expect(end).toMatchObject({ code: 'io_failed', cause: 'ENOSPC' });
    ends.push(typeof end === 'string' ? end : 'operation' in end ? end.operation : end.code);
    free();
    expect(await append(`then-${pages}`)).toBe('acknowledged');
  }
  console.log(`appends with 0 to ${PAGES_MAX} free pages: ${ends.join(', ')}`);
  expect(ends[0]).not.toBe('acknowledged');
  expect(ends.at(-1)).toBe('acknowledged');
  expect(await storedNames(root, 'one')).toEqual(acknowledged);
  expect(readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.tmp'))).toEqual([]);
});

it('an agent on a full disk gets advice and loses nothing', async () => {
  enforces('io_errors_are_typed');
  if (!isMounted) return sayNotTried();
  const client = await CLIENTS['client 2.x']?.({ WORKRAIL_DATA_DIR: join(disk, 'data') });
  const started = await client?.call('start_workflow', { workflowId: 'wr.first_steps' });
  const call = { ackToken: started?.structuredContent?.['ackToken'], output: { notesMarkdown: 'looked' } };
  fill(0);
  const refused = await client?.call('continue_workflow', call);
  free();
  const accepted = await client?.call('continue_workflow', call);
  await client?.close();
  expect(refused?.isError).toBe(true);
  expect(refused?.structuredContent).toMatchObject({
    kind: 'error',
    error: {
      code: 'STORE_IO',
      message: expect.stringContaining('ENOSPC'),
      suggestion: expect.stringContaining('space'),
    },
  });
  expect(accepted?.structuredContent).toMatchObject({ kind: 'ok', pending: { stepId: 'propose' } });
});

function sayNotTried(): void {
  console.warn('SKIPPED: no tmpfs can be mounted here, so a full disk is not tried');
}

/** Takes all space of the disk but so many pages. */
function fill(pages: number): void {
  const path = join(disk, 'filler');
  const file = openSync(path, 'w');
  let size = 0;
  try {
    for (;;) size += writeSync(file, Buffer.alloc(PAGE));
  } catch {
    truncateSync(path, Math.max(0, size - pages * PAGE));
  } finally {
    closeSync(file);
  }
}

function free(): void {
  rmSync(join(disk, 'filler'));
}
