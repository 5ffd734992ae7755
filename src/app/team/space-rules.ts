import { err, ok, type Result } from 'neverthrow';
import { canonicalLength } from '../../core/json/canonical-json.ts';
import type { SessionId } from '../../core/log/ids.ts';
import type { AppendPlan } from '../../core/log/plan/append-plan.ts';
import type { SpaceLimits } from '../../core/wire/team-paths.ts';
import type {
  AppendPermit,
  ExclusiveOptions,
  GateRefusal,
  LoadedSession,
  SessionStore,
} from '../ports/session-store.ts';
import type { StoreFailure } from '../ports/store-failure.ts';
import type { Clock } from '../ports/system-services.ts';
import type { SpaceAccess, SpaceSettings, SpaceUse } from '../ports/team-database.ts';

/** How long the settings of a space may be remembered: an admin who changes one waits no longer than this. */
const SETTINGS_MS = 5_000;

/** The rules of one space, as agents meet them. */
export type SpaceRules = {
  readonly settings: () => Promise<Result<SpaceSettings, StoreFailure>>;
  readonly sessionsFor: (principal: string, sessions: SessionStore) => SessionStore;
  readonly handedTo: SpaceAccess['handedTo'];
};

/** What of the access to a space its rules need. */
type RulesAccess = Pick<SpaceAccess, 'settings' | 'use' | 'handedTo'>;

/** All who ask about the same space share its rules, so that what is remembered of them is read once. */
export function spaceRules(access: () => Promise<Result<RulesAccess, unknown>>, clock: Clock): SpaceRules {
  let known: { readonly settings: SpaceSettings; readonly until: number } | undefined;

  async function opened(): Promise<Result<RulesAccess, StoreFailure>> {
    return (await access()).mapErr(() => ({
      code: 'unreachable' as const,
      operation: 'read access',
      retryAfterMs: SETTINGS_MS,
    }));
  }

  async function settings(): Promise<Result<SpaceSettings, StoreFailure>> {
    const now = clock.nowMs();
    if (known !== undefined && now < known.until) return ok(known.settings);
    const space = await opened();
    if (space.isErr()) return err(space.error);
    return (await space.value.settings()).map((read) => {
      known = { settings: read, until: now + SETTINGS_MS };
      return read;
    });
  }

  async function handedTo(sessionId: SessionId): Promise<Result<string | undefined, StoreFailure>> {
    const space = await opened();
    return space.isErr() ? err(space.error) : space.value.handedTo(sessionId);
  }

  const space = { opened, settings, handedTo };
  return { settings, handedTo, sessionsFor: ruledSessions(space, spaceFill(space, clock)) };
}

type Space = Pick<SpaceRules, 'settings' | 'handedTo'> & {
  readonly opened: () => Promise<Result<RulesAccess, StoreFailure>>;
};

/**
 * The sessions of a space, as somebody may continue them. Where only owners may, a run of somebody else is refused unless
 * it was given to the caller: to hold a token is not to own a run. A space that is full takes no new session; one that is
 * too large takes nothing more.
 */
function ruledSessions(space: Space, fill: SpaceFill): SpaceRules['sessionsFor'] {
  /** Who must be asked before somebody continues a session. */
  async function otherOwner(
    session: LoadedSession,
    principal: string,
  ): Promise<Result<string | undefined, GateRefusal>> {
    const settings = await space.settings();
    if (settings.isErr()) return err(settings.error);
    const [first] = session.view.graph.runs.values();
    const owner = first?.owner;
    if (settings.value.handover === 'space' || owner === undefined || owner === principal) return ok(undefined);
    const handed = await space.handedTo(session.sessionId);
    return handed.map((to) => (to === principal ? undefined : (to ?? owner)));
  }

  return (principal, sessions) => ({
    ...sessions,
    append: async (permit, plan) => {
      const appended = await sessions.append(permit, plan);
      if (appended.isOk()) fill.recorded(bytesOf(plan));
      return appended;
    },
    appendMany: (permit, plans) => sessions.appendMany(permit, counted(plans, fill)),
    exclusively: <Value, Refusal>(
      sessionId: SessionId,
      work: (session: LoadedSession | undefined, permit: AppendPermit) => Promise<Result<Value, Refusal>>,
      options?: ExclusiveOptions,
    ) =>
      sessions.exclusively<Value, Refusal | GateRefusal>(
        sessionId,
        async (session, permit) => {
          const owner = session === undefined ? ok(undefined) : await otherOwner(session, principal);
          if (owner.isErr()) return err(owner.error);
          if (owner.value !== undefined) return err({ code: 'not_owner', owner: owner.value });
          const isNew = session === undefined && options?.mustExist !== true;
          const reached = await fill.reached({ isNew });
          if (reached !== undefined) return err({ code: 'space_full', ...reached });
          const worked = await work(session, permit);
          if (worked.isErr() && isNew) fill.notStarted();
          return worked;
        },
        options,
      ),
  });
}

