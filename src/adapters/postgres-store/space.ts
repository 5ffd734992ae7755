import type { Sha256 } from '../../core/json/canonical-json.ts';
import type { Database, Statement } from './database.ts';

/** What all parts of a store in a database share. A store belongs to one space and cannot name another. */
export type SpaceParts = {
  readonly database: Database;
  readonly spaceId: number;
  readonly sha256: Sha256;
  /** Seals the keys that sign tokens, so that a dump of the database does not hold them. */
  readonly masterKey: () => Uint8Array;
};

/** The numbers of the kinds of content. */
export const CONTENT_KINDS = { snapshot: 1, artifact: 2, workflow: 3 } as const;
export type ContentKind = (typeof CONTENT_KINDS)[keyof typeof CONTENT_KINDS];

/** A statement that is planned once per connection. */
export function sql(name: string, text: string): Statement {
  return { name: `wr_${name}`, text };
}

const PREFIX = 'sha256:';

/** A digest as its 32 bytes. */
export function digestBytes(digest: string): Buffer {
  return Buffer.from(digest.slice(PREFIX.length), 'hex');
}

export function digestText(bytes: Uint8Array): string {
  return PREFIX + Buffer.from(bytes).toString('hex');
}
