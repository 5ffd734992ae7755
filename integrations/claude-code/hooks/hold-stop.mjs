// Holds a stop once if the only open run has a step that was not reported, unless the run waits for the user.
import { attestWords, event, openRuns } from './open-runs.mjs';

const runs = event.stop_hook_active === true ? [] : openRuns();
const [only] = runs;
if (runs.length === 1 && only.standing !== 'waiting') {
  const { tag, place, dueChecks } = only.run;
  // A title comes from a workflow file: quoted and short, it cannot pass for an instruction.
  const title = place?.kind === 'step' ? ` at ${JSON.stringify(String(place.title).slice(0, 80))}` : '';
  const reason = `WorkRail run ${tag} is open${title}.${attestWords(dueChecks)} If the step is done, report it with continue_workflow. If you cannot continue, tell the user what is missing. If you no longer have its tokens, call resume_session with workspacePath.`;
  process.stdout.write(JSON.stringify({ decision: 'block', reason }));
}
