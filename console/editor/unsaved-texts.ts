/** What was typed and not saved, with the file that it began from. It survives the end of the browser. */
export type Draft = {
  readonly path: string;
  /** Under which it is kept, if it was read. */
  readonly key?: string;
  readonly text: string;
  readonly base: string | undefined;
  readonly digest: string | undefined;
  readonly at: number;
};

const DATABASE = 'workrail-drafts';
const STORE = 'drafts';

/** Two pages with one file must not take each other's draft away, so each page keeps its own. */
const PAGE = [...crypto.getRandomValues(new Uint32Array(2))].map((part) => part.toString(36)).join('');
const ownKey = (path: string) => `${path}\0${PAGE}`;
/** Drafts of a file: of any page, or kept under its path alone. */
const draftsOf = (path: string) => IDBKeyRange.bound(path, `${path}\0\uffff`);

let opened: Promise<IDBDatabase> | undefined;

function database(): Promise<IDBDatabase> {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: 'path' });
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  return opened;
}

async function inStore<Value>(
  mode: IDBTransactionMode,
  act: (store: IDBObjectStore) => IDBRequest<Value>,
): Promise<Value> {
  const all = await database();
  return new Promise((resolve, reject) => {
    // Written through to the disk: a browser that is killed must not take it along.
    const transaction = all.transaction(STORE, mode, { durability: 'strict' });
    const request = act(transaction.objectStore(STORE));
    transaction.oncomplete = () => resolve(request.result);
    transaction.onerror = () => reject(transaction.error);
  });
}

/** The latest draft of a file. */
export async function readDraft(path: string): Promise<Draft | undefined> {
  const kept = (store: IDBObjectStore): IDBRequest<Draft[]> => store.getAll(draftsOf(path));
  const all = await inStore('readonly', kept).catch((): Draft[] => []);
  const latest = [...all].sort((a, b) => b.at - a.at)[0];
  return latest && { ...latest, path, key: latest.path };
}

/** Keeps what this page has. It takes the place of the draft that the page began with. */
export async function keepDraft(draft: Draft, begun: Draft | undefined): Promise<void> {
  await replace(draft.path, (stored) => isSame(stored, begun), draft);
}

/** Drops what this page wrote or began with, and what is saved by now. Whatever another page wrote stays. */
export async function dropDraft(path: string, saved: string, begun: Draft | undefined): Promise<void> {
  await replace(path, (stored) => stored.path === ownKey(path) || stored.text === saved || isSame(stored, begun));
}

/** Whether a draft is still as this page read it. */
function isSame(stored: Draft, begun: Draft | undefined): boolean {
  return begun !== undefined && stored.path === begun.key && stored.at === begun.at;
}

async function replace(path: string, isOver: (stored: Draft) => boolean, draft?: Draft): Promise<void> {
  await inStore('readwrite', (store) => {
    const all: IDBRequest<Draft[]> = store.getAll(draftsOf(path));
    all.onsuccess = () => {
      for (const stored of all.result) if (isOver(stored)) store.delete(stored.path);
      if (draft !== undefined) store.put({ ...draft, path: ownKey(path) });
    };
    return all;
  });
}
