import { err, ok, type Result } from 'neverthrow';
import { applyFixes } from '../../../core/workflow/diagnostics/apply-fixes.ts';
import type { Diagnostic } from '../../../core/workflow/diagnostics/diagnostic.ts';
import type { AuthorBench } from '../author-bench.ts';
import type { FileFailure } from '../files/author-files.ts';
import type { TargetRefusal } from '../files/find-targets.ts';
import { type CheckedFile, checkFiles } from './check-files.ts';

/** A change that was made, in the words of its fix. */
export type MadeFix = { readonly path: string; readonly code: string; readonly title: string };

/** One fix may uncover the next; more rounds than this would be two fixes that undo each other. */
const ROUNDS_MAX = 10;

/** Makes every fix that a machine can make, and says what is left. Nothing else in a file is touched. */
export async function fixFiles(
  bench: AuthorBench,
  asked: readonly string[],
): Promise<
  Result<{ readonly made: readonly MadeFix[]; readonly files: readonly CheckedFile[] }, TargetRefusal | FileFailure>
> {
  const made: MadeFix[] = [];
  for (let round = 0; ; round += 1) {
    const checked = await checkFiles(bench, asked);
    if (checked.isErr()) return err(checked.error);
    const before = made.length;
    for (const file of round < ROUNDS_MAX ? checked.value.filter((one) => isOwn(bench, one, asked)) : []) {
      const fixed = fixFile(bench, file);
      if (fixed.isErr()) return err(fixed.error);
      made.push(...fixed.value);
    }
    if (made.length === before) return ok({ made, files: checked.value });
  }
}

/** What was installed is not changed, unless somebody names it. */
function isOwn({ files, workspace, folders }: AuthorBench, { path }: CheckedFile, asked: readonly string[]): boolean {
  const own = [workspace, folders.user].map((folder) => `${files.resolve(folder)}/`);
  return asked.length > 0 || own.some((folder) => files.resolve(path).startsWith(folder));
}

function fixFile(
  { files }: AuthorBench,
  { path, text, findings }: CheckedFile,
): Result<readonly MadeFix[], FileFailure> {
  const mendable = findings.filter((finding) => finding.fix !== undefined) as readonly Diagnostic[];
  const { text: fixed, mended } = applyFixes(text, mendable);
  if (fixed === text) return ok([]);
  const made = mended.flatMap(({ code, fix }) => (fix === undefined ? [] : [{ path, code, title: fix.title }]));
  return files.write(path, fixed).map(() => made);
}
