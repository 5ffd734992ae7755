import type { Damage } from '../../core/log/health.ts';

/** The world failed the store. `place` is relative to the store. */
export type StoreFailure =
  | { readonly code: 'io_failed'; readonly operation: string; readonly place: string; readonly cause: string }
  | { readonly code: 'damaged'; readonly damage: Damage }
  | {
      readonly code: 'unknown_version';
      readonly place: string;
      readonly offset: number;
      readonly version: string;
    };
