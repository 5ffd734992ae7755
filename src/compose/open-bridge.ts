import { homedir } from 'node:os';
import { err, ok, type Result } from 'neverthrow';
import { otherDataDir } from '../adapters/data-dir.ts';
import { nodeFolderAccess } from '../adapters/sources/read-folder.ts';
import { workflowFiles } from '../adapters/sources/workflow-files.ts';
import { nodeHasher, systemClock, timedUuid } from '../adapters/system.ts';
import { folderFacts } from '../adapters/workspace.ts';
import { type Bridge, bridge } from '../mcp/bridge.ts';
import { bareDigest, type TextFile } from '../mcp/described-workflows.ts';

/** The server's limit for one message is four times as much. */
const TEXTS_LENGTH_MAX = 4_000_000;

/** Reads the workflow files of a project. What cannot be sent is named once. */
function projectWorkflows(trouble: (message: string) => void): (folder: string) => Promise<readonly TextFile[]> {
  const source = workflowFiles({}, nodeFolderAccess);
  const told = new Set<string>();
  return async (folder) => {
    const { files, bindings } = await source.files(folder);
    const sent: TextFile[] = [];
    let length = 0;
    for (const { ref, content } of bindings === undefined ? files : [...files, bindings]) {
      const text = content.kind === 'text' ? content.text : undefined;
      length += text?.length ?? 0;
      if (text !== undefined && length <= TEXTS_LENGTH_MAX) {
        sent.push({ ref, text, digest: bareDigest(text, nodeHasher.sha256) });
      } else if (!told.has(ref)) {
        told.add(ref);
        trouble(`The team server is not shown ${ref}: it cannot be read, or the project's workflows are too long.`);
      }
    }
    return sent;
  };
}

type Host = {
  /** Where the client started the bridge. */
  readonly workingDir: string;
  readonly writeError: (text: string) => void;
  /** What to type for `workrail`, with the data folder unless it is the default one. */
  readonly commandInReplies: (dataDir: string | undefined) => string;
};

/**
 * Connects a client on standard input and output to a team server. The credential is WORKRAIL_TOKEN, or else what a
 * person signed in for before: clients start servers to look at them, so this never opens a browser.
 */
export async function connectTo(
  url: URL,
  { workingDir, writeError, commandInReplies }: Host,
): Promise<Result<Bridge, { readonly code: 'not_signed_in' }>> {
  const given = process.env['WORKRAIL_TOKEN']?.trim() ?? '';
  const opened = given === '' ? await (await import('./open-sign-in.ts')).openSignIns() : undefined;
  if (opened?.signIns.has(url.href) === false) return err({ code: 'not_signed_in' });
  const connected = await bridge({
    url,
    token: async (refused) => opened?.signIns.token(url.href, refused) ?? ok(given),
    signInCommand: `${commandInReplies(opened && otherDataDir(opened.dataDir))} connect ${spaceOf(url)} --sign-in`,
    factsOf: (folder, { isTreeAsked }) => folderFacts(folder, { isTreeAsked, sha256: nodeHasher.sha256 }),
    workflowsOf: projectWorkflows((message) => writeError(`workrail: ${message}\n`)),
    newCallId: () => timedUuid(systemClock),
    place: { workingDir, homeDir: homedir() },
    trouble: (message) => writeError(`workrail: ${message}\n`),
  });
  return ok(connected);
}

/** The address as people write it. */
function spaceOf({ href }: URL): string {
  return href.replace(/\/mcp$/, '');
}
