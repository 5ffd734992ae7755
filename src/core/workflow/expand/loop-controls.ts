import { loopControl } from '../builtins/run-contracts.ts';
import type { CompiledLoop, LoopControl } from '../compiled/compiled-loop.ts';
import type { CompilerFinding } from '../diagnostics/diagnostic.ts';
import type { WholeCondition } from '../format/syntax.ts';
import type { ExpandedEntry, ExpandedLoop } from './expanded.ts';
import { plainStep } from './generated-steps.ts';

const CONTRACT = loopControl.contractRef;

/** Named conditions, by which a loop may be controlled indirectly. */
export type NamedConditions = ReadonlyMap<string, WholeCondition>;

/** What decides whether a loop repeats. Problems with it are added to the findings. */
export function controlOf(
  loop: ExpandedLoop,
  named: NamedConditions,
  findings: CompilerFinding[],
): LoopControl | undefined {
  const { control } = loop;
  switch (control.kind) {
    case 'artifact':
      return control.contractRef === CONTRACT ? artifactControl : wrongContract(control.at, findings);
    case 'undeclared': {
      const { fallback } = control;
      const isDecided = hasDecision(loop);
      if (fallback !== undefined) return conditional(loop, fallback, { named, findings, isDecided });
      return isDecided ? artifactControl : withoutControl(loop, findings);
    }
    case 'unknown':
      return undefined;
    case 'while':
    case 'until':
      return conditional(loop, control, { named, findings, isDecided: false });
    case 'for':
      return { kind: 'for', count: countOf(loop, control.count, findings) };
    case 'for_each':
      return { kind: 'for_each', items: itemsOf(loop, control.items, findings) };
  }
}

/** Whether a loop does its body at least once, whatever is in context. */
export function isEntered({ runCondition, ...loop }: ExpandedLoop, named: NamedConditions): boolean {
  const { control } = loop;
  if (runCondition !== undefined) return false;
  switch (control.kind) {
    case 'artifact':
    case 'unknown':
      return true;
    case 'undeclared':
      return control.fallback === undefined || hasDecision(loop) || isByArtifact(control.fallback.condition, named);
    case 'while':
    case 'until':
      return isByArtifact(control.condition, named);
    case 'for':
      return typeof control.count === 'number' && control.count > 0;
    case 'for_each':
      return typeof control.items !== 'string' && control.items.length > 0;
  }
}

function isByArtifact(condition: WholeCondition, named: NamedConditions): boolean {
  return resolved(condition, named).kind === 'loop_control';
}

type Conditional = { readonly kind: 'while' | 'until'; readonly condition: WholeCondition };

/** A condition that stands for the loop-control artifact, or reads context, which is run as written. */
function conditional(
  loop: ExpandedLoop,
  { kind, condition }: Conditional,
  { named, findings, isDecided }: { named: NamedConditions; findings: CompilerFinding[]; isDecided: boolean },
): LoopControl {
  // What the condition says about the decision was checked: in either type of loop, "stop" ends it.
  if (isDecided || condition.kind === 'loop_control' || isByArtifact(condition, named)) return artifactControl;
  warnOfContext(loop, findings);
  return { kind, condition };
}

const artifactControl: LoopControl = { kind: 'artifact' };

/** Whether some step of the body hands in the decision. One in a loop inside decides about that loop. */
function hasDecision({ body }: ExpandedLoop): boolean {
  return body.some((entry) => entry.kind === 'step' && entry.step.syntax.output?.contractRef === CONTRACT);
}

/** The body, with the step that decides where the loop needs one and the author wrote none. */
export function bodyWithDecision(loop: ExpandedLoop, control: LoopControl): readonly ExpandedEntry[] {
  if (control.kind !== 'artifact' || hasDecision(loop)) return loop.body;
  const decision: ExpandedEntry = {
    kind: 'step',
    step: {
      syntax: {
        ...plainStep(loop, 'decide', `Decide: ${loop.title}`),
        isNotesOptional: true,
        prompt: decisionPrompt(loop),
        output: { at: loop.at, contractRef: CONTRACT, isRequired: true, hints: [] },
      },
      provenance: { source: 'template_injected', originId: CONTRACT },
      purpose: { kind: 'loop_decision', loopId: loop.loopId as CompiledLoop['loopId'] },
    },
  };
  return [...loop.body, decision];
}

function decisionPrompt({ title, maxIterations }: ExpandedLoop): string {
  return [
    `Decide whether "${title}" needs another round. Decide by what the last round achieved, not by how much effort it took.`,
    `Continue if another round would change the result; otherwise stop. There are at most ${maxIterations} rounds.`,
    'Give the reason in the summary.',
  ].join('\n\n');
}

/** Follows references; one that leads in a circle is reported elsewhere. */
function resolved(condition: WholeCondition, named: NamedConditions): WholeCondition {
  const seen = new Set<string>();
  let found = condition;
  while (found.kind === 'ref' && !seen.has(found.conditionId)) {
    seen.add(found.conditionId);
    found = named.get(found.conditionId) ?? { kind: 'always' };
  }
  return found;
}

function wrongContract(at: string, findings: CompilerFinding[]): undefined {
  const message = `Only the contract "${CONTRACT}" can control a loop. Use it here.`;
  findings.push({ code: 'unknown_contract', severity: 'error', at, message });
}

function withoutControl(loop: ExpandedLoop, findings: CompilerFinding[]): undefined {
  const message = `Nothing says when this loop ends. Give a step of its body the contract "${CONTRACT}", or give the loop a condition.`;
  findings.push({ code: 'loop_without_control', severity: 'error', at: loop.at, message });
}

function warnOfContext(loop: ExpandedLoop, findings: CompilerFinding[]): void {
  const message = `Context values decide about this loop, and an agent may forget to set them. Prefer a decision step with "${CONTRACT}".`;
  findings.push({ code: 'context_loop', severity: 'warning', at: loop.at, message });
}

type Count = Extract<LoopControl, { kind: 'for' }>['count'];
type Items = Extract<LoopControl, { kind: 'for_each' }>['items'];

function countOf(loop: ExpandedLoop, count: number | string, findings: CompilerFinding[]): Count {
  if (typeof count === 'string') return { kind: 'context', variable: count };
  checkLimit(loop, count, findings);
  return { kind: 'literal', count };
}

function itemsOf(loop: ExpandedLoop, items: string | readonly unknown[], findings: CompilerFinding[]): Items {
  if (typeof items === 'string') return { kind: 'context', variable: items };
  checkLimit(loop, items.length, findings);
  return { kind: 'literal', items: [...items] as Extract<Items, { kind: 'literal' }>['items'] };
}

function checkLimit({ at, maxIterations }: ExpandedLoop, rounds: number, findings: CompilerFinding[]): void {
  if (maxIterations === undefined || rounds <= maxIterations) return;
  const message = `This loop has ${rounds} rounds, but "maxIterations" allows ${maxIterations}. Raise the limit or reduce the rounds.`;
  findings.push({ code: 'loop_over_limit', severity: 'error', at: `${at}/loop/maxIterations`, message });
}
