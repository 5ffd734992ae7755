// Plays the built server with a scripted agent: lists, starts, loses its place once, and finishes a workflow.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

type Step = {
  readonly pending: { readonly title: string; readonly prompt: string } | null;
  readonly run: { readonly tag: string; readonly workflowId: string };
  readonly stateToken: string;
  readonly ackToken?: string;
};

const dataDir = mkdtempSync(join(tmpdir(), 'workrail-play-'));
const client = new Client({ name: 'workrail-play', version: '0' });
const program = join(process.cwd(), 'dist', 'workrail.js');
await client.connect(
  new StdioClientTransport({
    command: process.execPath,
    args: [program, 'serve'],
    env: { WORKRAIL_DATA_DIR: dataDir },
  }),
);
try {
  await play();
} finally {
  await client.close();
  rmSync(dataDir, { recursive: true, force: true });
}

async function play(): Promise<void> {
  say('A scripted agent plays a workflow against the built server, over MCP on stdio.\n');
  const { workflows } = await call<{ workflows: { id: string; description: string }[] }>('list_workflows', {});
  for (const { id, description } of workflows) say(`list_workflows      ${id}: ${description}`);

  const workflowId = process.argv[2] ?? 'wr.first_steps';
  let step = await call<Step>('start_workflow', { workflowId });
  say(`start_workflow      run ${step.run.tag}, step "${step.pending?.title}"`);

  const again = await call<Step>('continue_workflow', { stateToken: step.stateToken });
  say(`continue_workflow   lost its place, asked again: step "${again.pending?.title}"`);

  while (step.pending !== null) {
    const done = { ackToken: step.ackToken, output: { notesMarkdown: `Did "${step.pending.title}".` } };
    const next = await call<Step>('continue_workflow', done);
    const replayed = await call<Step>('continue_workflow', done);
    if (JSON.stringify(replayed) !== JSON.stringify(next)) throw new Error('a repeated call gave another reply');
    say(`continue_workflow   "${step.pending.title}" done${next.pending ? `, next "${next.pending.title}"` : ''}`);
    step = next;
  }
  say('\nThe run is complete; every report was repeated and changed nothing.');
  say(`To let an agent use it: claude mcp add workrail -- node ${program} serve`);
}

async function call<Reply>(name: string, args: Record<string, unknown>): Promise<Reply> {
  const result = await client.callTool({ name, arguments: args });
  if (result.isError === true) throw new Error(JSON.stringify(result.content));
  return result.structuredContent as Reply;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
