import type { ErrorEnvelope } from '../../src/core/log/error-envelope.ts';
import type { ConsoleReply } from '../../src/core/wire/console-shapes.ts';

/** A bundle that is shown without being imported. It lives as long as the page. */
export type Viewed = {
  /** Stands for the id of the session in addresses. */
  readonly key: string;
  readonly file: File;
  readonly data: ConsoleReply<'session'>;
  /** Why it could not be imported as it is. */
  readonly problem: string | undefined;
  /** Answers what the pages ask the server for sessions of the store. */
  readonly read: (name: string, places: object, query: object) => Promise<unknown>;
};

const PREFIX = 'file-';
const opened = new Map<string, Viewed>();

export function viewedKey(sessionId: string): string {
  return `${PREFIX}${sessionId}`;
}

export function keepViewed(viewed: Viewed): void {
  opened.set(viewed.key, viewed);
}

/** Whether an address is about a file. */
export function isViewed(session: string | undefined): boolean {
  return session?.startsWith(PREFIX) === true;
}

export function viewedOf(session: string): Viewed | undefined {
  return opened.get(session);
}

export const NOT_OPEN: ErrorEnvelope = {
  code: 'SESSION_NOT_FOUND',
  message: 'This file is no longer open: the page was loaded again, and nothing of the file was kept.',
  suggestion: 'Open it again with "Open a file".',
  retry: { kind: 'not_retryable' },
};
