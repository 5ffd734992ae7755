import { quote } from '../../core/json/json-value.ts';
import { nearest } from '../../core/text/spelling.ts';
import { utf8Length } from '../../core/text/utf8.ts';
import { collectDiagnostics, type Diagnostic } from '../../core/workflow/diagnostics/diagnostic.ts';
import type { Bindings } from '../../core/workflow/expand/expanded.ts';
import { unsupportedIn } from '../../core/workflow/expand/fill-text.ts';
import { ARGUMENT_BYTES_MAX } from '../../core/workflow/format/limits.ts';
import { parseSource } from '../../core/workflow/source/parse-source.ts';
import type { SourceField, SourceNode } from '../../core/workflow/source/source-node.ts';
import type { SourceFile } from '../ports/workflow-sources.ts';
import { unreadDiagnostic } from './file-result.ts';

export type ReadBindings = {
  readonly bindings: Bindings;
  readonly diagnostics: readonly Diagnostic[];
  /** The slots as they are written. */
  readonly fields: readonly SourceField[];
};

/** Reads the bindings of a workspace: an object with a text for each slot. Invalid entries are skipped and reported. */
export function readBindings(file: SourceFile): ReadBindings {
  if (file.content.kind === 'unread') return nothing([unreadDiagnostic(file.content.reason)]);
  const diagnostics = collectDiagnostics();
  const root = parseSource(file.content.text, diagnostics);
  if (root.isErr()) return nothing([root.error]);
  if (root.value.kind !== 'object') {
    diagnostics.add(wrongType(root.value, 'Bindings must be an object with a text for each slot.'));
    return nothing(diagnostics.all());
  }
  const entries = [...root.value.fields.values()].flatMap(({ name, value }) => {
    if (value.kind === 'string' && utf8Length(value.value) <= ARGUMENT_BYTES_MAX) {
      const message = unsupportedIn(value.value);
      if (message !== undefined) diagnostics.add(unsupported(value, message));
      return [[name, value.value] as const];
    }
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
    fields: [...root.value.fields.values()].filter(({ name }) => !name.startsWith('$')),
  };
}

function nothing(diagnostics: readonly Diagnostic[]): ReadBindings {
  return { bindings: {}, diagnostics, fields: [] };
}

/** Warns of slots that a workflow does not have but seems to be meant by. */
export function misspelledSlots(fields: readonly SourceField[], slotIds: readonly string[]): readonly Diagnostic[] {
  const bound = new Set(fields.map(({ name }) => name));
  const free = slotIds.filter((slotId) => !bound.has(slotId));
  return fields.flatMap(({ name, nameSpan, value }): readonly Diagnostic[] => {
    const meant = slotIds.includes(name) ? undefined : nearest(name, free);
    if (meant === undefined) return [];
    const message = `Unknown slot "${name}" (ignored). Did you mean "${meant}"?`;
    const fix = { title: `Rename "${name}" to "${meant}"`, edits: [{ ...nameSpan, text: quote(meant) }] };
    return [{ code: 'unknown_slot', severity: 'warning', pointer: value.pointer, span: nameSpan, message, fix }];
  });
}

function tooLong({ pointer, span }: SourceNode, name: string): Diagnostic {
  const message = `The slot "${name}" accepts a text of at most ${ARGUMENT_BYTES_MAX} bytes. Shorten it.`;
  return { code: 'text_too_long', severity: 'error', pointer, span, message };
}

/** A binding may also be a command with braces of its own, so it is used as it is. */
function unsupported({ pointer, span }: SourceNode, message: string): Diagnostic {
  return { code: 'place_unsupported', severity: 'warning', pointer, span, message };
}

function wrongType({ pointer, span }: SourceNode, message: string): Diagnostic {
  return { code: 'wrong_type', severity: 'error', pointer, span, message };
}
