import * as z from 'zod';
import { resumeSession } from '../../app/resume/resume-session.ts';
import { RESUME_CANDIDATES_MAX, RESUME_SNIPPET_BYTES_MAX } from '../../core/log/budgets.ts';
import { textSchema } from '../../core/log/document-schema.ts';
import { RunId, SessionId, workflowIdSchema } from '../../core/log/ids.ts';
import { shownOriginSchema } from '../../core/log/origin.ts';
import {
  blockedReplySchema,
  completeReplySchema,
  pendingReplySchema,
  warningSchema,
} from '../../core/prompt/reply-schema.ts';
import { MATCH_REASONS } from '../../core/resume/rank-runs.ts';
import { RUN_STATUSES } from '../../core/views/run-status.ts';
import { WORKSPACE_PATH } from '../arguments/shared-arguments.ts';
import { defineTool } from '../tool.ts';

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
  /** Absent for a run that was started here. */
  origin: shownOriginSchema.optional(),
  stateToken: z.string().min(1),
  nextCall: showCall,
});

/** A run of another workspace, without notes and tokens. */
const foreign = z.strictObject({
  sessionId: SessionId.schema,
  runId: RunId.schema,
  goal: z.string().optional(),
  workspace: z.string().min(1),
  lastActive: z.string().optional(),
  whyMatched: z.array(z.enum(MATCH_REASONS)).min(1),
  nextCall: z.strictObject({
    tool: z.literal('resume_session'),
    arguments: z.strictObject({ runId: RunId.schema }),
  }),
});

/** An imported run that no person accepted. It has no token and no call, only the command that accepts it. */
const unaccepted = z.strictObject({
  sessionId: SessionId.schema,
  runId: RunId.schema,
  run: z.strictObject({ tag: z.string().length(4), workflowId: workflowIdSchema, source: z.string().min(1) }),
  goal: z.string().optional(),
  status: z.enum(RUN_STATUSES),
  lastActive: z.string().optional(),
  whyMatched: z.array(z.enum(MATCH_REASONS)).min(1),
  origin: shownOriginSchema,
  acceptCommand: z.string().min(1),
});

const resumed = z.strictObject({
  whyMatched: z.array(z.enum(MATCH_REASONS)).min(1),
  origin: shownOriginSchema.optional(),
  others: z.array(z.union([candidate, foreign, unaccepted])).max(RESUME_CANDIDATES_MAX - 1),
});

const snippet = textSchema(RESUME_SNIPPET_BYTES_MAX, { isEmptyAllowed: true });

/** A run as `continue_workflow` shows it, or runs to choose from. */
export const resumeReplyShape = z.union([
  pendingReplySchema.extend({ resumed }),
  blockedReplySchema.extend({ resumed }),
  completeReplySchema.extend({ resumed }),
  z.strictObject({
    kind: z.literal('ok'),
    candidates: z.array(z.union([candidate.extend({ snippet }), foreign, unaccepted])).max(RESUME_CANDIDATES_MAX),
    total: z.int().min(0),
    warnings: z.array(warningSchema).min(1).optional(),
    nextIntent: z.literal('rehydrate_only'),
    nextCall: showCall.nullable(),
  }),
]);

export const resumeSessionTool = defineTool({
  name: 'resume_session',
  title: 'Resume earlier work',
  description:
    'Finds a run when you have no token for it, for example in a new or compacted chat. If one run clearly matches, the reply contains its goal, rules, work so far, current step and tokens; otherwise up to 5 runs to choose from. {} searches this workspace. Changes nothing. Example: {"query":"login timeout"}',
  reply: resumeReplyShape,
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
    runId: { kind: 'text', about: 'Only this run.', mistakenFor: ['run'] },
    includeFinished: {
      kind: 'flag',
      about: 'Also finished runs.',
      mistakenFor: ['finished', 'includeComplete', 'all'],
    },
  },
  run: (services, { query, gitBranch, gitHeadSha, sessionId, runId, includeFinished }, { workspace }) =>
    resumeSession(services, { query, gitBranch, gitHeadSha, sessionId, runId, includeFinished, workspace }),
});
