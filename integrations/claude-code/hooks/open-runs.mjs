import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Older than this, a run is taken for left behind: it must not follow every chat in the folder. */
const FORGOTTEN_AFTER_MS = 2 * 60 * 60 * 1000;

/** What the client tells a hook. */
export const event = JSON.parse(readFileSync(0, 'utf8') || '{}');

/** Runs a command of WorkRail in the folder of the chat; nothing when it is not installed or fails. */
export function workrail(...args) {
  try {
    return execFileSync('workrail', args, { cwd: event.cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return undefined;
  }
}

/** The runs in this folder that an agent was at lately, the newest first. */
export function openRuns() {
  const answer = workrail('status', '--json');
  if (answer === undefined) return [];
  const { ok, data } = JSON.parse(answer);
  if (!ok) return [];
  const isRecent = ({ run }) => Date.now() - (run.lastAt ?? 0) < FORGOTTEN_AFTER_MS;
  return data.here.runs.filter(isRecent);
}
