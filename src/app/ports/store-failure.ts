import type { Damage } from '../../core/log/health.ts';

/** The world failed the store. `place` is relative to the store. */
export type StoreFailure =
  | { readonly code: 'io_failed'; readonly operation: string; readonly place: string; readonly cause: string }
  | { readonly code: 'damaged'; readonly damage: Damage }
  /** Something secret lies open to other users. The modes are octal, as `chmod` takes them. */
  | { readonly code: 'unsafe_permissions'; readonly place: string; readonly found: string; readonly wanted: string }
  | {
      readonly code: 'unknown_version';
      readonly place: string;
      readonly offset: number;
      readonly version: string;
    };
