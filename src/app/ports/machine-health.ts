import type { Result } from 'neverthrow';
import type { ResolvedSettings } from '../../core/settings/resolve-settings.ts';
import type { KeyringStore } from './keyring-store.ts';
import type { Launch } from './machine.ts';
import type { SessionReader } from './session-store.ts';
import type { StoreFailure } from './store-failure.ts';
import type { StoreAudit } from './upkeep.ts';

/** A folder or file that others may look into. The modes are octal, as `chmod` takes them. */
export type OpenPlace = { readonly path: string; readonly found: string; readonly wanted: string };

export type DataFolder = {
  readonly path: string;
  /** `undefined` while it was never made. */
  readonly canWrite: boolean | undefined;
  readonly open: readonly OpenPlace[];
};

/** Summaries of sessions, which may be behind the sessions themselves. */
export type IndexUpkeep = {
  inspect(): Promise<Result<{ readonly total: number; readonly stale: number }, StoreFailure>>;
  rebuild(): Promise<Result<void, StoreFailure>>;
};

/** A client's way to start a server, and the environment that the client would give it. */
export type TrialLaunch = { readonly launch: Launch; readonly environment: ClientEnvironment };

/** All of a shell, the few variables that every program needs, or what a click on an icon gives. */
export type ClientEnvironment = 'shell' | 'few' | 'window';

/** What came of starting a server and going through a few steps with it. */
export type TrialResult =
  | { readonly kind: 'works'; readonly version: string; readonly tools: number; readonly ms: number }
  /** What does not exist any more: the program, or the script that it shall run. */
  | { readonly kind: 'stale'; readonly missing: string }
  | { readonly kind: 'fails'; readonly at: string; readonly said: string };

/** All that a look at a machine needs. */
export type MachineHealth = {
  readonly dataFolder: () => Promise<DataFolder>;
  /** Takes from others what they need not see; gives what could not be changed. */
  readonly closeToOthers: (places: readonly OpenPlace[]) => Promise<readonly string[]>;
  /** Whether the locks of the system can be used; else why not. */
  readonly nativeLock: () => Promise<{ readonly isLoaded: boolean; readonly cause?: string }>;
  readonly index: IndexUpkeep;
  readonly keyring: Pick<KeyringStore, 'find'>;
  readonly sessions: Pick<SessionReader, 'list'>;
  readonly audit: StoreAudit;
  /** The version of the package that a file belongs to, or else the one that the program tells when it is asked. */
  readonly versionOf: (programPath: string) => Promise<string | undefined>;
  readonly rehearse: (rehearsal: TrialLaunch) => Promise<TrialResult>;
  readonly config: () => Promise<ResolvedSettings>;
};
