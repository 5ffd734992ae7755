import { type ByCode, byCode } from '../../core/assert.ts';
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
  const [code, message] = byCode(UNREAD_WORDS, reason);
  return { code, severity: 'error', pointer: '', span: { offset: 0, length: 0 }, message };
}

const UNREAD_WORDS: ByCode<UnreadReason, readonly [DiagnosticCode, string]> = {
  too_large: ({ bytes, bytesMax }) => [
    'file_too_large',
    `The file has ${bytes} bytes; the limit is ${bytesMax}. Split it, or move long texts into referenced documents.`,
  ],
  leads_outside: ({ target }) => [
    'link_leads_outside',
    `This is a link to ${target}, outside of the folder. Replace it with the file itself.`,
  ],
  not_a_file: () => ['file_unreadable', 'This is not a readable file. Replace it with a file, or remove it.'],
  copy_edited: ({ source }) => [
    'copy_edited',
    `This file was changed after it was fetched, so it is not part of the pinned commit and is not used. To fetch it again: workrail source update ${source}. To keep the change, copy the file to ~/.workrail/workflows.`,
  ],
  not_accepted: ({ source, url, commit }) => [
    'source_not_accepted',
    `This repository asks for the source "${source}" (${url} at ${commit.slice(0, 10)}), and nobody accepted it on this machine. Its workflows are not used. The user can look at it and accept it in a terminal: workrail source accept`,
  ],
  not_utf8: () => ['file_unreadable', 'The file is not UTF-8 text. Save it as UTF-8.'],
  too_many_files: ({ filesMax }) => [
    'too_many_files',
    `Only the first ${filesMax} files of this folder are used. Move other files elsewhere.`,
  ],
  io_failed: ({ cause }) => ['file_unreadable', `Cannot read this file (${cause}). Check its permissions.`],
};
