import type { CallToolResult } from '@modelcontextprotocol/server';
import { truncate } from '../../core/json/truncate.ts';
import { ERROR_TEXT_BYTES_MAX } from '../../core/log/budgets.ts';
import type { ErrorEnvelope } from '../../core/log/error-envelope.ts';
import { callText } from '../../core/prompt/reply/call-text.ts';
import { NEXT_CALL, quoteReservedLines } from '../../core/prompt/reserved-lines.ts';
import { isObject } from '../arguments/read-value.ts';

/** An error as a client sees it, once for programs and once as text that ends in what to do next. */
export function errorResult(error: ErrorEnvelope): CallToolResult {
  const said = { ...error, message: fitted(error.message), suggestion: fitted(error.suggestion) };
  const words = quoteReservedLines(`${said.code}${runOf(error)}: ${said.message}\n${said.suggestion}`);
  const text = [words, ...callLines(error)].join('\n');
  return { isError: true, content: [{ type: 'text', text }], structuredContent: { kind: 'error', error: said } };
}

/** An error names what was sent, and that may be of any length and of any characters. */
function fitted(text: string): string {
  return truncate(text.toWellFormed(), ERROR_TEXT_BYTES_MAX);
}

function runOf({ details }: ErrorEnvelope): string {
  const run = details?.['run'];
  return isObject(run) ? ` (run ${run['tag']}, ${run['workflowId']})` : '';
}

function callLines({ nextCall }: ErrorEnvelope): readonly string[] {
  return nextCall === undefined ? [] : [`${NEXT_CALL} ${callText(nextCall).join('')}`];
}
