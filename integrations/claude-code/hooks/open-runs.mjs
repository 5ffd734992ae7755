import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** An older run counts as abandoned, so that it does not appear in every chat of the folder. */
const ABANDONED_AFTER_MS = 2 * 60 * 60 * 1000;
const TIMEOUT_MS = 8_000;

/** The input of the hook from the client. */
export const event = parsed(readFileSync(0, 'utf8')) ?? {};

/** Runs a workrail command in the folder of the chat; `undefined` if it is not installed or fails. */
export function workrail(...args) {
  const options = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], timeout: TIMEOUT_MS };
  try {
    return execFileSync('workrail', args, { ...options, ...(typeof event.cwd === 'string' ? { cwd: event.cwd } : {}) });
  } catch {
    return undefined;
  }
}

/** The recently active open runs in this folder, newest first; none in case of doubt, because a hook must never fail. */
export function openRuns() {
  const runs = parsed(workrail('status', '--json') ?? '')?.data?.here?.runs;
  if (!Array.isArray(runs)) return [];
  const age = ({ run }) => Date.now() - run.lastAt;
  return runs.filter((one) => typeof one?.run?.lastAt === 'number' && age(one) >= 0 && age(one) < ABANDONED_AFTER_MS);
}

/** The commands that check the current step. Anything that does not look like one is left out: a workflow names them. */
export function attestWords(dueChecks) {
  const commands = (Array.isArray(dueChecks) ? dueChecks : [])
    .map((check) => String(check?.command))
    .filter((command) => /^workrail attest [0-9a-z]{4} [A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/.test(command));
  if (commands.length === 0) return '';
  return ` Its checks are run and recorded with ${commands.map((command) => `\`${command}\``).join(', ')}.`;
}

function parsed(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
