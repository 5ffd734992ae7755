import * as z from 'zod';
import { AUDIT_FINDING_KINDS, DAMAGE_REASONS, salvageSchema } from '../log/health.ts';
import { plainDigestSchema, SessionId } from '../log/ids.ts';
import { signatureStateSchema } from '../log/log-signatures.ts';
import { SETTING_NAMES, type SettingName } from '../settings/setting-keys.ts';
import { workflowSourceEntrySchema } from '../sources.ts';
import { gateShape } from './approval-shapes.ts';
import { count, moment } from './list-shapes.ts';

export const settingNameShape = z.enum(SETTING_NAMES as readonly [SettingName, ...SettingName[]]);
const settingValueShape = z.union([z.string(), z.boolean(), z.number(), z.array(z.string()).readonly()]);

const settingOriginShape = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('default') }),
  z.strictObject({ kind: z.enum(['user', 'workspace']), file: z.string() }),
  z.strictObject({ kind: z.literal('variable'), name: z.string() }),
]);

export const settingShape = z.strictObject({
  key: settingNameShape,
  value: settingValueShape,
  origin: settingOriginShape,
});

export const configListData = z.strictObject({
  settings: z.array(settingShape),
  /** A fingerprint of the values in effect. */
  hash: z.string(),
  problems: z.array(z.string()),
  /** Values of the project or the environment that are looser than what applies, and ignored. */
  ignored: z.array(z.string()),
});

export const configSetData = z.strictObject({
  key: settingNameShape,
  /** Null if the setting was removed. */
  value: settingValueShape.nullable(),
  file: z.string(),
  isChanged: z.boolean(),
});

/** A setting that a server reads when it starts, with what it found then. */
const appliedShape = z.strictObject({ key: settingNameShape, value: settingValueShape, origin: settingOriginShape });
export type AppliedSetting = z.infer<typeof appliedShape>;

/** What a running server wrote about itself with its first append. */
export const serverRecordShape = z.object({
  v: z.literal(1),
  pid: z.int().min(1),
  version: z.string(),
  /** As the client named itself. */
  client: z.object({ name: z.string(), version: z.string() }).exactOptional(),
  transport: z.enum(['stdio', 'http']),
  port: z.int().exactOptional(),
  startedAt: moment,
  /** Of the settings that are read at the start. */
  appliedConfigHash: z.string(),
  applied: z.array(appliedShape),
  tools: z.array(z.string()),
});
export type ServerRecord = z.infer<typeof serverRecordShape>;

const changedSettingShape = z.strictObject({
  key: settingNameShape,
  applied: settingValueShape,
  desired: settingValueShape,
});

export const configServersData = z.strictObject({
  /** What a server that starts now would apply. */
  desired: z.strictObject({ hash: z.string(), settings: z.array(appliedShape) }),
  /** Servers that have appended something and still run, the latest start first. */
  servers: z.array(
    z.strictObject({
      ...serverRecordShape.omit({ v: true }).shape,
      client: z.strictObject({ name: z.string(), version: z.string() }).exactOptional(),
      /** What a restart would change. Values that the client sets by a variable stay. */
      changes: z.array(changedSettingShape),
      needsRestart: z.boolean(),
      /** How to restart it. */
      restart: z.string(),
    }),
  ),
});
export type ConfigServersData = z.infer<typeof configServersData>;

const healthShape = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('ready'),
    files: z.int().min(0),
    dir: z.string(),
    edited: z.int().min(1).exactOptional(),
  }),
  z.strictObject({ kind: z.literal('missing'), dir: z.string() }),
  z.strictObject({ kind: z.literal('outside'), dir: z.string(), target: z.string() }),
  z.strictObject({ kind: z.literal('not_installed'), package: z.string(), from: z.string() }),
  z.strictObject({ kind: z.literal('undeclared'), package: z.string(), dir: z.string() }),
]);

