import type { Damage } from '../../core/log/health.ts';

/** The world failed the store. `place` is relative to the store. */
export type StoreFailure =
  | { readonly code: 'io_failed'; readonly operation: string; readonly place: string; readonly cause: string }
  /** Somebody else is at what must not be disturbed, and it did not end in time. Nothing was done. */
  | { readonly code: 'busy'; readonly running: 'collection' | 'key_rotation'; readonly holder: string | undefined }
  /** The file of a lock that we held was deleted, so others may be writing too. Nothing was recorded. */
  | { readonly code: 'lock_lost'; readonly place: string }
  | { readonly code: 'damaged'; readonly damage: Damage }
  /** Something secret lies open to other users. The modes are octal, as `chmod` takes them. */
  | { readonly code: 'unsafe_permissions'; readonly place: string; readonly found: string; readonly wanted: string }
  | {
      readonly code: 'unknown_version';
      readonly place: string;
      readonly offset: number;
      readonly version: string;
    };