/** A part of them may be stored even if the whole is refused, so each counts. */
function* counted(plans: Iterable<AppendPlan>, fill: SpaceFill): Generator<AppendPlan> {
  for (const plan of plans) {
    fill.recorded(bytesOf(plan));
    yield plan;
  }
}

/** What a plan adds to a space, near enough until it is measured again. */
function bytesOf({ events, snapshots, artifacts }: AppendPlan): number {
  const values = [...events, ...snapshots.values()].reduce((sum, value) => sum + canonicalLength(value), 0);
  return [...artifacts.values()].reduce((sum, bytes) => sum + bytes.length, values);
}

type Reached = { readonly limit: keyof SpaceLimits; readonly max: number };

type SpaceFill = {
  /** Where it says nothing about a new session, that one is added to what was measured: others start at the same time. */
  readonly reached: (call: { readonly isNew: boolean }) => Promise<Reached | undefined>;
  /** The session was not started after all. */
  readonly notStarted: () => void;
  /** So many bytes were added since the space was measured. */
  readonly recorded: (bytes: number) => void;
};

/** Far below its limits a space is measured this often, beside the calls. */
const FAR_MS = 60_000;
/** From this share of a limit on, it is measured as often as settings are read, before a call goes on. */
const NEAR = 0.9;

/**
 * Measuring reads every session of the space, so no call counts by itself. What other replicas add between two
 * measurements can pass a limit by that much. If the database cannot say, the call goes on: its append fails by itself.
 */
function spaceFill({ opened, settings }: Space, clock: Clock): SpaceFill {
  let known: { readonly use: SpaceUse; started: number; readonly at: number } | undefined;
  /** What this server recorded since the measurement began, so that what it adds meanwhile is not lost. */
  let added = 0;
  let measuring: Promise<void> | undefined;

  async function measure(): Promise<void> {
    const at = clock.nowMs();
    const addedBefore = added;
    const space = await opened();
    const use = space.isOk() ? await space.value.use() : err(space.error);
    if (use.isErr()) return;
    known = { use: use.value, started: 0, at };
    added -= addedBefore;
  }

  function measured(): Promise<void> {
    measuring ??= measure().finally(() => {
      measuring = undefined;
    });
    return measuring;
  }

  function shares(limits: SpaceLimits): { readonly [limit in keyof SpaceLimits]: number } {
    const { openSessions = 0, bytes = 0 } = known?.use ?? {};
    return {
      openSessionsMax: (openSessions + (known?.started ?? 0)) / limits.openSessionsMax,
      bytesMax: (bytes + added) / limits.bytesMax,
    };
  }

  return {
    recorded: (bytes) => {
      added += bytes;
    },
    notStarted: () => {
      if (known !== undefined) known.started = Math.max(0, known.started - 1);
    },
    reached: async ({ isNew }) => {
      const read = await settings();
      if (read.isErr()) return undefined;
      const { limits } = read.value;
      const now = shares(limits);
      const isNear = now.bytesMax >= NEAR || (isNew && now.openSessionsMax >= NEAR);
      const age = clock.nowMs() - (known?.at ?? -FAR_MS);
      if (known === undefined || (isNear && age >= SETTINGS_MS)) await measured();
      else if (age >= FAR_MS) void measured();
      const { openSessionsMax, bytesMax } = shares(limits);
      if (bytesMax >= 1) return { limit: 'bytesMax', max: limits.bytesMax };
      if (isNew && openSessionsMax >= 1) return { limit: 'openSessionsMax', max: limits.openSessionsMax };
      if (isNew && known !== undefined) known.started += 1;
      return undefined;
    },
  };
}
