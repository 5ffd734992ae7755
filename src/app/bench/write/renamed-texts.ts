import { quote } from '../../../core/json/quote.ts';
import { collectDiagnostics } from '../../../core/workflow/diagnostics/collect-diagnostics.ts';
import type { Edit } from '../../../core/workflow/diagnostics/diagnostic.ts';
import { sourceTexts } from '../../../core/workflow/lint/source-texts.ts';
import { nodeAt } from '../../../core/workflow/source/node-at.ts';
import { parseSource } from '../../../core/workflow/source/parse-source.ts';

/** Changes the texts of a JSON file at the places that are meant; all else stays as it is written. */
export function renamedTexts(
  text: string,
  newName: (pointer: string, value: string) => string | undefined,
): { readonly text: string; readonly edits: readonly (Edit & { readonly pointer: string })[] } {
  const parsed = parseSource(text, collectDiagnostics());
  if (parsed.isErr()) return { text, edits: [] };
  const edits = sourceTexts(nodeAt(parsed.value, '')).flatMap(({ pointer, value, span }) => {
    const renamed = newName(pointer, value);
    return renamed === undefined || renamed === value ? [] : [{ ...span, pointer, text: quote(renamed) }];
  });
  const changed = edits
    .toSorted((a, b) => b.offset - a.offset)
    .reduce((whole, edit) => whole.slice(0, edit.offset) + edit.text + whole.slice(edit.offset + edit.length), text);
  return { text: changed, edits };
}

/** A workflow file under another id. */
export function withId(text: string, id: string): string {
  return renamedTexts(text, (pointer) => (pointer === '/id' ? id : undefined)).text;
}

/** A file of scenarios for a workflow of another id. */
export function withWorkflowId(text: string, id: string): string {
  return renamedTexts(text, (pointer) => (pointer === '/workflowId' ? id : undefined)).text;
}
