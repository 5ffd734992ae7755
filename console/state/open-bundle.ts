import type { ErrorEnvelope } from '../../src/core/log/error-envelope.ts';
import type { ConsoleReply } from '../../src/core/wire/console-shapes.ts';
import { Refused } from './api.ts';
import { keepViewed, type Viewed, viewedKey } from './viewed.ts';

/** What the worker is asked, and what it answers. */
export type WorkerRequest =
  | { readonly id: number; readonly kind: 'open'; readonly bytes: ArrayBuffer }
  | {
      readonly id: number;
      readonly kind: 'read';
      readonly name: string;
      readonly places: object;
      readonly query: object;
    };
export type OpenedBundle = { readonly session: ConsoleReply<'session'>; readonly problem: string | undefined };
export type WorkerReply = { readonly id: number } & ({ readonly value: unknown } | { readonly error: ErrorEnvelope });

/** Checks a bundle in this browser. Nothing of it is sent anywhere. */
export async function openBundle(file: File): Promise<Viewed> {
  const worker = new Worker(new URL('./bundle-worker.ts', import.meta.url), { type: 'module' });
  const waiting = new Map<number, (reply: WorkerReply) => void>();
  worker.onmessage = ({ data }: MessageEvent<WorkerReply>) => {
    waiting.get(data.id)?.(data);
    waiting.delete(data.id);
  };
  let next = 0;
  type Asked = { readonly kind: string } & { readonly [name: string]: unknown };
  const ask = (asked: Asked, moved: Transferable[] = []): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const id = next;
      next += 1;
      waiting.set(id, (reply) => {
        if ('error' in reply) reject(new Refused(reply.error, 409));
        else resolve(reply.value);
      });
      worker.postMessage({ ...asked, id }, moved);
    });
  const bytes = await file.arrayBuffer();
  const { session, problem } = (await ask({ kind: 'open', bytes }, [bytes])) as OpenedBundle;
  const key = viewedKey(session.sessionId);
  // Links and requests of the page name the file, never a session of the store that has the same id.
  const data = { ...session, sessionId: key as typeof session.sessionId };
  const viewed: Viewed = {
    key,
    file,
    data,
    problem,
    read: async (name, places, query) => (name === 'session' ? data : ask({ kind: 'read', name, places, query })),
  };
  keepViewed(viewed);
  return viewed;
}
