import { existsSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { layout } from '../src/adapters/file-store/disk/disk.ts';
import { storeOf } from '../src/adapters/file-store/file-store.ts';
import type { FileStoreParts } from '../src/adapters/file-store/file-store-parts.ts';
import { appendAll } from './contract/store-under-test.ts';
import { SMALL_WORKFLOW } from './examples/compiled.ts';
import { digest } from './examples/sha256.ts';
import { artifactDigest } from './simulation/node-facts.ts';
import { type SessionWriter, sessionWriter } from './simulation/session-writer.ts';
import { numberedSession, SMALL_WORKFLOW_TEXT, storeFolder } from './store-folder.ts';

export const HOUR_MS = 3_600_000;
const BEGIN = Date.UTC(2025, 5, 1);
export const OLD = BEGIN + 1_000;
export const LIMIT = BEGIN + 5_000;
export const RECENT = BEGIN + 9_000;

/** Makes everything on the disk old. */
export const later = () => Date.now() + 2 * HOUR_MS;
export const request = () => ({ expiredBeforeMs: LIMIT, binnedBeforeMs: 0, nowMs: later(), isDryRun: false });

export function sessionAt(number: number, at: number, artifact = `artifact ${number}`): SessionWriter {
  const writer = sessionWriter({ sessionId: numberedSession(number), at: () => at });
  writer.advance(writer.startRun({}, SMALL_WORKFLOW_TEXT), { artifacts: [{ name: artifact }] }, 'complete');
  return writer;
}

/** Dates a session's files like its events: both are witnesses of its age. */
export function dateFiles(root: string, number: number, at: number): void {
  utimesSync(join(root, layout.manifest(numberedSession(number))), at / 1_000, at / 1_000);
}

/** Session 1 is old, session 2 is not; both share what they have in common. */
export async function twoSessions(parts: Partial<FileStoreParts> = {}) {
  const folder = storeFolder(parts);
  const store = storeOf(folder);
  await store.pinnedWorkflows.pin(SMALL_WORKFLOW);
  for (const [number, at] of [
    [1, OLD],
    [2, RECENT],
  ] as const) {
    await appendAll(store.sessions, sessionAt(number, at).plans);
    dateFiles(folder.root, number, at);
  }
  const has = (place: string) => existsSync(join(folder.root, place));
  return { ...folder, store, has };
}

export const artifactOf = (number: number) => layout.artifact(artifactDigest(`artifact ${number}`));
export const workflow = layout.pinnedWorkflow(digest(SMALL_WORKFLOW_TEXT) as never);

/** Calls that the system refuses, with their error codes. */
export function failure(code: string): Error {
  return Object.assign(new Error(code), { code });
}
