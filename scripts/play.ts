// Plays the built server with a scripted agent: it forgets what a step asks for, loses its place, goes back, and finishes.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

type Step = {
  readonly kind: 'ok' | 'blocked';
  readonly pending: { readonly stepId: string; readonly title: string } | null;
  readonly run: { readonly tag: string };
  readonly stateToken: string;
  readonly ackToken?: string;
  readonly nextCall: { readonly tool: string; readonly arguments: Record<string, unknown> } | null;
  readonly blockers: readonly { readonly message: string }[];
  readonly branch?: object;
};

/** More than any bundled workflow takes; whoever plays one that goes on for ever hears of it. */
const CALLS_MAX = 200;

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
} catch (failure) {
  say(failure instanceof Error ? failure.message : String(failure));
  process.exitCode = 1;
} finally {
  await client.close();
  rmSync(dataDir, { recursive: true, force: true });
}

async function play(): Promise<void> {
  say('A scripted agent plays a workflow against the built server, over MCP on stdio.\n');
  const { workflows } = await call<{ workflows: { id: string; description: string }[] }>('list_workflows', {});
  for (const { id, description } of workflows) say(`list_workflows      ${id}: ${description}`);

  const workflowId = process.argv[2] ?? 'wr.first_steps';
  const first = await call<Step>('start_workflow', { workflowId, goal: 'See how it works' });
  say(`start_workflow      run ${first.run.tag}, step "${first.pending?.title}"`);

  let step = await call<Step>('continue_workflow', { ackToken: first.ackToken });
  if (step.kind === 'blocked') say(`continue_workflow   reported nothing: blocked. ${step.blockers[0]?.message}`);
  step = await call<Step>('continue_workflow', { stateToken: step.stateToken });
  say(`continue_workflow   lost its place, asked again: step "${step.pending?.title}"`);
  await finish(step);

  const rewound = await call<Step>('continue_workflow', { stateToken: first.stateToken });
  if (rewound.branch !== undefined)
    say('continue_workflow   the chat was rewound: told what became of it, and that going on here branches');
  say('\nThe run is complete; every report was repeated and changed nothing.');
  say(`To let an agent use it: claude mcp add workrail -- node ${program} serve`);
}

/** Sends what each reply says to send next, every call twice. */
async function finish(from: Step): Promise<void> {
  let step = from;
  for (let calls = 0; step.nextCall !== null; calls++) {
    if (calls === CALLS_MAX) throw new Error(`not at the end after ${CALLS_MAX} calls, at "${step.pending?.title}"`);
    const { tool, arguments: args } = step.nextCall;
    const next = await call<Step>(tool, args);
    const replayed = await call<Step>(tool, args);
    if (JSON.stringify(replayed) !== JSON.stringify(next)) throw new Error('a repeated call gave another reply');
    const outcome = next.kind === 'blocked' ? `blocked: ${next.blockers[0]?.message}` : 'done';
    say(`${tool}   "${step.pending?.title}" ${outcome}${next.pending ? `, next "${next.pending.title}"` : ''}`);
    step = next;
  }
}

async function call<Reply>(name: string, args: Record<string, unknown>): Promise<Reply> {
  const result = await client.callTool({ name, arguments: args });
  if (result.isError === true) {
    const { error } = result.structuredContent as { error?: { message: string; suggestion: string } };
    throw new Error(`${name} was refused: ${error?.message ?? ''} ${error?.suggestion ?? ''}`);
  }
  return result.structuredContent as Reply;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
