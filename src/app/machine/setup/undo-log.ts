import { err, ok, Result } from 'neverthrow';
import * as z from 'zod';
import { assert } from '../../../core/assert.ts';
import { canonicalBytes } from '../../../core/json/canonical-bytes.ts';
import { CLIENT_IDS } from '../../clients/client.ts';
import type { ClientServices, FileAccessFailure } from './setup-services.ts';

const changeSchema = z.strictObject({
  client: z.enum(CLIENT_IDS),
  scope: z.enum(['user', 'project']),
  file: z.string(),
  /** Where what it held is kept; null when there was no file. */
  backup: z.string().nullable(),
  /** Digest of that; notes of earlier days have none. */
  backupDigest: z.string().exactOptional(),
  /** Digest of what we left there; null while the client's own command was at work. */
  after: z.string().nullable(),
  madeFolders: z.array(z.string()),
});
export type Change = z.infer<typeof changeSchema>;
const logSchema = z.strictObject({ v: z.literal(1), changes: z.array(changeSchema) });

/** Our notes are not as we write them. */
export type UndoLogTrouble = FileAccessFailure | { readonly code: 'undo_log_broken'; readonly path: string };

const parseJson = Result.fromThrowable((text: string): unknown => JSON.parse(text));

type Notes = Pick<ClientServices, 'machine' | 'files'>;

/** Every change that can still be taken back, oldest first. */
export async function readChanges(services: Notes): Promise<Result<readonly Change[], UndoLogTrouble>> {
  const path = logPath(services);
  const text = await services.files.read(path);
  if (text.isErr()) return err(text.error);
  if (text.value === undefined) return ok([]);
  const parsed = logSchema.safeParse(parseJson(text.value).unwrapOr(undefined));
  return parsed.success ? ok(parsed.data.changes) : err({ code: 'undo_log_broken', path });
}

/** With the last one gone, nothing of the log is left. */
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

/** Keeps a text in a file that no other backup has, or had that is on record and got lost. */
export async function keepBackup(
  services: Notes,
  { file, text, changes }: Kept,
): Promise<Result<string, FileAccessFailure>> {
  const name = /[^\\/]+$/.exec(file)?.[0] ?? 'file';
  for (let number = 1; ; number++) {
    const path = services.machine.join(setupFolder(services), `${String(number).padStart(4, '0')}-${name}`);
    if (changes.some(({ backup }) => backup === path) || (await services.files.isThere(path))) continue;
    return (await services.files.put(path, text)).map(() => path);
  }
}

export function textDigest({ sha256 }: Pick<ClientServices, 'sha256'>, text: string): string {
  const bytes = canonicalBytes(text.toWellFormed());
  assert(bytes.isOk(), 'a text is JSON');
  return sha256(bytes.value);
}

function setupFolder({ machine }: Notes): string {
  return machine.join(machine.home, '.workrail', 'setup');
}

function logPath(services: Notes): string {
  return services.machine.join(setupFolder(services), 'changes.json');
}
