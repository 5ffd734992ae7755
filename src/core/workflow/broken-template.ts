import type { CompilerFinding } from './finding.ts';

/** A routine that cannot be called because its own file is wrong, with the first thing that is wrong with it. */
export type BrokenTemplate = {
  /** Names the file as listings do. */
  readonly ref: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
};

/** Told where the routine is called: calling another one would not mend anything. */
export function brokenTemplate(
  templateId: string,
  { ref, line, column, message }: BrokenTemplate,
): Pick<CompilerFinding, 'code' | 'message'> {
  return {
    code: 'broken_template',
    message: `The routine "${templateId}" is broken and must be mended first: ${ref}, line ${line}, column ${column}: ${message}`,
  };
}
