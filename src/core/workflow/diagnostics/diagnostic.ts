/** A stretch of a source text, counted in UTF-16 code units. */
export type SourceSpan = { readonly offset: number; readonly length: number };

/** A change to a source text that mends a diagnostic. */
export type Edit = SourceSpan & { readonly text: string };

export type Fix = { readonly title: string; readonly edits: readonly Edit[] };

/** Something about a workflow file that its author should know, and where. Only errors keep a file from being used. */
export type Diagnostic = {
  readonly code: DiagnosticCode;
  readonly severity: 'error' | 'warning';
  /** JSON pointer of the value, or of the object that lacks one. */
  readonly pointer: string;
  readonly span: SourceSpan;
  /** What is wrong and what to do about it. */
  readonly message: string;
  /** A change that a machine can make, where there is just one right one. */
  readonly fix?: Fix;
};

export const DIAGNOSTIC_CODES = [
  'file_too_large',
  'file_unreadable',
  'link_leads_outside',
  'too_many_files',
  'not_json',
  'too_deep',
  'too_many_values',
  'duplicate_key',
  'reserved_key',
  'bad_text',
  'bad_number',
  'unknown_key',
  'missing_field',
  'wrong_type',
  'wrong_value',
  'text_too_long',
  'text_empty',
  'bad_id',
  'legacy_id',
  'reserved_namespace',
  'duplicate_id',
  'id_too_long',
  'file_name_differs',
  'prompt_missing',
  'prompt_twice',
  'unknown_condition',
  'two_operators',
  'unknown_operator',
  'condition_cycle',
  'bad_pattern',
  'unknown_contract',
  'unknown_assessment',
  'unknown_level',
  'unknown_function',
  'wrong_scope',
  'unknown_template',
  'broken_template',
  'template_recursion',
  'template_too_deep',
  'template_conflict',
  'missing_argument',
  'unknown_argument',
  'unknown_feature',
  'unknown_ref',
  'ref_misplaced',
  'ref_budget',
  'unknown_slot',
  'wrong_kind',
  'placeholder_left',
  'place_not_filled',
  'loop_without_limit',
  'loop_over_limit',
  'loop_without_control',
  'loop_control_misplaced',
  'setting_unused',
  'body_not_found',
  'context_loop',
  'schema_rule_not_enforced',
  'choice_kind_missing',
  'too_many_steps',
  'more_problems',
] as const;
export type DiagnosticCode = (typeof DIAGNOSTIC_CODES)[number];
