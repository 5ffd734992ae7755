import { resolve } from 'node:path';
import { IDBFactory, IDBKeyRange } from 'fake-indexeddb';
import { beforeEach, expect, test, vi } from 'vitest';
import { enforces } from './enforces.ts';

const PATH = '/project/.workrail/workflows/team.x.json';

type Draft = { path: string; text: string; base: string; digest: string; at: number };
/** What the page of the editor keeps in the browser. The page is a program of its own, so its types are not known here. */
type UnsavedTexts = {
  readonly readDraft: (path: string) => Promise<Draft | undefined>;
  readonly keepDraft: (draft: Draft, begun: Draft | undefined) => Promise<void>;
  readonly dropDraft: (path: string, saved: string, begun: Draft | undefined) => Promise<void>;
};

/** A page that was just opened: everything but what is stored begins again. */
async function openedPage(): Promise<UnsavedTexts> {
  pages += 1;
  return import(`${resolve(import.meta.dirname, '../console/editor/unsaved-texts.ts')}?page=${pages}`);
}
let pages = 0;

beforeEach(() => {
  vi.stubGlobal('indexedDB', new IDBFactory());
  vi.stubGlobal('IDBKeyRange', IDBKeyRange);
  return () => vi.unstubAllGlobals();
});

function draft(text: string, at: number): Draft {
  return { path: PATH, text, base: '{}', digest: 'sha256:0', at };
}

test('what was typed in the editor and not saved is there for a page that is opened later', async () => {
  enforces('console_draft_survives');
  await (await openedPage()).keepDraft(draft('typed', 1), undefined);
  const later = await openedPage();
  expect(await later.readDraft(PATH)).toMatchObject(draft('typed', 1));
  expect(await later.readDraft(`${PATH}.other`)).toBeUndefined();
});

test('a page that saves drops its own draft, and leaves what another page typed', async () => {
  await (await openedPage()).keepDraft(draft('first', 1), undefined);
  const second = await openedPage();
  await second.keepDraft(draft('second', 2), undefined);
  await second.dropDraft(PATH, 'second', undefined);
  expect(await second.readDraft(PATH)).toMatchObject({ text: 'first' });
});
