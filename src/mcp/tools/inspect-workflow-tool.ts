import { type InspectedWorkflow, inspectWorkflow } from '../../app/catalog/inspect-workflow.ts';
import type { JsonObject } from '../../core/json/json-value.ts';
import { type Call, callText } from '../../core/prompt/reply/call-text.ts';
import { workflowOutline } from '../../core/workflow/outline/workflow-outline.ts';
import { WORKFLOW_ID, WORKSPACE_PATH } from '../arguments/shared-arguments.ts';
import { defineTool } from '../tool.ts';
import { INSPECT_MODES, type InspectMode } from './inspect/inspect-mode.ts';
import { metadataText, shownMetadata } from './inspect/shown-metadata.ts';
import { outlineText, shownEntry } from './inspect/shown-outline.ts';

export const inspectWorkflowTool = defineTool({
  name: 'inspect_workflow',
  title: 'Inspect a workflow',
  description:
    'Shows a workflow before it is started: its steps with loops, conditions and what they ask for, its references and its hash. Starts nothing. Example: {"workflowId":"wr.first_steps"}',
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
      return { text: textOf(inspected, mode, start), structured: structuredOf(inspected, mode, start) };
    });
  },
});

/** A workflow of a project is found only by who names the project again. */
function startCall({ listed }: InspectedWorkflow, workspacePath: string | undefined): Call {
  const place = workspacePath === undefined ? {} : { workspacePath };
  return { tool: 'start_workflow', arguments: { workflowId: listed.id, ...place } };
}

function textOf(inspected: InspectedWorkflow, mode: InspectMode, start: Call): string {
  const { workflow } = inspected.listed;
  const steps = mode === 'metadata' ? [] : ['', ...outlineText(workflow, mode)];
  return [...metadataText(inspected), ...steps, '', `Start it with ${callText(start).join('')}`].join('\n');
}

function structuredOf(inspected: InspectedWorkflow, mode: InspectMode, start: Call): JsonObject {
  const { workflow } = inspected.listed;
  return {
    kind: 'ok',
    workflow: shownMetadata(inspected, mode),
    ...(mode === 'metadata' ? {} : { steps: workflowOutline(workflow).map((entry) => shownEntry(entry, mode)) }),
    nextCall: { ...start },
  };
}
