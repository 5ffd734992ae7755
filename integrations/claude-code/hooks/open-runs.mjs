import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Older than this, a run is taken for left behind: it must not follow every chat in the folder. */
const FORGOTTEN_AFTER_MS = 2 * 60 * 60 * 1000;
const TIMEOUT_MS = 8_000;

/** What the client tells a hook. */
export const event = parsed(readFileSync(0, 'utf8')) ?? {};

/** Runs a command of WorkRail in the folder of the chat; nothing when it is not installed or fails. */
export function workrail(...args) {
  const options = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], timeout: TIMEOUT_MS };
  try {
    return execFileSync('workrail', args, { ...options, ...(typeof event.cwd === 'string' ? { cwd: event.cwd } : {}) });
  } catch {
    return undefined;
  }
}

/** The runs in this folder that an agent was at lately, the newest first. A hook must never fail: none, when in doubt. */
export function openRuns() {
  const runs = parsed(workrail('status', '--json') ?? '')?.data?.here?.runs;
  if (!Array.isArray(runs)) return [];
  const age = ({ run }) => Date.now() - run.lastAt;
  return runs.filter((one) => typeof one?.run?.lastAt === 'number' && age(one) >= 0 && age(one) < FORGOTTEN_AFTER_MS);
}

function parsed(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
