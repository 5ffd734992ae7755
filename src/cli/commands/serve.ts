import { ok } from 'neverthrow';
import type { RunCommand } from '../command.ts';

export const serve: RunCommand = async ({ program, say }) => {
  if (program.terminal.isInput()) {
    say(['Serving MCP on standard input and output, for an agent client. Ctrl-C ends it.']);
    say([{ text: 'To register it: claude mcp add workrail -- workrail serve', style: 'dim' }]);
  }
  await program.serve();
  return ok({ kind: 'serving' });
};
