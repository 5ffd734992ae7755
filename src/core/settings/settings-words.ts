import { unreachable } from '../assert.ts';
import { quote } from '../json/quote.ts';
import type { SettingOrigin, SettingProblem } from './resolve-settings.ts';
import { SETTING_KEYS } from './setting-keys.ts';

/** What is wrong with the settings, in one sentence that names the place. */
export function configProblemText(problem: SettingProblem): string {
  switch (problem.code) {
    case 'wrong_variable':
      return `${problem.name} is ${quote(problem.value)}; it may be ${problem.expected}.`;
    case 'unreadable_file':
      return `${problem.file} cannot be read (${problem.cause}).`;
    case 'broken_file':
      return `${problem.file}, line ${problem.line}: ${problem.problem}.`;
    case 'unknown_key':
      return `${problem.file}, line ${problem.line}: there is no setting ${quote(problem.key)}${
        problem.meant === undefined ? '' : `; did you mean ${problem.meant}?`
      }${problem.meant === undefined ? '.' : ''}`;
    case 'wrong_value':
      return `${problem.file}, line ${problem.line}: ${problem.key} is ${problem.value}; it may be ${fileWords(problem)}.`;
    case 'wrong_place':
      return `${problem.file}, line ${problem.line}: ${problem.key} is for the user of a machine to set, not for a workspace.`;
    default:
      return unreachable(problem);
  }
}

/** In a file a switch is a word of JSON. */
function fileWords({ key, expected }: Extract<SettingProblem, { code: 'wrong_value' }>): string {
  return SETTING_KEYS[key].kind === 'switch' ? 'true or false (the default)' : expected;
}

export function originText(origin: SettingOrigin): string {
  switch (origin.kind) {
    case 'default':
      return 'default';
    case 'user':
    case 'workspace':
      return origin.file;
    case 'variable':
      return origin.name;
    default:
      return unreachable(origin);
  }
}
