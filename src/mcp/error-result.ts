import type { CallToolResult } from '@modelcontextprotocol/server';
import { truncate } from '../core/json/truncate.ts';
import { ERROR_TEXT_BYTES_MAX } from '../core/log/budgets.ts';
import type { ErrorEnvelope } from '../core/log/error-envelope.ts';

/** An error as a client sees it, once for programs and once as text that ends in what to do next. */
export function errorResult(error: ErrorEnvelope): CallToolResult {
  const said = { ...error, message: fitted(error.message), suggestion: fitted(error.suggestion) };
  const text = `${said.code}: ${said.message}\n${said.suggestion}`;
  return { isError: true, content: [{ type: 'text', text }], structuredContent: { kind: 'error', error: said } };
}

/** An error names what was sent, and that may be of any length and of any characters. */
function fitted(text: string): string {
  return truncate(text.toWellFormed(), ERROR_TEXT_BYTES_MAX);
}
