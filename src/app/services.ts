import type { Result } from 'neverthrow';
import type { By } from '../core/log/events/event-envelope.ts';
import type { SessionId } from '../core/log/ids.ts';
import type { GateSettings, RunDefaults } from '../core/settings/settings-in-effect.ts';
import type { TokenForm } from '../core/token/token.ts';
import type { WorkflowCatalog } from './catalog/workflow-catalog.ts';
import type { FindApprovers } from './ports/approvers.ts';
import type { ArtifactStore, PinnedWorkflows, SnapshotStore } from './ports/content-stores.ts';
import type { KeyringStore } from './ports/keyring-store.ts';
import type { SessionIndex } from './ports/session-index.ts';
import type { MarkReader } from './ports/session-marks.ts';
import type { SessionLogs, SessionReader, SessionStore } from './ports/session-store.ts';
import type { Upkeep } from './ports/store.ts';
import type { StoreFailure } from './ports/store-failure.ts';
import type { AnswerIds, Clock, Hasher, Ids, PatternEngine } from './ports/system-services.ts';
import type { ReferenceFinder, WorkspaceObserver } from './ports/workspace-observer.ts';

/** What a read-only use case needs: nothing in it can append. */
export type ReadServices = {
  readonly sessions: SessionReader;
  readonly logs: SessionLogs;
  readonly sessionIndex: SessionIndex;
  readonly marks: MarkReader;
  readonly snapshots: SnapshotStore;
  readonly artifacts: ArtifactStore;
  readonly pinnedWorkflows: Pick<PinnedWorkflows, 'get'>;
  readonly keyring: Pick<KeyringStore, 'find' | 'known'>;
  readonly hasher: Hasher;
  readonly tokenForm: TokenForm;
  readonly catalog: WorkflowCatalog;
  readonly patterns: PatternEngine;
  /** What to type for `workrail` on this machine, with the data folder if it is not the default one. */
  readonly command?: string | undefined;
  /** The folder with everything that is stored, for people who look for something elsewhere. */
  readonly dataDir?: string | undefined;
  /** What applies to gates: the tightest of what is set for each of these folders. */
  readonly gateSettings: (folders: readonly string[]) => Promise<GateSettings>;
  /** Whom a session was handed over to, where that is recorded: they count as its owner, too. */
  readonly handedTo?: (sessionId: SessionId) => Promise<Result<string | undefined, StoreFailure>>;
};

/** The settings of this machine or workspace are invalid. The problem names the place. */
export type ConfigRefusal = { readonly code: 'config_broken'; readonly problem: string };

/** Everything the use cases need from outside. */
export type Services = ReadServices & {
  readonly sessions: SessionStore;
  readonly pinnedWorkflows: PinnedWorkflows;
  readonly keyring: KeyringStore;
  readonly workspace: WorkspaceObserver;
  readonly references: ReferenceFinder;
  /** The preferences of a run that is started without a mode, and what limits them: the tightest of all these folders. */
  readonly defaults: (folders: readonly string[]) => Promise<Result<RunDefaults, ConfigRefusal>>;
  /** How this call reached us. It is recorded with everything that the call appends. */
  readonly by?: By | undefined;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly answerIds: AnswerIds;
  /** Whose signatures count; absent where nobody can sign. */
  readonly approvers?: FindApprovers | undefined;
};

/** What reading the state of a run needs. */
export type PlaceServices = Pick<
  ReadServices,
  'command' | 'snapshots' | 'pinnedWorkflows' | 'patterns' | 'marks' | 'gateSettings' | 'handedTo' | 'hasher'
> &
  Partial<Pick<ReadServices, 'catalog'>>;

/** What judging an attempt, and recording a person's answer to it, needs. */
export type AnswerServices = PlaceServices &
  Pick<Services, 'sessions' | 'artifacts' | 'workspace' | 'hasher' | 'clock' | 'by' | 'approvers'>;

/** What viewing sessions needs: nothing in it can append. */
export type SessionsServices = Omit<ReadServices, 'catalog' | 'patterns' | 'gateSettings' | 'handedTo'> &
  Pick<Services, 'workspace' | 'clock'>;

/** What changing and removing sessions from the command line needs. */
export type UpkeepServices = Pick<Services, 'sessions' | 'sessionIndex' | 'snapshots' | 'clock' | 'hasher' | 'by'> &
  Pick<ReadServices, 'pinnedWorkflows'> &
  Omit<Upkeep, 'audit'>;