export const listedSourceShape = z.strictObject({ source: workflowSourceEntrySchema, health: healthShape });
const askedSourceShape = z.strictObject({
  ...listedSourceShape.shape,
  /** Whether a person accepted exactly this commit on this machine. Only then it is used. */
  isAccepted: z.boolean(),
  /** The workflow files in its copy; empty before it was fetched. */
  files: z.array(z.string()).readonly(),
});
export const sourceListData = z.strictObject({
  sources: z.array(listedSourceShape),
  /** What the repository in this folder asks for in `.workrail/sources.json`. */
  project: z
    .strictObject({ file: z.string(), sources: z.array(askedSourceShape), problem: z.string().exactOptional() })
    .exactOptional(),
});
export const sourceAcceptData = z.strictObject({
  file: z.string(),
  sources: z.array(askedSourceShape),
  /** False if all of them were already accepted. */
  isChanged: z.boolean(),
});
export const sourceRemoveData = z.strictObject({ source: workflowSourceEntrySchema });

export const sourceUpdateData = z.strictObject({
  sources: z.array(
    z.strictObject({
      name: z.string(),
      /** The commit it was pinned to, and the one it is pinned to now, or would be. */
      from: z.string(),
      to: z.string(),
      /** Why it was not moved. */
      problem: z.string().exactOptional(),
      /** With --dry-run: what the update would do to each workflow file. */
      changes: z
        .array(
          z.strictObject({
            file: z.string(),
            kind: z.enum(['added', 'removed', 'changed']),
            diff: z.array(z.string()).readonly(),
          }),
        )
        .readonly()
        .exactOptional(),
    }),
  ),
});

export const CLIENT_IDS = [
  'claude-code',
  'claude-desktop',
  'codex',
  'gemini',
  'cursor',
  'vscode',
  'windsurf',
  'zed',
  'opencode',
] as const;

const clientResult = z.strictObject({
  client: z.enum(CLIENT_IDS),
  name: z.string(),
  scope: z.enum(['user', 'project']),
  file: z.string(),
  result: z.enum([
    'registered',
    /** An entry that started something else was replaced. */
    'replaced',
    'unchanged',
    /** What would be done; nothing was changed. */
    'planned',
    /** An entry that starts something else was not changed. */
    'kept',
    'broken',
    'unreadable',
    'failed',
    /** Undone: the file is exactly as before. */
    'restored',
    /** Undone: there was no file before, so it was deleted. */
    'removed',
    /** Undone: the file was changed since, so only the WorkRail entry was removed. */
    'taken_out',
    /** Nothing to undo. */
    'nothing',
  ]),
  /** Whether the client's own command did it, or the file was edited. */
  via: z.enum(['command', 'file']).exactOptional(),
  /** For a project: whether a team can commit the entry (a command on the PATH, the package runner) or not. */
  form: z.enum(['path_command', 'package_runner', 'this_machine']).exactOptional(),
  /** The client's own command that would be run. */
  command: z.string().exactOptional(),
  /** The backup of the file. */
  backup: z.string().exactOptional(),
  /** The line of a broken file. */
  line: z.int().exactOptional(),
  problem: z.string().exactOptional(),
  diff: z.array(z.string()).exactOptional(),
});
export type ClientResult = z.infer<typeof clientResult>;

export const initData = z.strictObject({
  action: z.enum(['register', 'undo']),
  isDryRun: z.boolean(),
  clients: z.array(clientResult),
  /** What answers or hides the form in which a person decides, as doctor reports it. */
  forms: z.array(z.strictObject({ text: z.string(), fix: z.string().exactOptional() })).exactOptional(),
});
export type InitData = z.infer<typeof initData>;

export const CHECKS = [
  'node',
  'config',
  'data',
  'keyring',
  'locks',
  'index',
  'sessions',
  'versions',
  'clients',
  'forms',
  'sources',
] as const;

export const doctorData = z.strictObject({
  version: z.string(),
  dataDir: z.string(),
  findings: z.array(
    z.strictObject({
      check: z.enum(CHECKS),
      kind: z.enum(['good', 'note', 'fault', 'mended']),
      text: z.string(),
      /** The client whose registration was tried. */
      client: z.string().exactOptional(),
      fix: z.string().exactOptional(),
      /** Whether `--fix` can fix it. */
      isMendable: z.boolean(),
    }),
  ),
  totals: z.strictObject({ good: z.int(), note: z.int(), fault: z.int(), mended: z.int() }),
});
export type DoctorData = z.infer<typeof doctorData>;

