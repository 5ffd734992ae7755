import { expect, test } from 'vitest';
import { enforces } from '../../test/enforces.ts';
import { ERROR_EXAMPLES } from '../../test/examples/errors.ts';
import { errorEnvelopeSchema } from '../core/log/error-envelope.ts';
import { errorResult } from './error-result.ts';
import { unknownTool } from './explain-call.ts';
import { TOOLS } from './tools/tool-set.ts';

test.each(Object.entries(ERROR_EXAMPLES))(
  'the error "%s" is given whole, and as text that ends in the advice',
  (_, error) => {
    enforces('error_envelope_shape', 'error_is_specific_and_says_next_step');
    const text = `${error.code}: ${error.message}\n${error.suggestion}`;
    expect(errorResult(error)).toEqual({
      isError: true,
      content: [{ type: 'text', text }],
      structuredContent: { kind: 'error', error },
    });
  },
);

test('what was sent is named in bounds, however long and whatever it was', () => {
  enforces('error_envelope_shape');
  for (const name of ['x'.repeat(100_000), 'é'.repeat(5_000), 'lone \ud800']) {
    const { structuredContent } = errorResult(unknownTool(name, TOOLS));
    expect(errorEnvelopeSchema.safeParse((structuredContent as { error: unknown }).error).error).toBeUndefined();
  }
});
