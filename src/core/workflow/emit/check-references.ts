import { endlessReferences, referencesOf } from '../compiled/condition-references.ts';
import { type CompilerFinding, unknownName } from '../diagnostics/diagnostic.ts';
import type { Uses } from '../format/reader.ts';
import type { StandardStep } from '../format/step-fields.ts';
import type { WorkflowSyntax } from '../format/workflow-fields.ts';
import { type CompilePattern, explainPatternRefusal } from '../pattern.ts';
import type { Emission } from './emission.ts';

/** Compiling a pattern takes milliseconds at worst, and listing workflows compiles them all. */
const PATTERNS_MAX = 100;

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
