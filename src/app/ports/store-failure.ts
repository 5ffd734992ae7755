import type { Damage } from '../../core/log/health.ts';

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
  | { readonly code: 'damaged'; readonly damage: Damage }
  /** A secret file can be read by other users. Modes are octal, as for `chmod`. */
  | { readonly code: 'unsafe_permissions'; readonly place: string; readonly found: string; readonly wanted: string }
  | {
      readonly code: 'unknown_version';
      readonly place: string;
      readonly offset: number;
      readonly version: string;
    };
