import type { Result } from 'neverthrow';
import type { SessionId } from '../../core/log/ids.ts';
import type { ResolvedSettings } from '../../core/settings/resolve-settings.ts';
import type { ServerRecord } from '../../core/wire/machine-shapes.ts';
import type { KeyringStore } from './keyring-store.ts';
import type { Launch } from './machine.ts';
import type { SessionReader } from './session-store.ts';
import type { StoreFailure } from './store-failure.ts';
import type { StoreAudit } from './upkeep.ts';

/** A folder or file that other users can read. Modes are octal, as for `chmod`. */
export type OpenPlace = { readonly path: string; readonly found: string; readonly wanted: string };

export type DataFolder = {
  readonly path: string;
  /** `undefined` if it does not exist yet. */
  readonly canWrite: boolean | undefined;
  readonly open: readonly OpenPlace[];
};

export type IndexInspection = {
  readonly total: number;
  readonly stale: number;
  /** Sessions that seem to be damaged, or whose origin does. Damage before the end of a session may be missing. */
  readonly suspects: readonly SessionId[];
};

/** The index of session summaries, which may be out of date. */
export type IndexUpkeep = {
  inspect(): Promise<Result<IndexInspection, StoreFailure>>;
  rebuild(): Promise<Result<void, StoreFailure>>;
};

/** How a client starts a server, and the environment it gives it. */
export type TrialLaunch = { readonly launch: Launch; readonly environment: ClientEnvironment };

/** All variables of a shell, a few standard ones, or those of a desktop program. */
export type ClientEnvironment = 'shell' | 'few' | 'window';

/** The result of starting a server and running a few steps. */
export type TrialResult =
  | { readonly kind: 'works'; readonly version: string; readonly tools: number; readonly ms: number }
  /** The missing program or script. */
  | { readonly kind: 'stale'; readonly missing: string }
  | { readonly kind: 'fails'; readonly at: string; readonly said: string };

/** What the checks of a machine need. */
export type MachineHealth = {
  readonly dataFolder: () => Promise<DataFolder>;
  /** Removes the access of other users. Returns an error text for each place that could not be changed. */
  readonly closeToOthers: (places: readonly OpenPlace[]) => Promise<readonly string[]>;
  /** Whether native locks work; otherwise why not. */
  readonly nativeLock: () => Promise<{ readonly isLoaded: boolean; readonly cause?: string }>;
  readonly index: IndexUpkeep;
  readonly keyring: Pick<KeyringStore, 'find'>;
  readonly sessions: Pick<SessionReader, 'list'>;
  readonly audit: StoreAudit;
  /** The version of the package that a file belongs to, or the one that the program prints. */
  readonly versionOf: (programPath: string) => Promise<string | undefined>;
  readonly tryLaunch: (trialLaunch: TrialLaunch) => Promise<TrialResult>;
  readonly config: () => Promise<ResolvedSettings>;
  /** The sources that the project in this folder asks for and nobody accepted here, by name. */
  readonly unacceptedSources: () => Promise<readonly string[]>;
  /** Servers that run now and have appended something, latest start first. */
  readonly servers: () => Promise<readonly ServerRecord[]>;
  /** How many files the data folder holds, and their size. */
  readonly dataSize: () => Promise<{ readonly files: number; readonly bytes: number }>;
};
