import { err, ok, type Result, safeTry } from 'neverthrow';
import type { Flow } from '../../core/flow.ts';
import { unifiedDiff } from '../../core/text/line-diff.ts';
import type { ClientServices } from '../ports/machine.ts';
import { launchText } from './client.ts';
import { editorOf, entryPlace, type InspectedClient, inspectClient } from './inspect-client.ts';
import {
  type Change,
  keepBackup,
  readChanges,
  textDigest,
  type UndoLogTrouble,
  writeChanges,
} from './undo-registrations.ts';

export type RegisterOptions = {
  /** Only reports what would be done. */
  readonly isDry: boolean;
  /** Also replaces an entry that starts something else. */
  readonly isForced: boolean;
};

/** The result for one client. */
export type Registered = { readonly inspected: InspectedClient } & (
  | { readonly result: 'unchanged' | 'kept' | 'broken' | 'unreadable' }
  | { readonly result: 'registered' | 'replaced'; readonly via: 'command' | 'file'; readonly backup?: string }
  | {
      readonly result: 'planned';
      /** The client's own command, if that would be run. */
      readonly command?: string;
      readonly diff: readonly string[];
    }
  | { readonly result: 'failed'; readonly trouble: UndoLogTrouble }
);

/** Registers us with one client: by its own command if it is found, otherwise in its file. */
export async function registerClient(
  services: ClientServices,
  inspected: InspectedClient,
  { isDry, isForced }: RegisterOptions,
): Promise<Registered> {
  const { client, text, state } = inspected;
  if (state.kind === 'same') return { inspected, result: 'unchanged' };
  if (state.kind === 'broken' || state.kind === 'unreadable') return { inspected, result: state.kind };
  const edited = editorOf(services, client).put(text ?? '', entryPlace(client), client.entry(inspected.wanted));
  if ('trouble' in edited)
    return { inspected: { ...inspected, state: { kind: 'broken', ...edited.trouble } }, result: 'broken' };
  // An entry that cannot be replaced is reported first, so that nobody uses force in vain.
  if (state.kind === 'other' && !isForced) return { inspected, result: 'kept' };
  // The client's command only adds entries, so a replacement is made in the file.
  const command = state.kind === 'absent' ? await ownCommand(services, inspected) : undefined;
  if (isDry) {
    const diff = unifiedDiff(inspected.file, text, edited.text);
    const typed =
      command === undefined
        ? {}
        : { command: launchText({ command: client.command?.program ?? '', args: command.args }) };
    return { inspected, result: 'planned', ...typed, diff };
  }
  const changed = await change(services, inspected, { text: edited.text, command });
  if (changed.isErr()) return { inspected, result: 'failed', trouble: changed.error };
  return { inspected, result: state.kind === 'other' ? 'replaced' : 'registered', ...changed.value };
}

type OwnCommand = { readonly path: string; readonly args: readonly string[] };

async function ownCommand(
  { commands }: ClientServices,
  { client, scope, wanted }: InspectedClient,
): Promise<OwnCommand | undefined> {
  const args = client.command?.add(wanted, scope);
  if (client.command === undefined || args === undefined) return undefined;
  const [found] = await commands.find(client.command.program);
  return found === undefined ? undefined : { path: found.path, args };
}

type Planned = { readonly text: string; readonly command: OwnCommand | undefined };
type Changed = { readonly via: 'command' | 'file'; readonly backup?: string };

/** The old content is backed up and the change is recorded before anything is changed. */
async function change(
  services: ClientServices,
  inspected: InspectedClient,
  { text, command }: Planned,
): Promise<Result<Changed, UndoLogTrouble>> {
  return safeTry(async function* (): Flow<Changed, UndoLogTrouble> {
    const earlier = yield* await readChanges(services);
    const kept = yield* inspected.text === undefined
      ? ok(null)
      : await keepBackup(services, { file: inspected.file, text: inspected.text, changes: earlier });
    const begun: Change = {
      client: inspected.client.id,
      scope: inspected.scope,
      file: inspected.file,
      backup: kept,
      ...(inspected.text === undefined ? {} : { backupDigest: textDigest(services, inspected.text) }),
      after: command === undefined ? textDigest(services, text) : null,
      madeFolders: [],
    };
    const note = (last: Change) => writeChanges(services, [...earlier, last]);
    yield* await note(begun);
    const backup = kept === null ? {} : { backup: kept };

    let whole = text;
    if (command !== undefined) {
      await services.commands.run(command);
      const there = await inspectClient(services, inspected.client, inspected);
      if (there?.state.kind === 'same' && there.text !== undefined) {
        const done = await note({ ...begun, after: textDigest(services, there.text) });
        return done.map(() => ({ via: 'command', ...backup }));
      }
      // The command failed, or the client lists its servers elsewhere. The file is edited as the command left it.
      const { client, wanted } = inspected;
      const edited = editorOf(services, client).put(there?.text ?? '', entryPlace(client), client.entry(wanted));
      if ('text' in edited) whole = edited.text;
    }
    const put = await services.files.put(inspected.file, whole);
    if (put.isErr()) {
      await writeChanges(services, earlier);
      if (kept !== null) await services.files.remove(kept);
      return err(put.error);
    }
    const done = await note({ ...begun, after: textDigest(services, whole), madeFolders: [...put.value] });
    return done.map(() => ({ via: 'file', ...backup }));
  });
}
