import { err, ok } from 'neverthrow';
import { setConfig } from '../../../app/settings.ts';
import { isSettingName, isSettingValue, SETTING_KEYS, valueOfText } from '../../../core/settings/setting-keys.ts';
import type { RunCommand } from '../../command.ts';
import type { Line } from '../../output/line.ts';
import type { ConfigSetData } from '../../shapes/config/config-shapes.ts';
import {
  isWorkspaceless,
  notForWorkspaces,
  notSet,
  unknownSetting,
  valueMissing,
  wrongValue,
} from './config-problem.ts';

export const configSet: RunCommand = async ({ program }, { operands, options }) => {
  const [key = '', text] = operands;
  if (!isSettingName(key)) return err(unknownSetting(key));
  const isUnset = options['unset'] === true;
  if ((text === undefined) !== isUnset) return err(valueMissing(key));
  const value = text === undefined ? undefined : valueOfText(key, text);
  if (text !== undefined && !isSettingValue(key, value)) return err(wrongValue(key, text));
  const isProject = options['project'] === true;
  if (isProject && !SETTING_KEYS[key].isForWorkspaces) return err(notForWorkspaces(key));

  const { config, configFiles, files } = await program.setup();
  const origin = configFiles.find(({ kind }) => kind === (isProject ? 'workspace' : 'user'));
  if (origin === undefined) return err(isWorkspaceless());
  const set = await setConfig(files, { origin, key, value });
  if (set.isErr()) return err(notSet(set.error));
  const data: ConfigSetData = { key, value: value ?? null, file: origin.file, isChanged: set.value };
  const now = (await config()).settings[key];
  const isOverruled = now.origin.kind === 'variable' || (now.origin.kind === 'workspace' && !isProject);
  return ok({
    kind: 'done',
    data,
    lines: [
      [set.value ? `${key} is ${isUnset ? 'no longer set' : String(value)} in ${origin.file}.` : 'It is so already.'],
      ...(isOverruled ? [overruled(now.origin)] : []),
    ],
    next: `workrail config get ${key}`,
  });
};

function overruled(origin: { readonly kind: string; readonly name?: string; readonly file?: string }): Line {
  return [{ text: `${origin.name ?? origin.file ?? ''} says otherwise, and wins.`, style: 'notable' }];
}
