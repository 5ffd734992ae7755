// After a compaction, prints what the chat has lost; the client passes it to the agent.
import { attestWords, openRuns, workrail } from './open-runs.mjs';

const runs = openRuns();
if (runs.length === 1) {
  const resumed = workrail('session', 'resume', runs[0].sessionId) ?? '';
  const checks = resumed === '' ? '' : attestWords(runs[0].run.dueChecks).trim();
  process.stdout.write(checks === '' ? resumed : `${resumed.trimEnd()}\n\n${checks}\n`);
}
if (runs.length > 1) {
  process.stdout.write(
    `Several WorkRail runs are open in this folder (${runs.map(({ run }) => run.tag).join(', ')}). Call resume_session with workspacePath to see them, and continue the one that this chat was about.\n`,
  );
}
