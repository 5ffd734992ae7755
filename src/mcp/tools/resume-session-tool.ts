import * as z from 'zod';
import { resumeSession } from '../../app/resume/resume-session.ts';
import { RESUME_CANDIDATES_MAX, RESUME_SNIPPET_BYTES_MAX } from '../../core/log/budgets.ts';
import { textSchema } from '../../core/log/field-schemas.ts';
import { RunId, SessionId, workflowIdSchema } from '../../core/log/ids.ts';
import { blockedReplySchema, completeReplySchema, pendingReplySchema } from '../../core/prompt/reply-schema.ts';
import { MATCH_REASONS } from '../../core/resume/rank-runs.ts';
import { RUN_STATUSES } from '../../core/views/run-status.ts';
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

const showCall = z.strictObject({
  tool: z.literal('continue_workflow'),
  arguments: z.strictObject({ stateToken: z.string().min(1) }),
});

const candidate = z.strictObject({
  sessionId: SessionId.schema,
  runId: RunId.schema,
  run: z.strictObject({ tag: z.string().length(4), workflowId: workflowIdSchema, title: z.string().min(1) }),
  goal: z.string().optional(),
  status: z.enum(RUN_STATUSES),
  stepTitle: z.string().optional(),
  lastActive: z.string().optional(),
  whyMatched: z.array(z.enum(MATCH_REASONS)).min(1),
  stateToken: z.string().min(1),
  nextCall: showCall,
});

const resumed = z.strictObject({
  whyMatched: z.array(z.enum(MATCH_REASONS)).min(1),
  others: z.array(candidate).max(RESUME_CANDIDATES_MAX - 1),
});

const snippet = textSchema(RESUME_SNIPPET_BYTES_MAX, { isEmptyAllowed: true });

/** What `resume_session` answers, as data: a run as `continue_workflow` shows it, or runs to choose from. */
export const resumeReplyShape = z.union([
  pendingReplySchema.extend({ resumed }),
  blockedReplySchema.extend({ resumed }),
  completeReplySchema.extend({ resumed }),
  z.strictObject({
    kind: z.literal('ok'),
    candidates: z.array(candidate.extend({ snippet })).min(1).max(RESUME_CANDIDATES_MAX),
    total: z.int().min(1),
    nextIntent: z.literal('rehydrate_only'),
    nextCall: showCall,
  }),
  z.strictObject({
    kind: z.literal('ok'),
    candidates: z.array(candidate).max(0),
    total: z.literal(0),
    nextIntent: z.literal('rehydrate_only'),
    nextCall: z.strictObject({ tool: z.literal('list_workflows'), arguments: z.strictObject({}) }),
  }),
]);
