import type { Tool } from '../tool.ts';
import { checkpointWorkflowTool } from './checkpoint-workflow-tool.ts';
import { continueWorkflowTool } from './continue-workflow-tool.ts';
import { inspectWorkflowTool } from './inspect-workflow-tool.ts';
import { listWorkflowsTool } from './list-workflows-tool.ts';
import { resumeSessionTool } from './resume-session-tool.ts';
import { startSessionTool } from './start-session-tool.ts';
import { startWorkflowTool } from './start-workflow-tool.ts';

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
