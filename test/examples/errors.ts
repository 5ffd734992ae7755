import type { ErrorEnvelope } from '../../src/core/log/error-envelope.ts';

/** One error of each kind of retry, and one with every optional field. */
export const ERROR_EXAMPLES: { readonly [name: string]: ErrorEnvelope } = {
  not_retryable: {
    code: 'WORKFLOW_NOT_FOUND',
    message: 'There is no workflow "wr.bug_hnut".',
    suggestion: 'Call start_workflow with "wr.bug_hunt".',
    retry: { kind: 'not_retryable' },
    nextCall: { tool: 'start_workflow', arguments: { workflowId: 'wr.bug_hunt' } },
  },
  retryable_immediate: {
    code: 'VALIDATION_ERROR',
    message: 'context takes 300000 bytes; 262144 are allowed.',
    suggestion: 'Remove large values from context and pass references instead, then call again.',
    retry: { kind: 'retryable_immediate' },
    nextIntent: 'perform_pending_then_continue',
    details: {
      pointer: { kind: 'context_budget' },
      bytes: 300_000,
      bytesMax: 262_144,
      method: 'utf8_bytes_of_rfc_8785_json',
    },
    nextCall: { tool: 'continue_workflow', arguments: {} },
  },
  retryable_after_ms: {
    code: 'TOKEN_SESSION_LOCKED',
    message: 'Another process is writing to this session.',
    suggestion: 'Send the same call again in a second.',
    retry: { kind: 'retryable_after_ms', afterMs: 1_000 },
    nextIntent: 'rehydrate_only',
  },
};
