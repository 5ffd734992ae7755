import { homedir } from 'node:os';
import { err, ok, type Result } from 'neverthrow';
import { nodeFolderAccess } from '../adapters/sources/read-folder.ts';
import { workflowFiles } from '../adapters/sources/workflow-files.ts';
import { nodeHasher, systemClock, timedUuid } from '../adapters/system.ts';
import { folderFacts } from '../adapters/workspace.ts';
import { type Bridge, bridge } from '../mcp/bridge.ts';
import { type TextFile, textDigest } from '../mcp/described-workflows.ts';

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
        sent.push({ ref, text, digest: textDigest(text, nodeHasher.sha256) });
      } else if (!told.has(ref)) {
        told.add(ref);
        trouble(`The team server is not shown ${ref}: it cannot be read, or the project's workflows are too long.`);
      }
    }
    return sent;
  };
}

/** Connects a client on standard input and output to a team server. The credential comes from the environment. */
export async function connectTo(
  url: URL,
  writeError: (text: string) => void,
): Promise<Result<Bridge, { readonly code: 'token_missing' }>> {
  const token = process.env['WORKRAIL_TOKEN']?.trim() ?? '';
  if (token === '') return err({ code: 'token_missing' });
  const connected = await bridge({
    url,
    token,
    factsOf: (folder, { isTreeAsked }) => folderFacts(folder, { isTreeAsked, sha256: nodeHasher.sha256 }),
    workflowsOf: projectWorkflows((message) => writeError(`workrail: ${message}\n`)),
    newCallId: () => timedUuid(systemClock),
    place: { workingDir: process.cwd(), homeDir: homedir() },
    trouble: (message) => writeError(`workrail: ${message}\n`),
  });
  return ok(connected);
}
