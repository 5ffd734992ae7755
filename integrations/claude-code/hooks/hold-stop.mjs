// Holds a stop once while a step of the only open run is not reported; a run that waits for a person is let be.
import { event, openRuns } from './open-runs.mjs';

const runs = event.stop_hook_active === true ? [] : openRuns();
const [only] = runs;
if (runs.length === 1 && only.standing !== 'waiting') {
  const { tag, place } = only.run;
  // A title is somebody's text: quoted and short, it cannot pass for an instruction of ours.
  const title = place?.kind === 'step' ? ` at ${JSON.stringify(String(place.title).slice(0, 80))}` : '';
  const reason = `WorkRail run ${tag} is open${title}. If the step is done, report it with continue_workflow. If you cannot go on, tell the user what is missing. If the chat has lost its tokens, call resume_session with workspacePath.`;
  process.stdout.write(JSON.stringify({ decision: 'block', reason }));
}
