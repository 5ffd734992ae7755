import type { Tool } from '../tool.ts';
import { checkpointWorkflowTool } from './checkpoint-workflow.ts';
import { continueWorkflowTool } from './continue-workflow.ts';
import { inspectWorkflowTool } from './inspect-workflow.ts';
import { listWorkflowsTool } from './list-workflows.ts';
import { resumeSessionTool } from './resume-session.ts';
import { startSessionTool } from './start-session.ts';
import { startWorkflowTool } from './start-workflow.ts';

/** The tools of every server, in the order a newcomer needs them. */
export const TOOLS: readonly Tool[] = [
  listWorkflowsTool,
  inspectWorkflowTool,
  startWorkflowTool,
  continueWorkflowTool,
  checkpointWorkflowTool,
  resumeSessionTool,
];

/** With those that somebody has to switch on. */
export const ALL_TOOLS: readonly Tool[] = [...TOOLS, startSessionTool];
