import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { fileStore } from '../../../src/adapters/file-store/file-store.ts';
import { nodeHasher } from '../../../src/adapters/system.ts';
import { sessionNamed } from './named-plans.ts';

/**
 * The names of all checkpoints of a session in the order of its log, read from the files without the store's own
 * reading. A store that never saw the session must find it healthy and just as long.
 */
export async function storedNames(root: string, session: string): Promise<readonly string[]> {
  const sessionId = sessionNamed(session);
  const dir = join(root, 'sessions', sessionId);
  const segments = records(join(dir, 'manifest.jsonl')).filter(({ kind }) => kind === 'segment_closed');
  const events = segments.flatMap(({ segmentRelPath }) => records(join(dir, String(segmentRelPath))));
  expect(events.map(({ eventIndex }) => eventIndex)).toEqual(events.map((_, i) => i));

  const loaded = await fileStore(root, nodeHasher.sha256).sessions.load(sessionId);
  expect(loaded.map(({ view }) => view.nextEventIndex)._unsafeUnwrap()).toBe(events.length);
  return events.flatMap(({ data }) => (data as Partial<Note>).payload?.notesMarkdown ?? []);
}

type Note = { readonly payload: { readonly notesMarkdown?: string } };

function records(path: string): readonly Record<string, unknown>[] {
  return readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}
