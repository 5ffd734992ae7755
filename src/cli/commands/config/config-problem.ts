import type { SetConfigRefusal } from '../../../app/settings.ts';
import { SETTING_KEYS, SETTING_NAMES, type SettingName } from '../../../core/settings/setting-keys.ts';
import { configProblemText } from '../../../core/settings/settings-words.ts';
import { nearest } from '../../../core/text/spelling.ts';
import type { CommandProblem } from '../../command.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';

export function unknownSetting(asked: string): CommandProblem {
  const meant = nearest(asked, SETTING_NAMES);
  const known = `The settings are ${SETTING_NAMES.join(', ')}.`;
  return problem(
    EXIT.usage,
    `There is no setting "${asked}".`,
    meant === undefined ? known : `Did you mean ${meant}? ${known}`,
  );
}

export function wrongValue(key: SettingName, asked: string): CommandProblem {
  return problem(EXIT.usage, `"${asked}" means nothing for ${key}.`, `It may be ${SETTING_KEYS[key].expected}.`);
}

export function valueMissing(key: SettingName): CommandProblem {
  return problem(
    EXIT.usage,
    `What shall ${key} be?`,
    `Type a value behind it: ${SETTING_KEYS[key].expected}; or --unset.`,
  );
}

export function notForWorkspaces(key: SettingName): CommandProblem {
  return problem(
    EXIT.usage,
    `${key} is for the user of a machine to set, not for a workspace.`,
    'Leave --project out.',
  );
}

export function isWorkspaceless(): CommandProblem {
  return problem(
    EXIT.usage,
    'This folder is your home folder, which is no project.',
    'Leave --project out, or type it in a project.',
  );
}

export function notSet(refusal: SetConfigRefusal): CommandProblem {
  return refusal.code === 'broken_file'
    ? problem(EXIT.failed, configProblemText(refusal), 'Put that right first; nothing was changed.')
    : problem(
        EXIT.failed,
        `${refusal.path} could not be written (${refusal.cause}).`,
        'Check its permissions and the free space.',
      );
}

export function wrongSettings(sentences: readonly string[]): CommandProblem {
  return problem(EXIT.checkFailed, sentences.join(' '), 'Put that right: until then no server starts.');
}

function problem(exitCode: ExitCode, message: string, suggestion: string): CommandProblem {
  return { exitCode, error: { code: 'VALIDATION_ERROR', message, suggestion, retry: { kind: 'not_retryable' } } };
}
