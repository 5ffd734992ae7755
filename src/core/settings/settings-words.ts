import { unreachable } from '../assert.ts';
import { quote } from '../json/json-value.ts';
import type { IgnoredSetting, SettingOrigin, SettingProblem } from './resolve-settings.ts';
import { SETTING_KEYS, settingText } from './setting-keys.ts';

/** A problem with the settings and where it is. */
export function configProblemText(problem: SettingProblem): string {
  switch (problem.code) {
    case 'wrong_variable':
      return `${problem.name} is ${quote(problem.value)}, but must be ${problem.expected}.`;
    case 'unreadable_file':
      return `${problem.file} cannot be read (${problem.cause}).`;
    case 'broken_file':
      return `${problem.file}, line ${problem.line}: ${problem.problem}.`;
    case 'unknown_key':
      return `${problem.file}, line ${problem.line}: unknown setting ${quote(problem.key)}.${
        problem.meant === undefined ? '' : ` Did you mean ${problem.meant}?`
      }`;
    case 'wrong_value':
      return `${problem.file}, line ${problem.line}: ${problem.key} is ${problem.value}, but must be ${fileWords(problem)}.`;
    case 'wrong_place':
      return `${problem.file}, line ${problem.line}: only a user can set ${problem.key}, not a workspace.`;
    default:
      return unreachable(problem);
  }
}

/** In a file, a switch is a JSON boolean. */
function fileWords({ key, expected }: Extract<SettingProblem, { code: 'wrong_value' }>): string {
  return SETTING_KEYS[key].kind === 'switch' ? 'true or false (the default)' : expected;
}

/** What a project or the environment tried to loosen, or a setting that does not exist. */
export function ignoredText(ignored: IgnoredSetting): string {
  if ('code' in ignored) return `${configProblemText(ignored)} It is ignored.`;
  const { key, value, origin, kept } = ignored;
  const limit = kept.value === undefined ? 'the value in effect' : settingText(kept.value);
  return `${originText(origin)} sets ${key} to ${settingText(value)}, which is looser than ${limit} (${originText(kept.origin)}). It is ignored.`;
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
