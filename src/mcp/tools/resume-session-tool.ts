import { resumeSession } from '../../app/resume/resume-session.ts';
import { WORKSPACE_PATH } from '../arguments/shared-arguments.ts';
import { defineTool } from '../tool.ts';

export const resumeSessionTool = defineTool({
  name: 'resume_session',
  title: 'Resume earlier work',
  description:
    'Finds a run without a token, in a new or compacted chat. Where one is surely meant, the reply has its goal, rules, work so far, current step and tokens; else it has up to 5 to choose from. {} looks in this workspace. Changes nothing. Example: {"query":"login timeout"}',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  arguments: {
    query: {
      kind: 'text',
      about: 'Words that must all occur in its latest notes, or in the id and name of its workflow.',
      mistakenFor: ['search', 'q', 'about', 'keywords', 'text', 'goal'],
    },
    workspacePath: { ...WORKSPACE_PATH, about: 'Absolute path of the project. Default: the root the client tells.' },
    gitBranch: { kind: 'text', about: 'Its branch, or how the name begins.', mistakenFor: ['branch'] },
    gitHeadSha: { kind: 'text', about: 'Its commit, in full.', mistakenFor: ['sha', 'commit', 'head', 'gitSha'] },
    sessionId: { kind: 'text', about: 'Exactly this session.', mistakenFor: ['session', 'id'] },
    runId: { kind: 'text', about: 'Exactly this run.', mistakenFor: ['run'] },
  },
  run: (services, { query, gitBranch, gitHeadSha, sessionId, runId }, { workspace }) =>
    resumeSession(services, { query, gitBranch, gitHeadSha, sessionId, runId, workspace }),
});
