import { STEP_ID_LENGTH_MAX } from '../../log/budgets.ts';
import type { Emission } from './emission.ts';

/** Ids grow with every call they come through, and keys of the log have no room for endless ones. */
export function checkIdLength(id: string, at: string, { findings, longIds }: Emission): void {
  if (id.length <= STEP_ID_LENGTH_MAX || longIds.has(at)) return;
  // One is enough: all that a call stands for begins with the same ids.
  longIds.add(at);
  const message = `Joined with the ids of the calls it comes through, an id here has ${id.length} characters; ${STEP_ID_LENGTH_MAX} are allowed. Shorten the id of the call, or those inside of the template.`;
  findings.push({ code: 'id_too_long', severity: 'error', at: `${at}/id`, message });
}
