import { resumeSession } from '../../app/resume/resume-session.ts';
import { WORKSPACE_PATH } from '../arguments/shared-arguments.ts';
import { defineTool } from '../tool.ts';

export const resumeSessionTool = defineTool({
  name: 'resume_session',
  title: 'Resume earlier work',
  description:
    'Finds a run when you have no token for it, for example in a new or compacted chat. If one run clearly matches, the reply contains its goal, rules, work so far, current step and tokens; otherwise up to 5 runs to choose from. {} searches this workspace. Changes nothing. Example: {"query":"login timeout"}',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  arguments: {
    query: {
      kind: 'text',
      about: "Search words. Every word must appear in the run's goal or latest notes, or in its workflow's id or name.",
      mistakenFor: ['search', 'q', 'about', 'keywords', 'text', 'goal'],
    },
    workspacePath: { ...WORKSPACE_PATH, about: "Absolute path of the project. Default: the client's workspace root." },
    gitBranch: { kind: 'text', about: 'Git branch of the run, or the beginning of its name.', mistakenFor: ['branch'] },
    gitHeadSha: {
      kind: 'text',
      about: "Full hash of the run's HEAD commit.",
      mistakenFor: ['sha', 'commit', 'head', 'gitSha'],
    },
    sessionId: { kind: 'text', about: 'Only this session.', mistakenFor: ['session', 'id'] },
    runId: { kind: 'text', about: 'Run id or tag.', mistakenFor: ['run'] },
    includeFinished: {
      kind: 'flag',
      about: 'Also finished runs.',
      mistakenFor: ['finished', 'includeComplete', 'all'],
    },
  },
  run: (services, { query, gitBranch, gitHeadSha, sessionId, runId, includeFinished }, { workspace }) =>
    resumeSession(services, { query, gitBranch, gitHeadSha, sessionId, runId, includeFinished, workspace }),
});
