import { homedir } from 'node:os';
import { err, ok, type Result } from 'neverthrow';
import { nodeHasher, systemClock, timedUuid } from '../adapters/system.ts';
import { folderFacts } from '../adapters/workspace.ts';
import { type Bridge, bridge } from '../mcp/bridge.ts';

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
    newCallId: () => timedUuid(systemClock),
    place: { workingDir: process.cwd(), homeDir: homedir() },
    trouble: (message) => writeError(`workrail: ${message}\n`),
  });
  return ok(connected);
}
