import { type InspectedWorkflow, inspectWorkflow } from '../../app/catalog/inspect-workflow.ts';
import { defined, type JsonObject, quote } from '../../core/json/json-value.ts';
import type { Call } from '../../core/log/error-envelope.ts';
import { callText } from '../../core/prompt/reply/footer.ts';
import { visibleLine, visibleText } from '../../core/text/visible-text.ts';
import { asksForWords, plural } from '../../core/text/words.ts';
import type { CompiledStep } from '../../core/workflow/compiled/compiled-step.ts';
import type { CompiledWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';
import { indexWorkflow, positionOf, type WorkflowIndex } from '../../core/workflow/compiled/workflow-index.ts';
import { conditionText } from '../../core/workflow/outline/condition-text.ts';
import {
  type OutlinedLoop,
  type OutlinedStep,
  type OutlineEntry,
  workflowOutline,
} from '../../core/workflow/outline/workflow-outline.ts';
import { WORKFLOW_ID, WORKSPACE_PATH } from '../arguments/shared-arguments.ts';
import { defineTool } from '../tool.ts';
import { capabilityWords, placeText } from './list-workflows-tool.ts';

export const INSPECT_MODES = ['outline', 'full', 'metadata'] as const;

type InspectMode = (typeof INSPECT_MODES)[number];

export const inspectWorkflowTool = defineTool({
  name: 'inspect_workflow',
  title: 'Inspect a workflow',
  description:
    'Shows a workflow without starting it: steps, loops, conditions, required outputs, references and hash. Example: {"workflowId":"wr.first_steps"}',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  arguments: {
    workflowId: WORKFLOW_ID,
    mode: {
      kind: 'choice',
      about: 'outline (default): steps without prompts; full: everything; metadata: no steps.',
      values: INSPECT_MODES,
      synonyms: {
        summary: 'outline',
        steps: 'outline',
        preview: 'outline',
        all: 'full',
        detail: 'full',
        info: 'metadata',
      },
      mistakenFor: ['detail', 'level', 'view'],
    },
    workspacePath: WORKSPACE_PATH,
  },
  run: async (services, { workflowId, mode = 'outline', workspacePath }, { workspace }) => {
    const found = await inspectWorkflow(services, { workflowId, workspacePath: workspace });
    return found.map((inspected) => {
      const start = startCall(inspected, workspacePath);
      const outline = mode === 'metadata' ? [] : workflowOutline(inspected.listed.workflow);
      const shown = { inspected, mode, start, outline };
      return { text: visibleText(textOf(shown)), structured: structuredOf(shown) };
    });
  },
});

/** A project's workflow is found only if the call names the project again. */
function startCall({ listed }: InspectedWorkflow, workspacePath: string | undefined): Call {
  return { tool: 'start_workflow', arguments: defined({ workflowId: listed.id, workspacePath }) };
}

type Shown = {
  readonly inspected: InspectedWorkflow;
  readonly mode: InspectMode;
  readonly start: Call;
  readonly outline: readonly OutlineEntry[];
};

function textOf({ inspected, mode, start, outline }: Shown): string {
  const layout = { index: indexWorkflow(inspected.listed.workflow), mode, indent: '' };
  const steps = mode === 'metadata' ? [] : ['', ...entryLines(outline, layout)];
  return [...metadataText(inspected), ...steps, '', `Start it with ${callText(start).join('')}`].join('\n');
}

function structuredOf({ inspected, mode, start, outline }: Shown): JsonObject {
  return {
    kind: 'ok',
    workflow: shownMetadata(inspected, mode),
    ...(mode === 'metadata' ? {} : { steps: outline.map((entry) => shownEntry(entry, mode)) }),
    nextCall: { ...start },
  };
}

function shownMetadata({ listed, hash }: InspectedWorkflow, mode: InspectMode): JsonObject {
  const { id, kind, name, description, tags, idStatus, aliases, suggestedId, sourceKind, file, shadows, warnings } =
    listed;
  const { workflow } = listed;
  const { preconditions, clarificationPrompts, metaGuidance, references, recommended, capabilities } = workflow;
  const bound = projectBindings(workflow);
  const meant = conditionTexts(workflow);
  return {
    id,
    kind,
    name,
    description,
    tags,
    idStatus,
    ...(aliases.length === 0 ? {} : { aliases }),
    ...defined({ suggestedId }),
    hash,
    source: { kind: sourceKind, ref: file.ref, shadows: shadows.map(({ ref }) => ref) },
    stepCount: workflow.steps.length,
    loopCount: workflow.loops.length,
    contracts: workflow.contracts.map(({ contractRef }) => contractRef),
    references,
    preconditions,
    clarificationPrompts,
    ...defined({ arguments: workflow.arguments }),
    metaGuidance,
    capabilities,
    recommended,
    conditions: workflow.conditions.map(({ conditionId }) => conditionId),
    ...(meant.length === 0 ? {} : { conditionTexts: meant }),
    ...(bound.length === 0 ? {} : { projectBindings: bound }),
    warnings: [
      ...workflow.compiledWarnings,
      ...warnings.map(({ code, line, column, message }) => ({ code, line, column, message })),
    ],
    ...(mode === 'full' ? { definition: parts(workflow as unknown as JsonObject) } : {}),
  } as JsonObject;
}

function conditionTexts({ conditions }: CompiledWorkflow) {
  return conditions.map(({ conditionId, condition }) => ({ conditionId, when: conditionText(condition) }));
}

/** What the project put into the workflow, by extension point. */
function projectBindings({ origins = [] }: CompiledWorkflow) {
  const bound = origins.filter(({ source }) => source === 'project_binding');
  return [...new Map(bound.map(({ originId, text = '' }) => [originId, text]))].map(([slotId, text]) => ({
    slotId,
    text,
    pointers: bound.filter(({ originId }) => originId === slotId).map(({ pointer }) => pointer),
  }));
}

/** The compiled workflow without its steps, which are shown one by one. */
function parts({ steps: _, entries: __, ...rest }: JsonObject): JsonObject {
  return rest;
}

/** The metadata as text. Empty lists are left out. */
function metadataText({ listed, hash }: InspectedWorkflow): readonly string[] {
  const { id, name, description, tags, workflow } = listed;
  const { capabilities, recommended } = workflow;
  const { steps, loops, references, preconditions, clarificationPrompts, metaGuidance, contracts } = workflow;
  const { arguments: declared = [] } = workflow;
  return [
    visibleLine(`${id}: ${name}. ${description}`),
    `${plural(steps.length, 'step')}, ${plural(loops.length, 'loop')} · from ${placeText(listed)} · ${hash}`,
    ...section('Tags', tags),
    ...section('Recommended mode', recommended.autonomy === undefined ? [] : [recommended.autonomy]),
    ...section(
      'Recommended risk policy (how much advice warnings contain)',
      recommended.riskPolicy === undefined ? [] : [recommended.riskPolicy],
    ),
    ...section(
      'The agent should be able to use',
      Object.entries(capabilities).map(([capability, need]) => `${capabilityWords(capability)} (${need})`),
    ),
    ...section(
      'Arguments',
      declared.map(({ name, description, isRequired }) => `${name}: ${description}${isRequired ? '' : ' (optional)'}`),
    ),
    ...section('Preconditions', preconditions),
    ...section('Questions to clarify', clarificationPrompts),
    ...section('Rules for every step', metaGuidance),
    ...section(
      'Conditions',
      conditionTexts(workflow).map(({ conditionId, when }) => `${conditionId}: ${when}`),
    ),
    ...section(
      'Contracts',
      contracts.map(({ contractRef }) => contractRef),
    ),
    ...section(
      "From this project's .workrail/bindings.json, not from the author of the workflow",
      projectBindings(workflow).map(({ slotId, text }) => `${slotId}: ${quote(text)}`),
    ),
    ...section(
      'References',
      references.map(({ title, source, purpose }) => `${title} (${source}) ${purpose}`.trim()),
    ),
  ];
}

function section(title: string, items: readonly string[]): readonly string[] {
  if (items.length === 0) return [];
  return items.length === 1
    ? [`${title}: ${visibleLine(items[0] ?? '')}`]
    : [`${title}:`, ...items.map((item) => `- ${visibleLine(item)}`)];
}

function shownEntry(entry: OutlineEntry, mode: InspectMode): JsonObject {
  return entry.kind === 'step' ? shownStep(entry, mode) : shownLoop(entry, mode);
}

function shownStep({ step, when, asksFor }: OutlinedStep, mode: InspectMode): JsonObject {
  const { stepId, title, provenance, purpose } = step;
  return {
    kind: 'step',
    stepId,
    title,
    ...defined({ when }),
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
    ...defined({ when }),
    repeats,
    maxIterations,
    body: body.map((entry) => shownEntry(entry, mode)),
  };
}

type OutlineLayout = { readonly index: WorkflowIndex; readonly mode: InspectMode; readonly indent: string };

/** The outline as numbered lines; loop bodies are indented. A step has the same number as in replies; a loop has none. */
function entryLines(entries: readonly OutlineEntry[], layout: OutlineLayout): readonly string[] {
  const { index, mode, indent } = layout;
  return entries.flatMap((entry) => {
    if (entry.kind === 'loop') {
      return [`${indent}${loopLine(entry)}`, ...entryLines(entry.body, { ...layout, indent: `${indent}   ` })];
    }
    const prompt = mode === 'full' ? promptLines(entry.step).map((line) => `${indent}   ${line}`) : [];
    return [`${indent}${positionOf(index, entry.step.stepId)}. ${stepLine(entry)}`, ...prompt];
  });
}

function stepLine({ step, when, asksFor }: OutlinedStep): string {
  const { stepId, title, provenance } = step;
  const parts = [
    `${visibleLine(title)} (${stepId})`,
    ...(when === undefined ? [] : [`when ${when}`]),
    ...(asksFor.length === 0 ? [] : [asksForWords(asksFor)]),
    ...(provenance.source === 'authored' ? [] : [`from ${provenance.originId}`]),
  ];
  return parts.join(' · ');
}

function loopLine({ loop, when, repeats }: OutlinedLoop): string {
  const parts = [
    `Loop: ${visibleLine(loop.title)} (${loop.loopId})`,
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
