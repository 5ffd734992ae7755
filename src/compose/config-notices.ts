import { printable } from '../cli/output/line.ts';
import { EXIT } from '../cli/problem.ts';
import type { ResolvedSettings } from '../core/settings/resolve-settings.ts';
import { configProblemText, ignoredText } from '../core/settings/settings-words.ts';

/** What a server says about its settings before it starts, and the exit code if it cannot start with them. */
export function configNotices({ ignored, problems: [problem] }: Pick<ResolvedSettings, 'ignored' | 'problems'>): {
  readonly lines: readonly string[];
  readonly exitCode: number | undefined;
} {
  const lines = ignored.map((one) => `workrail: ${printable(ignoredText(one))}\n`);
  if (problem === undefined) return { lines, exitCode: undefined };
  const refusal = `workrail: ${printable(configProblemText(problem))} Nothing was started.\n`;
  return { lines: [...lines, refusal], exitCode: EXIT.usage };
}
