import type { Result } from 'neverthrow';
import type { MarkStore } from './session-marks.ts';
import type { Store } from './store.ts';
import type { StoreFailure } from './store-failure.ts';

/** One change of the database's schema. */
export type MigrationStep = { readonly version: number; readonly title: string };

export type MigrationRefusal =
  /** A newer program has migrated the database. */
  | { readonly code: 'schema_newer'; readonly found: number; readonly known: number }
  /** A migration of this version was applied, but not the one of this program. */
  | { readonly code: 'schema_differs'; readonly version: number }
  | StoreFailure;

export type SpaceRefusal =
  | MigrationRefusal
  | { readonly code: 'not_migrated'; readonly missing: number }
  | { readonly code: 'space_unknown'; readonly name: string; readonly known: readonly string[] };

/** A space: one team's sessions, apart from those of every other space in the same database. */
export type Space = { readonly name: string; readonly sessions: number };

/** A database that holds the stores of teams. */
export type TeamDatabase = {
  /** Brings the schema up to date; returns what was done, or would be. */
  migrate(how: { readonly isDryRun: boolean }): Promise<Result<readonly MigrationStep[], MigrationRefusal>>;
  spaces(): Promise<Result<readonly Space[], SpaceRefusal>>;
  /** Returns false if a space of this name exists. */
  createSpace(name: string): Promise<Result<boolean, SpaceRefusal>>;
  /** Without a master key, the keys that sign tokens cannot be read or written. */
  openSpace(name: string, masterKey: Uint8Array | undefined): Promise<Result<SpaceStore, SpaceRefusal>>;
  close(): Promise<void>;
};

export type SpaceStore = Store & { readonly marks: MarkStore };
