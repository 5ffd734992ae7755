// After a compaction: what the chat has lost is printed, and the client gives it to the agent.
import { openRuns, workrail } from './open-runs.mjs';

const runs = openRuns();
if (runs.length === 1) process.stdout.write(workrail('session', 'resume', runs[0].sessionId) ?? '');
if (runs.length > 1) {
  process.stdout.write(
    `Several WorkRail runs are open in this folder (${runs.map(({ run }) => run.tag).join(', ')}). Call resume_session with workspacePath to see them, and go on with the one this chat was about.\n`,
  );
}