const sessionIds = z.array(SessionId.schema);

export const gcData = z.strictObject({
  isDryRun: z.boolean(),
  olderThanDays: z.int().min(1),
  /** What was removed, or would be. Files and bytes include the data that only these sessions used. */
  removed: z.strictObject({ sessions: sessionIds, fromBin: sessionIds, files: count, bytes: count }),
  /** What remains, by reason. */
  stayed: z.strictObject({
    recent: count,
    kept: sessionIds,
    inUse: sessionIds,
    timeless: sessionIds,
    /** Deleted sessions that can still be restored. */
    inBin: count,
  }),
  /** With --dry-run: what the data folder holds now. */
  stored: z.strictObject({ dataDir: z.string(), files: count, bytes: count }).exactOptional(),
});
export type GcData = z.infer<typeof gcData>;

/** What can be restored. */
export const binData = z.strictObject({
  bin: z.array(z.strictObject({ sessionId: SessionId.schema, deletedAtMs: z.int().min(0) })),
});

/** The start of the keyid that `keys public` and passports name. */
const fingerprintShape = z.string().regex(/^[0-9a-f]{16}$/);

export const keysShape = z.strictObject({
  /** Signs tokens; null until the first key is created. */
  current: fingerprintShape.nullable(),
  /** Only verifies tokens; null before the first rotation. */
  previous: fingerprintShape.nullable(),
});

export const keysStatusData = z.strictObject({ dataDir: z.string(), keys: keysShape });
export const keysRotateData = z.strictObject({ before: keysShape, after: keysShape });

/** A path relative to the data directory. */
const storedPlace = z.string();

const damage = z.strictObject({ reason: z.enum(DAMAGE_REASONS), place: storedPlace, offset: count });

const auditedHealth = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('healthy') }),
  /** Only part of a session; it can be read and exported, but not continued. */
  z.strictObject({ kind: z.literal('salvaged'), salvage: salvageSchema }),
  z.strictObject({ kind: z.literal('corrupt_tail'), damage }),
  z.strictObject({ kind: z.literal('corrupt_head'), damage }),
  /** It cannot be read, so whether it is intact is unknown; `code` is the system's error. */
  z.strictObject({ kind: z.literal('unreadable'), place: storedPlace, code: z.string() }),
  z.strictObject({ kind: z.literal('unknown_version'), place: storedPlace, offset: count, version: z.string() }),
]);

const auditFinding = z.strictObject({
  severity: z.enum(['damage', 'note']),
  what: z.enum(AUDIT_FINDING_KINDS),
  place: storedPlace,
  /** Where in the file; absent if the whole file is meant. */
  offset: count.exactOptional(),
  reason: z.enum(DAMAGE_REASONS).exactOptional(),
  /** The unknown version. */
  version: z.string().exactOptional(),
  /** The system's error, if the file cannot be read. */
  code: z.string().exactOptional(),
});

export const sessionVerifyData = z.strictObject({
  /** The data directory that was checked. */
  dataDir: z.string(),
  sessions: z.array(
    z.strictObject({
      sessionId: SessionId.schema,
      health: auditedHealth,
      events: count,
      bytes: count,
      findings: z.array(auditFinding).readonly(),
      /** What the signatures show; checked with the keys of this store, or with those that were given. */
      signature: signatureStateSchema,
      /** The chain value after the last record. Keep it: nobody can change the history before it unnoticed. */
      head: plainDigestSchema.exactOptional(),
      /** With --approvers: every step that needed a signed answer and was done. */
      gates: z.array(gateShape).exactOptional(),
      /** With --head: the last event before it; absent if this log never had that head. */
      knownUntil: count.exactOptional(),
    }),
  ),
  /** With --approvers: the lines of the list that do not count. */
  notes: z.array(z.string()).exactOptional(),
  totals: z.strictObject({ sessions: count, damaged: count, events: count, bytes: count }),
});
export type SessionVerifyData = z.infer<typeof sessionVerifyData>;
