import type { CompiledWorkflow } from '../compiled/compiled-workflow.ts';
import type { SourceSpan } from '../diagnostics/diagnostic.ts';
import type { WorkflowSyntax } from '../format/workflow-fields.ts';
import type { CompilePattern } from '../pattern.ts';
import type { SourceNode } from '../source/source-node.ts';

export const LINT_CODES = [
  'flag_only_validation',
  'sample_passes',
  'patterns_too_large',
  'vague_opt_out',
  'asks_the_user',
  'prompt_too_long',
  'unreachable_step',
  'unused_condition',
  'context_never_set',
  'context_set_later',
  'minimum_unreachable',
  'assurance_without_gate',
  'reserved_line',
  'missing_about',
  'missing_examples',
] as const;
export type LintCode = (typeof LINT_CODES)[number];

/** A file as its author wrote it. */
export type LintedFile = { readonly text: string; readonly root: SourceNode };

/** A workflow that compiles, as its author wrote it and as it would run. */
export type LintedWorkflow = LintedFile & {
  readonly kind: 'workflow' | 'routine';
  readonly syntax: WorkflowSyntax;
  readonly workflow: CompiledWorkflow;
  readonly compilePattern: CompilePattern;
};

/** Something that a rule found. Without a span, all that the pointer leads to is meant. */
export type LintFinding = { readonly at: string; readonly span?: SourceSpan; readonly message: string };

/** A rule about the quality of a workflow. It never keeps one from being used. */
export type LintRule = RuleWords &
  (
    | { readonly looksAt: 'workflow'; readonly find: (linted: LintedWorkflow) => readonly LintFinding[] }
    /** Needs the file alone, so it also has something to say about one that does not compile yet. */
    | { readonly looksAt: 'file'; readonly find: (linted: LintedFile) => readonly LintFinding[] }
  );

type RuleWords = {
  readonly code: LintCode;
  /** What it finds, in a few words. */
  readonly finds: string;
  /** What goes wrong in a run because of it. */
  readonly why: string;
  /** What to do instead. */
  readonly hint: string;
  /** Whether a workflow that comes with the program may not be released with it. */
  readonly isErrorInBundled?: true;
  /** Whether it is an error in every file: agents would be refused because of it. */
  readonly isError?: true;
};
