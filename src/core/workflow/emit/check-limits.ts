import { canonicalLength } from '../../json/canonical-json.ts';
import { LOOP_IDS_LENGTH_MAX, STEP_BYTES_MAX, STEP_ID_LENGTH_MAX, WORKFLOW_ENTRIES_MAX } from '../../log/budgets.ts';
import type { CompiledStep } from '../compiled/compiled-step.ts';
import type { CompilerFinding } from '../diagnostics/diagnostic.ts';
import { SPLIT } from '../expand/expansion-budget.ts';
import type { Emission } from './emission.ts';

/**
 * Checks that whatever a run of the workflow does at once can be recorded at once: that every step may be skipped, and
 * that the prompt of a step fits into a reply.
 */
export function checkEntryCount(entries: number, findings: CompilerFinding[]): void {
  // What the author wrote is counted where it stands; this is about what was put in besides.
  if (entries <= WORKFLOW_ENTRIES_MAX || findings.some(({ code }) => code === 'too_many_steps')) return;
  const message = `With the probes and decisions that the compiler adds, the workflow has ${entries} steps and loops; ${WORKFLOW_ENTRIES_MAX} are allowed. ${SPLIT}`;
  findings.push({ code: 'too_many_steps', severity: 'error', at: '/steps', message });
}

/** The ids of a loop and of those around it. */
export function checkLoopIds(ids: readonly string[], at: string, findings: CompilerFinding[]): void {
  const length = ids.join('').length;
  const outer = ids.slice(0, -1).join('').length;
  // One is enough: those further in are too long as well.
  if (length <= LOOP_IDS_LENGTH_MAX || outer > LOOP_IDS_LENGTH_MAX) return;
  const message = `The ids of this loop and of the loops around it have ${length} characters; ${LOOP_IDS_LENGTH_MAX} are allowed. Shorten them, or move the loop out.`;
  findings.push({ code: 'id_too_long', severity: 'error', at: `${at}/id`, message });
}

/** All that a step may show: its texts, and the assessments it asks for. */
export function checkStepSize(step: CompiledStep, at: string, emission: Emission): void {
  const { findings } = emission;
  const asked = step.assessmentIds.reduce((sum, id) => sum + assessmentBytes(id, emission), 0);
  const bytes = canonicalLength(step) + asked;
  if (bytes <= STEP_BYTES_MAX) return;
  const message = `This step has ${bytes} bytes with everything it may show; ${STEP_BYTES_MAX} are allowed. Move long texts into documents, or split the step.`;
  findings.push({ code: 'text_too_long', severity: 'error', at, message });
}

/** Measured once: many steps may ask for the same. */
function assessmentBytes(id: string, { assessments, measured }: Emission): number {
  const known = measured.get(id) ?? canonicalLength(assessments.get(id) ?? {});
  measured.set(id, known);
  return known;
}

/** Ids grow with every call they come through, and keys of the log have no room for endless ones. */
export function checkIdLength(id: string, at: string, { findings, longIds }: Emission): void {
  if (id.length <= STEP_ID_LENGTH_MAX || longIds.has(at)) return;
  // One is enough: all that a call stands for begins with the same ids.
  longIds.add(at);
  const message = `Joined with the ids of the calls around it, an id here has ${id.length} characters; ${STEP_ID_LENGTH_MAX} are allowed. Shorten the id of the call, or those in the template.`;
  findings.push({ code: 'id_too_long', severity: 'error', at: `${at}/id`, message });
}
