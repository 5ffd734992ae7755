import { ok } from 'neverthrow';
import { re2Patterns } from '../adapters/patterns.ts';
import type { OpenCompiler } from '../app/catalog/assemble-catalog.ts';
import { fileCompiler } from '../app/catalog/compile-files.ts';
import type { Sha256 } from '../core/json/canonical-json.ts';
import { compileWorkflow } from '../core/workflow/compile-workflow.ts';
import type { CompilePattern } from '../core/workflow/pattern.ts';

/** The compiler, in a file of its own: most servers never need it. */
export function openCompiler(sha256: Sha256): OpenCompiler {
  const compilePattern = re2Patterns();
  // Bundled workflows were checked before the release, so their patterns are compiled on first use instead of in the
  // first call.
  const onFirstUse: CompilePattern = (pattern, flags) =>
    ok({
      test: (text) =>
        compilePattern(pattern, flags).match(
          (made) => made.test(text),
          () => false,
        ),
    });
  return (around) =>
    fileCompiler(around, (input) =>
      compileWorkflow(input, { sha256, compilePattern: input.isBundled ? onFirstUse : compilePattern }),
    );
}
