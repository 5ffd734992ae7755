import { unreachable } from '../../../core/assert.ts';
import type { ErrorEnvelope, Retry } from '../../../core/log/error-envelope.ts';
import type { ServeRefusal } from '../../program.ts';

/** Why MCP is not served: the command line makes no sense, or the machine does not let us. */
export type ServeTrouble =
  | { readonly code: 'transport_twice' }
  | { readonly code: 'port_unusable'; readonly asked: string; readonly portMax: number }
  | ServeRefusal;

const NOT_RETRYABLE: Retry = { kind: 'not_retryable' };
const ANY_PORT = 'Type "workrail serve --http 0" to take any port that is free.';

/** The words for a server that does not start. */
export function explainServe(trouble: ServeTrouble): ErrorEnvelope {
  switch (trouble.code) {
    case 'transport_twice':
      return {
        code: 'VALIDATION_ERROR',
        message: 'A server uses standard input and output or HTTP, not both.',
        suggestion: 'Type "workrail serve" for the first, or "workrail serve --http" for the second.',
        retry: NOT_RETRYABLE,
      };
    case 'port_unusable':
      return {
        code: 'VALIDATION_ERROR',
        message: `"${trouble.asked}" is no port; one is a number up to ${trouble.portMax}.`,
        suggestion:
          'Type "workrail serve --http" for the usual one, or "workrail serve --http 0" for any that is free.',
        retry: NOT_RETRYABLE,
      };
    case 'port_taken':
      return {
        code: 'VALIDATION_ERROR',
        message: `Another program uses port ${trouble.port}, maybe a server that runs already.`,
        suggestion: ANY_PORT,
        retry: NOT_RETRYABLE,
      };
    case 'port_refused':
      return {
        code: 'VALIDATION_ERROR',
        message: `Port ${trouble.port} cannot be used (${trouble.cause}).`,
        suggestion: ANY_PORT,
        retry: NOT_RETRYABLE,
      };
    default:
      return unreachable(trouble);
  }
}
