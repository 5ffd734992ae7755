import * as z from 'zod';
import { SETTING_NAMES, type SettingName } from '../../../core/settings/setting-keys.ts';
import { commandShape } from '../../command-shape.ts';

const key = z.enum(SETTING_NAMES as readonly [SettingName, ...SettingName[]]);
const origin = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('default') }),
  z.strictObject({ kind: z.enum(['user', 'workspace']), file: z.string() }),
  z.strictObject({ kind: z.literal('variable'), name: z.string() }),
]);
const setting = z.strictObject({ key, value: z.union([z.string(), z.boolean()]), origin });
export type ShownSetting = z.infer<typeof setting>;

const file = z.strictObject({ kind: z.enum(['user', 'workspace']), file: z.string(), isThere: z.boolean() });
export type ShownConfigFile = z.infer<typeof file>;

const listData = z.strictObject({
  settings: z.array(setting),
  /** A name for the values in effect. */
  hash: z.string(),
  problems: z.array(z.string()),
});
export type ConfigListData = z.infer<typeof listData>;

const setData = z.strictObject({
  key,
  /** Null when the setting was taken out. */
  value: z.union([z.string(), z.boolean()]).nullable(),
  file: z.string(),
  isChanged: z.boolean(),
});
export type ConfigSetData = z.infer<typeof setData>;

export const configGetShape = commandShape('config get', setting);
export const configListShape = commandShape('config list', listData);
export const configPathShape = commandShape('config path', z.strictObject({ files: z.array(file) }));
export const configSetShape = commandShape('config set', setData);
