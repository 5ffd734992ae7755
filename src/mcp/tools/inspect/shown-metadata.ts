import type { InspectedWorkflow } from '../../../app/catalog/inspect-workflow.ts';
import type { JsonObject } from '../../../core/json/json-value.ts';
import type { InspectMode } from './inspect-mode.ts';

/** What a workflow is and where it comes from, as data. */
export function shownMetadata({ listed, hash }: InspectedWorkflow, mode: InspectMode): JsonObject {
  const { id, kind, name, description, tags, idStatus, aliases, suggestedId, sourceKind, file, shadows, warnings } =
    listed;
  const { workflow } = listed;
  const { preconditions, clarificationPrompts, metaGuidance, references, recommended, capabilities } = workflow;
  return {
    id,
    kind,
    name,
    description,
    tags,
    idStatus,
    ...(aliases.length === 0 ? {} : { aliases }),
    ...(suggestedId === undefined ? {} : { suggestedId }),
    hash,
    source: { kind: sourceKind, ref: file.ref, shadows: shadows.map(({ ref }) => ref) },
    stepCount: workflow.steps.length,
    loopCount: workflow.loops.length,
    contracts: workflow.contracts.map(({ contractRef }) => contractRef),
    references,
    preconditions,
    clarificationPrompts,
    metaGuidance,
    capabilities,
    recommended,
    conditions: workflow.conditions.map(({ conditionId }) => conditionId),
    warnings: [
      ...workflow.compiledWarnings,
      ...warnings.map(({ code, line, column, message }) => ({ code, line, column, message })),
    ],
    ...(mode === 'full' ? { definition: parts(workflow as unknown as JsonObject) } : {}),
  } as JsonObject;
}

/** What a run would be pinned to, less the steps, which are shown one by one. */
function parts({ steps: _, entries: __, ...rest }: JsonObject): JsonObject {
  return rest;
}

/** The same for reading. Lists that are empty are left out. */
export function metadataText({ listed, hash }: InspectedWorkflow): readonly string[] {
  const { id, name, description, tags, sourceKind, file, workflow } = listed;
  const { steps, loops, references, preconditions, clarificationPrompts, metaGuidance, contracts } = workflow;
  return [
    `${id}: ${name}. ${description}`,
    `${counted(steps.length, 'step')}, ${counted(loops.length, 'loop')} · ${sourceKind} ${file.ref} · ${hash}`,
    ...section('Tags', tags),
    ...section('Before it starts', preconditions),
    ...section('To be clarified', clarificationPrompts),
    ...section('Standing rules', metaGuidance),
    ...section(
      'Contracts',
      contracts.map(({ contractRef }) => contractRef),
    ),
    ...section(
      'References',
      references.map(({ title, source, purpose }) => `${title} (${source}) ${purpose}`.trim()),
    ),
  ];
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function section(title: string, items: readonly string[]): readonly string[] {
  if (items.length === 0) return [];
  return items.length === 1 ? [`${title}: ${items[0]}`] : [`${title}:`, ...items.map((item) => `- ${item}`)];
}
