import { err, ok, type Result } from 'neverthrow';
import { applyFixes } from '../../../core/workflow/diagnostics/apply-fixes.ts';
import type { Diagnostic } from '../../../core/workflow/diagnostics/diagnostic.ts';
import type { AuthorServices } from '../../author/author-services.ts';
import { type CheckedFile, type CheckReport, checkFiles } from '../../author/check-files.ts';
import type { TargetRefusal } from '../../author/find-targets.ts';
import type { FileFailure } from '../../ports/author-files.ts';
import { type Asked, isWithin, type NothingOwn, type TargetScope } from '../files/scope.ts';

/** A change that was made, in the words of its fix. */
export type MadeFix = { readonly path: string; readonly code: string; readonly title: string };

/** One fix may uncover the next; more rounds than this would be two fixes that undo each other. */
const ROUNDS_MAX = 10;

/** Makes every fix that a machine can make, and says what is left. Nothing else in a file is touched. */
export async function fixFiles(
  bench: AuthorServices,
  asked: Asked,
): Promise<Result<CheckReport & { readonly made: readonly MadeFix[] }, TargetRefusal | NothingOwn | FileFailure>> {
  const made: MadeFix[] = [];
  for (let round = 0; ; round += 1) {
    const checked = await checkFiles(bench, asked);
    if (checked.isErr()) return err(checked.error);
    const before = made.length;
    const { scope, files } = checked.value;
    for (const file of round < ROUNDS_MAX ? files.filter((one) => isOwn(bench, one, scope)) : []) {
      const fixed = fixFile(bench, file);
      if (fixed.isErr()) return err(fixed.error);
      made.push(...fixed.value);
    }
    if (made.length === before) return ok({ ...checked.value, made });
  }
}

/** What was installed is not changed, unless somebody names it. */
function isOwn(bench: AuthorServices, { path }: CheckedFile, { kind }: TargetScope): boolean {
  return kind === 'named' || isWithin(bench, [bench.workspace, bench.folders.user], path);
}

function fixFile(
  { files }: AuthorServices,
  { path, text, findings }: CheckedFile,
): Result<readonly MadeFix[], FileFailure> {
  const mendable = findings.filter((finding) => finding.fix !== undefined) as readonly Diagnostic[];
  const { text: fixed, mended } = applyFixes(text, mendable);
  if (fixed === text) return ok([]);
  const made = mended.flatMap(({ code, fix }) => (fix === undefined ? [] : [{ path, code, title: fix.title }]));
  return files.write(path, fixed).map(() => made);
}
