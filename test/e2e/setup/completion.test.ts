import { spawn } from 'node:child_process';
import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLIENT_KINDS } from '../clients.ts';
import { SMALL_PROGRAM } from '../small-program.ts';
import { type ThrowAway, throwAway } from './throw-away.ts';

const TERMINAL = '/usr/bin/script';
const SHELLS = {
  bash: { command: 'bash --norc --noprofile -i', ready: [] },
  zsh: { command: 'zsh -f -i', ready: ['autoload -U compinit && compinit -u -D'] },
} as const;

let machine: ThrowAway;
beforeAll(async () => {
  machine = throwAway();
  symlinkSync(SMALL_PROGRAM, join(machine.root, 'bin', 'workrail'));
  const client = await CLIENT_KINDS['client 2.x']?.({ env: machine.env, cwd: machine.work });
  await client?.call('start_workflow', { workflowId: 'wr.first_steps', goal: 'Find the slow query' });
  await client?.call('start_workflow', { workflowId: 'wr.first_steps', goal: 'Make the README clearer' });
  await client?.close();
});
afterAll(() => machine.remove());

const isHere = (shell: string) =>
  existsSync(TERMINAL) && ['/bin', '/usr/bin'].some((bin) => existsSync(join(bin, shell)));

for (const [name, { command, ready }] of Object.entries(SHELLS)) {
  // Said aloud, because a test that is left out proves nothing.
  if (!isHere(name)) console.warn(`completion in ${name} is NOT tested: ${name} or ${TERMINAL} is not installed here`);

  describe.runIf(isHere(name))(`in a real ${name}`, () => {
    it('tab completes commands and workflow ids, and shows session ids with titles', async () => {
      const script = (await machine.run(['completion', name])).out;
      writeFileSync(join(machine.work, 'completion.sh'), script);
      const shell = typing(command, machine);
      for (const line of [...ready, 'source ./completion.sh', 'echo rea""dy']) shell.type(`${line}\n`);
      await shell.sees(/ready/);

      // The next keys wait for the end of the program, because what is typed while it ends can be lost.
      shell.type('workrail versi\t --json; echo en""ded\n');
      await shell.sees(/"command":"version"/);
      await shell.sees(/ended/);
      shell.type('workrail workflow show wr.fir\t');
      await shell.sees(/wr\.first_steps/);
      // Ctrl-U empties the line. Ids that begin alike take a third Tab: the first one only adds what they share.
      shell.type('\u0015workrail session show \t\t\t');
      await shell.sees(/Find the slow query/);
      await shell.sees(/Make the README clearer/);
      shell.type('\u0015exit\n');
      expect(await shell.ended).toBe(0);
    });
  });
}

/** A shell in a terminal of its own, to type into. */
function typing(command: string, { work, env }: ThrowAway) {
  const child = spawn(TERMINAL, ['-qec', command, '/dev/null'], { cwd: work, env: { ...env, TERM: 'xterm' } });
  let shown = '';
  const listeners = new Set<() => void>();
  child.stdout.on('data', (part: Buffer) => {
    shown += part.toString();
    for (const listener of listeners) listener();
  });
  return {
    ended: new Promise((resolve) => child.on('close', resolve)),
    type: (text: string) => child.stdin.write(text),
    /** Waits until it is shown; the time limit of the test ends what never is. */
    sees: (wanted: RegExp) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (!wanted.test(shown)) return;
          listeners.delete(look);
          resolve();
        };
        listeners.add(look);
        look();
      }),
  };
}

it('a title with escapes and quotes is one harmless line in a shell', async () => {
  const client = await CLIENT_KINDS['client 2.x']?.({ env: machine.env, cwd: machine.work });
  await client?.call('start_workflow', { workflowId: 'wr.first_steps', goal: '\u001b[2J$(touch hacked)\n`x`\t"' });
  await client?.close();
  const { out } = await machine.run(['completion', 'bash', '--complete', '--', 'session', 'show', '']);
  expect(out.split('\n').filter((line) => line !== '')).toHaveLength(3);
  expect(out).not.toContain('\u001b');
  expect(existsSync(join(machine.work, 'hacked'))).toBe(false);
});
