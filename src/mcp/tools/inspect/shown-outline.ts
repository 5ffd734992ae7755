import type { JsonObject } from '../../../core/json/json-value.ts';
import type { CompiledStep } from '../../../core/workflow/compiled/compiled-step.ts';
import type { CompiledWorkflow } from '../../../core/workflow/compiled/compiled-workflow.ts';
import { indexWorkflow, positionOf, type WorkflowIndex } from '../../../core/workflow/compiled/workflow-index.ts';
import {
  type OutlinedLoop,
  type OutlinedStep,
  type OutlineEntry,
  workflowOutline,
} from '../../../core/workflow/outline/workflow-outline.ts';
import type { InspectMode } from './inspect-mode.ts';

/** An entry of the outline as data; in full it is all that a run would be pinned to. */
export function shownEntry(entry: OutlineEntry, mode: InspectMode): JsonObject {
  return entry.kind === 'step' ? shownStep(entry, mode) : shownLoop(entry, mode);
}

function shownStep({ step, when, asksFor }: OutlinedStep, mode: InspectMode): JsonObject {
  const { stepId, title, provenance, purpose } = step;
  return {
    kind: 'step',
    stepId,
    title,
    ...(when === undefined ? {} : { when }),
    asksFor,
    ...(purpose.kind === 'work' ? {} : { purpose: purpose.kind }),
    provenance,
    ...(mode === 'full' ? { definition: step as unknown as JsonObject } : {}),
  };
}

function shownLoop({ loop, when, repeats, body }: OutlinedLoop, mode: InspectMode): JsonObject {
  const { loopId, stepId, title, maxIterations } = loop;
  return {
    kind: 'loop',
    loopId,
    stepId,
    title,
    ...(when === undefined ? {} : { when }),
    repeats,
    maxIterations,
    body: body.map((entry) => shownEntry(entry, mode)),
  };
}

/** The outline as numbered lines, bodies of loops set in. */
export function outlineText(workflow: CompiledWorkflow, mode: InspectMode): readonly string[] {
  return entryLines(workflowOutline(workflow), { index: indexWorkflow(workflow), mode, indent: '' });
}

type Told = { readonly index: WorkflowIndex; readonly mode: InspectMode; readonly indent: string };

/** A step has the number that replies give it; a loop has none of its own. */
function entryLines(entries: readonly OutlineEntry[], told: Told): readonly string[] {
  const { index, mode, indent } = told;
  return entries.flatMap((entry) => {
    if (entry.kind === 'loop') {
      return [`${indent}${loopLine(entry)}`, ...entryLines(entry.body, { ...told, indent: `${indent}   ` })];
    }
    const prompt = mode === 'full' ? promptLines(entry.step).map((line) => `${indent}   ${line}`) : [];
    return [`${indent}${positionOf(index, entry.step.stepId)}. ${stepLine(entry)}`, ...prompt];
  });
}

function stepLine({ step, when, asksFor }: OutlinedStep): string {
  const { stepId, title, provenance } = step;
  const parts = [
    `${title} (${stepId})`,
    ...(when === undefined ? [] : [`when ${when}`]),
    ...(asksFor.length === 0 ? [] : [`asks for ${asksFor.join(', ')}`]),
    ...(provenance.source === 'authored' ? [] : [`from ${provenance.originId}`]),
  ];
  return parts.join(' · ');
}

function loopLine({ loop, when, repeats }: OutlinedLoop): string {
  const parts = [
    `Loop: ${loop.title} (${loop.loopId})`,
    ...(when === undefined ? [] : [`when ${when}`]),
    repeats,
    `at most ${loop.maxIterations} times`,
  ];
  return parts.join(' · ');
}

function promptLines({ prompt, guidance, fragments }: CompiledStep): readonly string[] {
  const texts = [prompt, ...guidance.map((line) => `- ${line}`), ...fragments.map(({ text }) => text)];
  return texts.join('\n').split('\n');
}
