import { EXIT } from '../cli/command.ts';
import { printable } from '../cli/output/line.ts';
import type { SettingProblem } from '../core/settings/resolve-settings.ts';
import { configProblemText } from '../core/settings/settings-words.ts';

/** Says why there is no server, in the way a client shows it. */
export function refuseToServe(problem: SettingProblem, writeError: (text: string) => void): void {
  writeError(`workrail: ${printable(configProblemText(problem))} Nothing was started.\n`);
  process.exitCode = EXIT.usage;
}
