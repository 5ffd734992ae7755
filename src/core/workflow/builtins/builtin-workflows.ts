import type { WorkflowId } from '../../log/ids.ts';
import type { CompiledWorkflow } from '../compiled/compiled-workflow.ts';
import { COMPILED_WORKFLOW_VERSION } from '../compiled/sealed-workflow.ts';

/** What a session runs that was begun for its notes alone. It has no steps, so it is complete from the start. */
export const SESSION_NOTES: CompiledWorkflow = {
  schemaVersion: COMPILED_WORKFLOW_VERSION,
  workflowId: 'wr.session_notes' as WorkflowId,
  name: 'Session notes',
  description: 'Keeps notes without a workflow.',
  capabilities: {},
  features: [],
  recommended: {},
  preconditions: [],
  clarificationPrompts: [],
  metaGuidance: [],
  references: [],
  assessments: [],
  functions: [],
  contracts: [],
  conditions: [],
  entries: [],
  loops: [],
  steps: [],
  compiledWarnings: [],
};

/**
 * Ids that bundled workflows used to have, with the ids they have now. A released id never vanishes: a caller
 * who wrote it down can still start by it. No bundled workflow was renamed so far.
 */
export const BUNDLED_ALIASES: ReadonlyMap<string, string> = new Map();
