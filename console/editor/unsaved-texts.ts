/** What was typed and not saved, with the file that it began from. It survives the end of the browser. */
export type Draft = {
  readonly path: string;
  readonly text: string;
  readonly base: string | undefined;
  readonly digest: string | undefined;
  readonly at: number;
};

const DATABASE = 'workrail-drafts';
const STORE = 'drafts';

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

export function readDraft(path: string): Promise<Draft | undefined> {
  return inStore('readonly', (store) => store.get(path) as IDBRequest<Draft | undefined>).catch(() => undefined);
}

export async function keepDraft(draft: Draft): Promise<void> {
  await inStore('readwrite', (store) => store.put(draft));
}

export async function dropDraft(path: string): Promise<void> {
  await inStore('readwrite', (store) => store.delete(path));
}
