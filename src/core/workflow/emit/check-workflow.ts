import { canonicalLength } from '../../json/canonical-json.ts';
import { quote } from '../../json/json-value.ts';
import { LOOP_IDS_LENGTH_MAX, STEP_BYTES_MAX, STEP_ID_LENGTH_MAX, WORKFLOW_ENTRIES_MAX } from '../../log/budgets.ts';
import { shortList } from '../../text/words.ts';
import type { CompiledStep } from '../compiled/compiled-step.ts';
import { endlessReferences, referencesOf } from '../compiled/condition-references.ts';
import { type CompilerFinding, unknownName } from '../diagnostics/diagnostic.ts';
import { SPLIT } from '../expand/expanded.ts';
import type { Uses } from '../format/reader.ts';
import type { StandardStep } from '../format/step-fields.ts';
import type { WorkflowSyntax } from '../format/workflow-fields.ts';
import { type CompilePattern, explainPatternRefusal } from '../pattern.ts';
import type { Emission } from './emission.ts';

/** Compiling a pattern takes milliseconds at worst, and listing workflows compiles them all. */
export const PATTERNS_MAX = 100;

/** Checks what was written wherever conditions and patterns may stand. */
export function checkUses(
  uses: Uses,
  { conditions }: WorkflowSyntax,
  { compilePattern, findings }: { readonly compilePattern: CompilePattern; readonly findings: CompilerFinding[] },
): void {
  const known = conditions.map(({ conditionId }) => conditionId);
  const declared = new Set(known);
  for (const { at, conditionId } of uses.conditions) {
    if (!declared.has(conditionId)) findings.push(unknownName('condition', at, { name: conditionId, known }));
  }
  const tooMany = uses.patterns[PATTERNS_MAX];
  if (tooMany !== undefined) {
    const message = `A workflow may have ${PATTERNS_MAX} patterns; this is one more. Use fewer patterns, or "contains".`;
    findings.push({ code: 'bad_pattern', severity: 'error', at: tooMany.at, message });
  }
  for (const { at, pattern, flags } of uses.patterns.slice(0, PATTERNS_MAX)) {
    const compiled = compilePattern(pattern, flags);
    if (compiled.isOk()) continue;
    findings.push({ code: 'bad_pattern', severity: 'error', at, message: explainPatternRefusal(compiled.error) });
  }
}

/** Named conditions may refer to each other, but not in a circle. */
export function checkCycles({ conditions }: WorkflowSyntax, findings: CompilerFinding[]): void {
  const references = new Map(conditions.map(({ conditionId, condition }) => [conditionId, referencesOf(condition)]));
  // A condition that refers to nothing that is left cannot be in a circle; what remains in the end can.
  const leading = endlessReferences(references);
  const backwards = new Map([...leading].map((id) => [id, [] as string[]]));
  for (const id of leading) for (const to of references.get(id) ?? []) backwards.get(to)?.push(id);
  const circle = endlessReferences(backwards);
  for (const { conditionId, at } of conditions) {
    if (!circle.has(conditionId)) continue;
    const message = `The condition "${conditionId}" refers to itself, directly or through others. Break the circle.`;
    findings.push({ code: 'condition_cycle', severity: 'error', at, message });
  }
}

export function checkAssessmentReferences(step: StandardStep, { assessments, findings }: Emission): void {
  const known = [...assessments.keys()];
  for (const { id, at } of step.assessmentRefs) {
    if (!assessments.has(id)) findings.push(unknownName('assessment', at, { name: id, known }));
  }
  const own = [...new Set(step.assessmentRefs.map(({ id }) => id))];
  if (step.consequences.length === 0) return;
  if (own.length === 0) {
    const [{ at } = { at: step.at }] = step.consequences;
    findings.push({
      code: 'unknown_level',
      severity: 'error',
      at: `${at}/when/anyEqualsLevel`,
      message: judgesByNone(known),
    });
    return;
  }
  for (const { at, anyEqualsLevel, forAssessment } of step.consequences) {
    if (forAssessment !== undefined && !own.includes(forAssessment)) {
      findings.push(unknownName('assessment', `${at}/when/forAssessment`, { name: forAssessment, known: own }));
      continue;
    }
    const looked = forAssessment === undefined ? own : [forAssessment];
    if (looked.some((id) => !assessments.has(id))) continue;
    const there = [
      ...new Set(looked.flatMap((id) => assessments.get(id)?.dimensions.flatMap(({ levels }) => levels) ?? [])),
    ];
    if (there.some((level) => level.toLowerCase() === anyEqualsLevel.toLowerCase())) continue;
    findings.push({
      code: 'unknown_level',
      severity: 'error',
      at: `${at}/when/anyEqualsLevel`,
      message: `No dimension of this step's assessments has the level "${anyEqualsLevel}".`,
      unknown: { name: anyEqualsLevel, known: there },
    });
  }
}

function judgesByNone(known: readonly string[]): string {
  const advice =
    known.length === 0
      ? 'Declare one in "assessments" and name it in the "assessmentRefs" of the step.'
      : `Add "assessmentRefs": [${shortList(known.map(quote))}] to it.`;
  return `The step judges by no assessment. ${advice}`;
}

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
