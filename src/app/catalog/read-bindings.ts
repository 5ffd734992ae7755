import { utf8Length } from '../../core/text/utf8.ts';
import { collectDiagnostics } from '../../core/workflow/diagnostics/collect-diagnostics.ts';
import type { Diagnostic } from '../../core/workflow/diagnostics/diagnostic.ts';
import type { Bindings } from '../../core/workflow/expand/expanded.ts';
import { ARGUMENT_BYTES_MAX } from '../../core/workflow/format/limits.ts';
import { parseSource } from '../../core/workflow/source/parse-source.ts';
import type { SourceNode } from '../../core/workflow/source/source-node.ts';
import type { SourceFile } from '../ports/workflow-sources.ts';
import { unreadDiagnostic } from './file-diagnostics.ts';

/** Reads the bindings of a workspace: an object with a text for each slot. Invalid entries are skipped and reported. */
export function readBindings(file: SourceFile): {
  readonly bindings: Bindings;
  readonly diagnostics: readonly Diagnostic[];
} {
  if (file.content.kind === 'unread') return { bindings: {}, diagnostics: [unreadDiagnostic(file.content.reason)] };
  const diagnostics = collectDiagnostics();
  const root = parseSource(file.content.text, diagnostics);
  if (root.isErr()) return { bindings: {}, diagnostics: [root.error] };
  if (root.value.kind !== 'object') {
    diagnostics.add(wrongType(root.value, 'Bindings must be an object with a text for each slot.'));
    return { bindings: {}, diagnostics: diagnostics.all() };
  }
  const entries = [...root.value.fields.values()].flatMap(({ name, value }) => {
    if (value.kind === 'string' && utf8Length(value.value) <= ARGUMENT_BYTES_MAX) return [[name, value.value] as const];
    if (value.kind === 'string') {
      diagnostics.add(tooLong(value, name));
      return [];
    }
    if (!name.startsWith('$')) diagnostics.add(wrongType(value, `The slot "${name}" needs a text in quotes.`));
    return [];
  });
  return {
    bindings: Object.fromEntries(entries.filter(([name]) => !name.startsWith('$'))),
    diagnostics: diagnostics.all(),
  };
}

function tooLong({ pointer, span }: SourceNode, name: string): Diagnostic {
  const message = `The slot "${name}" accepts a text of at most ${ARGUMENT_BYTES_MAX} bytes. Shorten it.`;
  return { code: 'text_too_long', severity: 'error', pointer, span, message };
}

function wrongType({ pointer, span }: SourceNode, message: string): Diagnostic {
  return { code: 'wrong_type', severity: 'error', pointer, span, message };
}
