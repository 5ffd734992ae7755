import type { CompilePattern } from '../../core/workflow/pattern.ts';

/** The engine for patterns that authors wrote. Loaded when a pinned workflow has one, which few have. */
export type PatternEngine = { load(): Promise<CompilePattern> };
