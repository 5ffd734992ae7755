import type { Services } from '../../../../src/app/services.ts';
import type { SessionEvent } from '../../../../src/core/log/event.ts';
import type { Call, Reply } from '../reader/obedient-reader.ts';

/** A client and the server that it started. */
export type Chat = {
  call(call: Call): Promise<Reply>;
  /** Ends the server at some moment after a call was sent; nobody gets to see the reply. */
  killDuring(call: Call, afterMs: number): Promise<void>;
  close(): Promise<void>;
};

/** A store, and servers over it. */
export type World = {
  /** To look with, apart from every server. */
  readonly services: Services;
  /** Everything that was ever appended, by session, in order. */
  readonly log: () => ReadonlyMap<string, readonly SessionEvent[]>;
  /** What its agents may start; the small ones made for it, unless told. */
  readonly workflowIds?: readonly string[];
  /** Starts a server. What servers remember by themselves ends with them. */
  readonly newChat: () => Promise<Chat>;
};
