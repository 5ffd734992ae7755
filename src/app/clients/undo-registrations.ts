import { err, ok, type Result, safeTry } from 'neverthrow';
import * as z from 'zod';
import { ownJsonBytes } from '../../core/json/canonical-json.ts';
import { defined, type JsonValue, parseJson } from '../../core/json/json-value.ts';
import { CLIENT_IDS } from '../../core/wire/machine-shapes.ts';
import type { ClientServices, FileAccessFailure } from '../ports/machine.ts';
import type { Client, ClientId, ClientScope } from './client.ts';
import { CLIENTS } from './client-list.ts';
import { editorOf, entryPlace, projectFileOf } from './inspect-client.ts';

export type UndoOptions = {
  readonly isDry: boolean;
  /** `user`: the files of the user. `project`: the files in this folder, never those of another one. */
  readonly scope: ClientScope;
  /** Only these clients; empty means all. */
  readonly clients: readonly ClientId[];
};

/** The result for one change that init made. */
export type Undone = {
  readonly change: Change;
  /**
   * `restored`: the file is as it was, to the byte. `removed`: there was no file before, so it was removed.
   * `taken_out`: the file or its backup changed since, so only our entry was removed. `nothing`: the entry is already
   * gone.
   */
  readonly result: 'restored' | 'removed' | 'taken_out' | 'nothing' | 'failed';
  /** Why it failed, or what is wrong with the backup. */
  readonly trouble?: string;
};

/** Undoes what init did, latest change first. A change that cannot be undone stays recorded. */
export async function undoRegistrations(
  services: ClientServices,
  { isDry, scope, clients }: UndoOptions,
): Promise<Result<readonly Undone[], UndoLogTrouble>> {
  return safeTry(async function* () {
    const changes = yield* await readChanges(services);
    const undone: Undone[] = [];
    let left = [...changes];
    for (const change of changes.toReversed()) {
      if (change.scope !== scope || (scope === 'project' && !isHere(services, change))) continue;
      if (clients.length > 0 && !clients.includes(change.client)) continue;
      const step = await undo(services, change, isDry);
      undone.push(step);
      if (isDry || step.result === 'failed') continue;
      left = left.filter((one) => one !== change);
      // A backup that was changed is not ours to delete.
      if (change.backup !== null && step.trouble === undefined) await services.files.remove(change.backup);
      yield* await writeChanges(services, left);
    }
    return ok(undone);
  });
}

function isHere({ machine }: ClientServices, { client, file }: Change): boolean {
  return CLIENTS.some((one) => one.id === client && projectFileOf(machine, one) === file);
}

async function undo(services: ClientServices, change: Change, isDry: boolean): Promise<Undone> {
  const { files } = services;
  const now = await files.read(change.file);
  const before = change.backup === null ? ok(undefined) : await files.read(change.backup);
  if (now.isErr()) return failed(change, now.error);
  if (before.isErr()) return failed(change, before.error);
  const trouble = backupTrouble(services, change, before.value);
  if (now.value === undefined) return { change, result: 'nothing', ...defined({ trouble }) };
  if (trouble !== undefined) {
    const taken = await takeOut(services, change, { now: now.value, before: undefined, isDry });
    return { trouble, ...taken };
  }
  if (now.value === before.value) return { change, result: 'nothing' };
  if (textDigest(services, now.value) !== change.after) {
    return takeOut(services, change, { now: now.value, before: before.value, isDry });
  }
  const result = before.value === undefined ? 'removed' : 'restored';
  if (isDry) return { change, result };
  const done =
    before.value === undefined ? await files.remove(change.file) : await files.put(change.file, before.value);
  if (done.isErr()) return failed(change, done.error);
  await files.removeEmpty(change.madeFolders);
  return { change, result };
}

/** A backup is restored only if it is unchanged. */
function backupTrouble(
  services: ClientServices,
  { backup, backupDigest }: Change,
  text: string | undefined,
): string | undefined {
  if (backup === null) return undefined;
  if (text === undefined) return `the backup ${backup} is missing`;
  if (backupDigest === undefined || textDigest(services, text) === backupDigest) return undefined;
  return `the backup ${backup} was changed, so it was not restored. It stays there`;
}

type Meanwhile = { readonly now: string; readonly before: string | undefined; readonly isDry: boolean };

