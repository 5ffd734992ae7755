import * as z from 'zod';
import { ERROR_DETAILS_BYTES_MAX, ERROR_TEXT_BYTES_MAX } from './budgets.ts';
import { detailsSchema, jsonObjectSchema, nonBlankSchema } from './document-schema.ts';

export const TOKEN_ERROR_CODES = [
  'TOKEN_INVALID_FORMAT',
  'TOKEN_UNSUPPORTED_VERSION',
  'TOKEN_BAD_SIGNATURE',
  'TOKEN_SCOPE_MISMATCH',
  'TOKEN_UNKNOWN_NODE',
  'TOKEN_WORKFLOW_HASH_MISMATCH',
  'TOKEN_SESSION_LOCKED',
] as const;
export type TokenErrorCode = (typeof TOKEN_ERROR_CODES)[number];

const BUNDLE_ERROR_CODES = [
  'BUNDLE_INVALID_FORMAT',
  'BUNDLE_UNSUPPORTED_VERSION',
  'BUNDLE_INTEGRITY_FAILED',
  'BUNDLE_MISSING_SNAPSHOT',
  'BUNDLE_MISSING_PINNED_WORKFLOW',
  'BUNDLE_EVENT_ORDER_INVALID',
  'BUNDLE_MANIFEST_ORDER_INVALID',
] as const;

/** All error codes of all surfaces. */
export const ERROR_CODES = [
  ...TOKEN_ERROR_CODES,
  ...BUNDLE_ERROR_CODES,
  'VALIDATION_ERROR',
  'WORKFLOW_NOT_FOUND',
  'WORKFLOW_INVALID',
  'SESSION_NOT_FOUND',
  'SESSION_LOCKED',
  'FORBIDDEN',
  'STORE_CORRUPT',
  'STORE_UNKNOWN_VERSION',
  'STORE_IO',
  'INTERNAL',
] as const;

/** The only safe next action. It does not reveal later steps. */
export const NEXT_INTENTS = [
  'perform_pending_then_continue',
  'await_user_confirmation',
  'rehydrate_only',
  'complete',
] as const;
export type NextIntent = (typeof NEXT_INTENTS)[number];

/** When to retry, so that clients need not read the message. */
export const retrySchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('not_retryable') }),
  z.strictObject({ kind: z.literal('retryable_immediate') }),
  z.strictObject({ kind: z.literal('retryable_after_ms'), afterMs: z.int().min(1) }),
]);
export type Retry = z.infer<typeof retrySchema>;

/** A tool and the arguments to send to it. */
export const callSchema = z.strictObject({ tool: z.string().min(1), arguments: jsonObjectSchema });
export type Call = z.infer<typeof callSchema>;

/** An error as all surfaces show it: MCP, command line and console. */
export const errorEnvelopeSchema = z.strictObject({
  code: z.enum(ERROR_CODES),
  message: nonBlankSchema(ERROR_TEXT_BYTES_MAX),
  suggestion: nonBlankSchema(ERROR_TEXT_BYTES_MAX),
  retry: retrySchema,
  nextIntent: z.enum(NEXT_INTENTS).optional(),
  details: detailsSchema(ERROR_DETAILS_BYTES_MAX).optional(),
  nextCall: callSchema.optional(),
});
export type ErrorEnvelope = z.infer<typeof errorEnvelopeSchema>;
