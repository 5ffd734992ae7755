import type { Damage } from '../../core/log/health.ts';
import type { SessionId } from '../../core/log/ids.ts';

/** The settings that limit how much a session and the data directory may grow. */
export type StoreLimit = 'store.sessionMiB' | 'store.dailyMiB';

/** A failure outside of our control. `place` is relative to the store. */
export type StoreFailure =
  | { readonly code: 'io_failed'; readonly operation: string; readonly place: string; readonly cause: string }
  /** Another process holds a lock and did not release it in time. Nothing was done. */
  | { readonly code: 'busy'; readonly running: 'collection' | 'key_rotation'; readonly holder: string | undefined }
  /** The file of our lock was deleted, so others may be writing too. Nothing was recorded. */
  | { readonly code: 'lock_lost'; readonly place: string }
  /** A limit on what may be stored is reached. Nothing was recorded; the user can raise the setting. */
  | { readonly code: 'limit_reached'; readonly setting: StoreLimit; readonly maxMiB: number }
  /** The database does not answer. Nothing is lost, and the same call can be sent again. */
  | { readonly code: 'unreachable'; readonly operation: string; readonly retryAfterMs: number }
  /** The database did not carry out a statement, for example because its disk is full. `cause` is its SQLSTATE. */
  | { readonly code: 'database_refused'; readonly operation: string; readonly cause: string }
  /** The database no longer has events that were acknowledged, for example after a standby took over. */
  | { readonly code: 'store_went_back'; readonly sessionId: SessionId; readonly known: number; readonly found: number }
  /** No master key that was given opens the keys of this space, or those of another one in the same database. */
  | { readonly code: 'master_key_unfit' }
  | { readonly code: 'damaged'; readonly damage: Damage }
  /** A secret file can be read by other users. Modes are octal, as for `chmod`. */
  | { readonly code: 'unsafe_permissions'; readonly place: string; readonly found: string; readonly wanted: string }
  | {
      readonly code: 'unknown_version';
      readonly place: string;
      readonly offset: number;
      readonly version: string;
    };

/** What is in the place of a file or a folder, for causes that say it. */
export const WRONG_KIND: { readonly [cause: string]: { readonly wanted: string; readonly found: string } | undefined } =
  {
    EISDIR: { wanted: 'file', found: 'a folder' },
    ENOTDIR: { wanted: 'folder', found: 'a file' },
    EFTYPE: { wanted: 'file', found: 'a pipe, a device or a socket' },
    ENXIO: { wanted: 'file', found: 'a pipe, a device or a socket' },
    EFBIG: { wanted: 'file', found: 'a file of more than 1 GiB' },
  };

/** The role of the connection lacks the right to do something. */
export const ROLE_REFUSED = '42501';
const SQL_STATES: { readonly [sqlState: string]: string | undefined } = {
  '53100': 'its disk is full',
  '53200': 'it has no memory left',
  [ROLE_REFUSED]: 'its role may not do that',
};

/** Why a database did not carry out a statement. */
export function sqlStateWords(cause: string): string {
  return SQL_STATES[cause] ?? `SQLSTATE ${cause}`;
}

/** The file that failures name, in the data folder. */
export const KEYRING_PLACE = 'keys/keyring.json';
