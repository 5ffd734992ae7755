import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLIENT_KINDS } from '../clients.ts';
import { type ThrowAway, throwAway } from '../setup/throw-away.ts';

/** A title of a window, colours in both spellings, text turned round, text unseen, and every kind of line break. */
export const HOSTILE =
  '\u001b[2J\u001b]0;owned\u0007\u009b31m\u202eabc\u2066\u200b\ufeff\u00ad\u{e0041}\u0000\r\nX\u2028Y\u0085\ttail';
/** The part of it that can stand in a file name and on a command line. */
export const TYPED = '\u001b[2J\u009b31m\u202e\u200b';

/** Whatever a terminal would obey, or hide. */
export const OBEYED = /[^\P{Cc}\n\t]|[\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}\u00ad\u200b\u2060\ufeff\u{e0000}-\u{e007f}]/u;

const LINE_OF_A_MEGABYTE = 'A'.repeat(1_000_000);
const LARGE = 'B'.repeat(200_000);

export type HostileMachine = ThrowAway & { readonly sessionId: string };

/** A home, a project and a session in which every text that somebody else may have written is hostile. */
export async function hostileMachine(): Promise<HostileMachine> {
  const machine = throwAway(`workrail-${TYPED}-`);
  const { work, env } = machine;
  machine.put('.cursor/mcp.json', `{"mcpServers":{"other":{"command":"${'\u202e'}"}}}`);
  mkdirSync(join(work, '.workrail', 'workflows'), { recursive: true });
  writeFileSync(join(work, '.workrail', 'workflows', 'team.hostile.json'), JSON.stringify(workflow('team.hostile')));
  // A workflow with such texts cannot be used, but it is listed and checked.
  const hidden = JSON.stringify(workflow('team.hidden', ` ${HOSTILE}`));
  writeFileSync(join(work, '.workrail', 'workflows', 'team.hidden.json'), hidden);
  writeFileSync(join(work, '.workrail', 'workflows', 'team.broken.json'), `{"id":"team.broken","${HOSTILE}":1}`);
  const git = (...args: string[]) => execFileSync('git', args, { cwd: work, env, stdio: 'ignore' });
  git('init', '--quiet', '--initial-branch', 'br\u202eanch\u200b');
  git('-c', 'user.name=test', '-c', 'user.email=test@example.org', 'commit', '--quiet', '--allow-empty', '-m', 'first');
  return { ...machine, sessionId: await branchedSession(machine) };
}

const workflow = (id: string, more = '') => ({
  id,
  name: `Name${more}`,
  description: `Description${more}`,
  about: `About${more}`,
  examples: [`Example of a goal${more}`],
  tags: ['hostile'],
  version: '1.0.0',
  steps: ['one', 'two', 'three'].map((one) => ({ id: one, title: `${one}${more}`, prompt: `Do ${one}${more}` })),
});

/** Blocked on its main line, with a branch and a checkpoint; notes, artifacts and context are large and hostile. */
async function branchedSession({ env, work }: ThrowAway): Promise<string> {
  const client = await CLIENT_KINDS['client 2.x']?.({ env, cwd: work });
  const call = async (name: string, args: Record<string, unknown>) =>
    (await client?.call(name, args))?.structuredContent as {
      readonly session: { readonly sessionId: string };
      readonly [token: `${string}Token`]: string;
    };
  const goal = `Goal ${HOSTILE}`;
  const context = { [`key ${HOSTILE}`]: HOSTILE, large: LARGE };
  const first = await call('start_workflow', { workflowId: 'team.hostile', goal, context, workspacePath: work });
  const artifact = { kind: `kind ${HOSTILE}`, [`field ${HOSTILE}`]: `${HOSTILE}${LARGE}` };
  const notesMarkdown = `Notes ${HOSTILE}\n\ud800 half\n${LINE_OF_A_MEGABYTE}`;
  const output = { notesMarkdown, artifacts: [artifact] };
  const second = await call('continue_workflow', { ackToken: first['ackToken'], output });
  const { checkpointToken, stateToken } = second;
  await call('checkpoint_workflow', { checkpointToken, output: { notesMarkdown: `Saved ${HOSTILE}` } });
  await call('continue_workflow', { ackToken: second['ackToken'], output: { notesMarkdown: `Left ${HOSTILE}` } });
  const again = await call('continue_workflow', { stateToken });
  await call('continue_workflow', { ackToken: again['ackToken'], context: { changed: HOSTILE } });
  await client?.close();
  return first.session.sessionId;
}
