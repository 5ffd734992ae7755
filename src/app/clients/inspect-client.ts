import type { ClientServices, FileTrouble, Launch, Machine } from '../ports/machine.ts';
import {
  type Client,
  type ClientScope,
  isSameLaunch,
  launchFor,
  launchForm,
  registeredLaunch,
  SERVE,
  SERVER_NAME,
} from './client.ts';
import { CLIENTS } from './client-list.ts';
import type { EntryEditor } from './edit/entry-editor.ts';
import { jsonEditor } from './edit/json-editor.ts';
import { tomlEditor } from './edit/toml-editor.ts';

/** What a client's file says about us. */
export type EntryState =
  | { readonly kind: 'absent' }
  /** `same`: as we would write it. `launch` is what it starts, if that is known. */
  | { readonly kind: 'same' | 'other'; readonly launch?: Launch }
  | ({ readonly kind: 'broken' } & FileTrouble)
  | { readonly kind: 'unreadable'; readonly cause: string };

export type InspectedClient = {
  readonly client: Client;
  readonly scope: ClientScope;
  readonly file: string;
  /** The content; `undefined` if the file does not exist. */
  readonly text: string | undefined;
  readonly state: EntryState;
  /** What our entry would start. */
  readonly wanted: Launch;
  /** The command of this program in it. */
  readonly words: readonly string[];
};

/** Where a client's entry is looked for, and what it should run; the server of this machine by default. */
export type WantedEntry = { readonly scope: ClientScope; readonly words?: readonly string[] };

/** Reads the file of a client; `undefined` if it has none for a project. */
export async function inspectClient(
  services: ClientServices,
  client: Client,
  { scope, words = SERVE }: WantedEntry,
): Promise<InspectedClient | undefined> {
  const file = await fileOf(services, client, scope);
  if (file === undefined) return undefined;
  const onPath = await services.commands.find('workrail');
  const wanted = launchFor(services.machine, { hasWindow: client.hasWindow, scope, onPath, words });
  const read = await services.files.read(file);
  const about = { client, scope, file, wanted, words };
  if (read.isErr()) return { ...about, text: undefined, state: { kind: 'unreadable', cause: read.error.cause } };
  return { ...about, text: read.value, state: stateOf(editorOf(services, client), read.value, about) };
}

export function editorOf({ parseToml }: Pick<ClientServices, 'parseToml'>, { format }: Client): EntryEditor {
  return format === 'toml' ? tomlEditor(parseToml) : jsonEditor;
}

/** Why an entry cannot be replaced, even with force. */
export function replaceTrouble(
  services: ClientServices,
  { client, text, wanted }: InspectedClient,
): FileTrouble | undefined {
  const edited = editorOf(services, client).put(text ?? '', entryPlace(client), client.entry(wanted));
  return 'trouble' in edited ? edited.trouble : undefined;
}

export function entryPlace({ key }: Client): { readonly key: string; readonly name: string } {
  return { key, name: SERVER_NAME };
}

type About = Pick<InspectedClient, 'client' | 'scope' | 'wanted' | 'words'>;

function stateOf(editor: EntryEditor, text: string | undefined, { client, scope, wanted, words }: About): EntryState {
  if (text === undefined) return { kind: 'absent' };
  const found = editor.find(text, entryPlace(client));
  if ('trouble' in found) return { kind: 'broken', ...found.trouble };
  if (found.entry === undefined) return { kind: 'absent' };
  const launch = registeredLaunch(found.entry);
  if (launch === undefined) return { kind: 'other' };
  // What a colleague committed is ours too, even if this machine would have written the other form.
  const isMeant = launch.args.slice(-words.length).join(' ') === words.join(' ');
  const isShared = scope === 'project' && isMeant && launchForm(launch) !== 'this_machine';
  return { kind: isShared || isSameLaunch(launch, wanted) ? 'same' : 'other', launch };
}

async function fileOf(
  { machine, files }: ClientServices,
  client: Client,
  scope: ClientScope,
): Promise<string | undefined> {
  if (scope === 'project') return projectFileOf(machine, client);
  const candidates = client.userFiles(machine);
  for (const candidate of candidates) if (await files.exists(candidate)) return candidate;
  return candidates[0];
}

/** The file of a client in this folder; `undefined` if it has none for a project. */
export function projectFileOf({ join, workspace }: Machine, { projectFile }: Client): string | undefined {
  return projectFile === undefined ? undefined : join(workspace, ...projectFile);
}

/** The clients that seem to be installed on this machine. */
export async function findClients({ machine, files, commands }: ClientServices): Promise<readonly Client[]> {
  const isInstalled = async ({ signs, command }: Client): Promise<boolean> => {
    for (const sign of signs(machine)) if (await files.exists(sign)) return true;
    return command !== undefined && (await commands.find(command.program)).length > 0;
  };
  const installed = await Promise.all(CLIENTS.map(isInstalled));
  return CLIENTS.filter((_, i) => installed[i]);
}

export type Registrations = {
  /** Clients where we are registered, for the user or for this folder. */
  readonly registered: readonly Client[];
  readonly installed: readonly Client[];
  /** Those of the registered ones that only a file of this folder registers. */
  readonly onlyHere: readonly Client[];
};

/** Which clients have us registered, by their files only. Nothing is started. */
export async function registrations(services: ClientServices): Promise<Registrations> {
  const installed = await findClients(services);
  const isIn = async (client: Client, scope: ClientScope): Promise<boolean> => {
    const kind = (await inspectClient(services, client, { scope }))?.state.kind;
    return kind === 'same' || kind === 'other';
  };
  const known = await Promise.all(
    CLIENTS.map(async (client) => ({
      client,
      // Programs leave files of their own behind, but a project's file is for everybody who works there.
      isUsers: installed.includes(client) && (await isIn(client, 'user')),
      isHere: await isIn(client, 'project'),
    })),
  );
  const registered = known.filter(({ isUsers, isHere }) => isUsers || isHere);
  return {
    installed,
    registered: registered.map(({ client }) => client),
    onlyHere: registered.filter(({ isUsers }) => !isUsers).map(({ client }) => client),
  };
}