/** Restores the previous entry, or removes ours, and leaves everything else as it is now. */
async function takeOut(services: ClientServices, change: Change, { now, before, isDry }: Meanwhile): Promise<Undone> {
  const client = CLIENTS.find(({ id }) => id === change.client) as Client;
  const [editor, place] = [editorOf(services, client), entryPlace(client)];
  const former = before === undefined ? undefined : entryIn(editor.find(before, place));
  const current = editor.find(now, place);
  if ('trouble' in current) {
    return { change, result: 'failed', trouble: `line ${current.trouble.line}: ${current.trouble.problem}` };
  }
  if (current.entry === undefined) return { change, result: 'nothing' };
  const edited = former === undefined ? editor.remove(now, place) : editor.put(now, place, former as JsonValue);
  if ('trouble' in edited) return { change, result: 'failed', trouble: edited.trouble.problem };
  if (isDry) return { change, result: 'taken_out' };
  const put = await services.files.put(change.file, edited.text);
  return put.isErr() ? failed(change, put.error) : { change, result: 'taken_out' };
}

function entryIn(found: ReturnType<ReturnType<typeof editorOf>['find']>): unknown {
  return 'entry' in found ? found.entry : undefined;
}

function failed(change: Change, { path, cause }: FileAccessFailure): Undone {
  return { change, result: 'failed', trouble: `${path} (${cause})` };
}

const changeSchema = z.strictObject({
  client: z.enum(CLIENT_IDS),
  scope: z.enum(['user', 'project']),
  file: z.string(),
  /** The backup of the old content; null if there was no file. */
  backup: z.string().nullable(),
  /** Digest of the backup; older records have none. */
  backupDigest: z.string().exactOptional(),
  /** Digest of what we wrote; null while the client's own command runs. */
  after: z.string().nullable(),
  madeFolders: z.array(z.string()),
});
export type Change = z.infer<typeof changeSchema>;
const logSchema = z.strictObject({ v: z.literal(1), changes: z.array(changeSchema) });

/** Our record is not readable. */
export type UndoLogTrouble = FileAccessFailure | { readonly code: 'undo_log_broken'; readonly path: string };

type Notes = Pick<ClientServices, 'machine' | 'files'>;

/** Every change that can still be undone, oldest first. */
export async function readChanges(services: Notes): Promise<Result<readonly Change[], UndoLogTrouble>> {
  const path = logPath(services);
  const text = await services.files.read(path);
  if (text.isErr()) return err(text.error);
  if (text.value === undefined) return ok([]);
  const parsed = logSchema.safeParse(parseJson(text.value).unwrapOr(undefined));
  return parsed.success ? ok(parsed.data.changes) : err({ code: 'undo_log_broken', path });
}

/** After the last change the record itself is removed. */
export async function writeChanges(
  services: Notes,
  changes: readonly Change[],
): Promise<Result<void, FileAccessFailure>> {
  const { machine, files } = services;
  const folder = setupFolder(services);
  if (changes.length > 0) {
    return (await files.put(logPath(services), `${JSON.stringify({ v: 1, changes }, null, 2)}\n`)).map(() => undefined);
  }
  const removed = await files.remove(logPath(services));
  await files.removeEmpty([machine.join(machine.home, '.workrail'), folder]);
  return removed;
}

type Kept = { readonly file: string; readonly text: string; readonly changes: readonly Change[] };

/** Writes a backup under a number that no recorded or existing backup has. */
export async function keepBackup(
  services: Notes,
  { file, text, changes }: Kept,
): Promise<Result<string, FileAccessFailure>> {
  const name = /[^\\/]+$/.exec(file)?.[0] ?? 'file';
  for (let number = 1; ; number++) {
    const path = services.machine.join(setupFolder(services), `${String(number).padStart(4, '0')}-${name}`);
    if (changes.some(({ backup }) => backup === path) || (await services.files.exists(path))) continue;
    return (await services.files.put(path, text)).map(() => path);
  }
}

export function textDigest({ sha256 }: Pick<ClientServices, 'sha256'>, text: string): string {
  return sha256(ownJsonBytes(text.toWellFormed()));
}

function setupFolder({ machine }: Notes): string {
  return machine.join(machine.home, '.workrail', 'setup');
}

function logPath(services: Notes): string {
  return services.machine.join(setupFolder(services), 'changes.json');
}
