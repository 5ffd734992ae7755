import type { ErrorEnvelope, Retry } from '../../core/log/error-envelope.ts';
import type { NextCall } from './corrected-call.ts';

/** The words for a refusal, before its call is cut to what may be repeated. */
export type Explained = Omit<ErrorEnvelope, 'nextCall'> & { readonly call?: NextCall | undefined };

export const NOT_RETRYABLE: Retry = { kind: 'not_retryable' };
