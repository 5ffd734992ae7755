import { collectDiagnostics } from './diagnostics/collect-diagnostics.ts';
import type { SourceSpan } from './diagnostics/diagnostic.ts';
import { openReader, readWorkflow } from './format/read-workflow.ts';
import type { WorkflowSyntax } from './format/workflow-fields.ts';
import { parseSource } from './source/parse-source.ts';

/** What a file says it is, before anything is known of the files around it. */
export type SourceOutline = {
  /** The id it gives itself, valid or not. */
  readonly claimed: { readonly id: string; readonly span: SourceSpan } | undefined;
  /** What it says, if it can be read without an error. */
  readonly syntax: () => WorkflowSyntax | undefined;
};

/** Looks at a file without checking it; compiling it reports what is wrong. */
export function sourceOutline(text: string): SourceOutline {
  const diagnostics = collectDiagnostics();
  const root = parseSource(text, diagnostics);
  if (root.isErr() || root.value.kind !== 'object') return { claimed: undefined, syntax: () => undefined };
  const id = root.value.fields.get('id')?.value;
  return {
    claimed: id?.kind === 'string' ? { id: id.value, span: id.span } : undefined,
    syntax: () => {
      const syntax = readWorkflow(openReader(diagnostics, root.value));
      return diagnostics.hasErrors() ? undefined : syntax;
    },
  };
}
