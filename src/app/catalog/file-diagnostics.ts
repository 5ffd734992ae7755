import { unreachable } from '../../core/assert.ts';
import {
  type Diagnostic,
  type DiagnosticCode,
  type Position,
  sourcePosition,
} from '../../core/workflow/diagnostics/diagnostic.ts';
import type { SourceFile, UnreadReason } from '../ports/workflow-sources.ts';

/** A diagnostic with line and column. */
export type LocatedDiagnostic = Diagnostic & Position;

export function locatedIn({ content }: SourceFile, diagnostics: readonly Diagnostic[]): readonly LocatedDiagnostic[] {
  const text = content.kind === 'text' ? content.text : '';
  return diagnostics.map((diagnostic) => ({ ...diagnostic, ...sourcePosition(text, diagnostic.span) }));
}

/** Why a file was not read, as a diagnostic of the whole file. */
export function unreadDiagnostic(reason: UnreadReason): Diagnostic {
  const { code, message } = explainUnread(reason);
  return { code, severity: 'error', pointer: '', span: { offset: 0, length: 0 }, message };
}

function explainUnread(reason: UnreadReason): { readonly code: DiagnosticCode; readonly message: string } {
  switch (reason.code) {
    case 'too_large':
      return {
        code: 'file_too_large',
        message: `The file has ${reason.bytes} bytes; the limit is ${reason.bytesMax}. Split it, or move long texts into referenced documents.`,
      };
    case 'leads_outside':
      return {
        code: 'link_leads_outside',
        message: `This is a link to ${reason.target}, outside of the folder. Replace it with the file itself.`,
      };
    case 'not_a_file':
      return {
        code: 'file_unreadable',
        message: 'This is not a readable file. Replace it with a file, or remove it.',
      };
    case 'not_utf8':
      return { code: 'file_unreadable', message: 'The file is not UTF-8 text. Save it as UTF-8.' };
    case 'too_many_files':
      return {
        code: 'too_many_files',
        message: `Only the first ${reason.filesMax} files of this folder are used. Move other files elsewhere.`,
      };
    case 'io_failed':
      return { code: 'file_unreadable', message: `Cannot read this file (${reason.cause}). Check its permissions.` };
    default:
      return unreachable(reason);
  }
}
