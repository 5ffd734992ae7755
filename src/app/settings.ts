import { applyEdits, findNodeAtLocation, modify, parseTree } from 'jsonc-parser';
import { err, ok, type Result } from 'neverthrow';
import { assert } from '../core/assert.ts';
import { quote } from '../core/json/json-value.ts';
import type { SettingProblem, SettingsLayer } from '../core/settings/resolve-settings.ts';
import { isLooser, SETTING_KEYS, type SettingName, type SettingValue } from '../core/settings/setting-keys.ts';
import { parseSettingsFile } from '../core/settings/settings-file.ts';
import { insertProperty } from './clients/edit/json-editor.ts';
import type { FileAccessFailure, UserFiles } from './ports/machine.ts';

export type SetConfigRefusal = FileAccessFailure | Extract<SettingProblem, { code: 'broken_file' }>;

export type ConfigChange = {
  readonly origin: SettingsLayer['origin'];
  readonly key: SettingName;
  /** `undefined` removes the setting, so that the next layer applies. */
  readonly value: SettingValue | undefined;
};

/** Changes one setting in a file and leaves everything else as it is. Returns whether anything changed. */
export async function setConfig(
  files: UserFiles,
  { origin, key, value }: ConfigChange,
): Promise<Result<boolean, SetConfigRefusal>> {
  const read = await files.read(origin.file);
  if (read.isErr()) return err(read.error);
  const text = (read.value ?? '').trim() === '' ? '{}\n' : (read.value ?? '');
  const { layer, problems } = parseSettingsFile(text, origin);
  const broken = problems.find((problem) => problem.code === 'broken_file');
  if (broken !== undefined) return err(broken);
  if (
    quote(layer.values[key] ?? null) === quote(value ?? null) &&
    !problems.some((problem) => 'key' in problem && problem.key === key)
  )
    return ok(false);
  const put = await files.put(origin.file, edited(text, key, value));
  return put.map(() => true);
}

/** The value that a change would loosen; `undefined` if it only tightens or the setting has no such order. */
export async function loosenedBy(
  files: UserFiles,
  { origin, key, value }: ConfigChange,
): Promise<{ readonly before: SettingValue } | undefined> {
  const read = await files.read(origin.file);
  const { layer } = parseSettingsFile((read.isOk() ? read.value : undefined) ?? '{}', origin);
  // In the user's file a missing value means the default, in a project's file that the project sets no limit.
  const fallback = origin.kind === 'user' ? (SETTING_KEYS[key].fallback ?? TIGHTEST_POLICY[key]) : undefined;
  const before = layer.values[key] ?? fallback;
  return before !== undefined && isLooser(key, value ?? fallback, before) ? { before } : undefined;
}

/** The default of the risk policy depends on the mode; the tightest of them counts here. */
const TIGHTEST_POLICY: { readonly [name in SettingName]?: SettingValue } = { riskPolicy: 'conservative' };

function edited(text: string, key: SettingName, value: SettingValue | undefined): string {
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : '';
  const body = text.slice(mark.length);
  const tree = parseTree(body, [], { allowTrailingComma: true });
  assert(tree !== undefined, 'the file was parsed before');
  const old = findNodeAtLocation(tree, [key]);
  const isNew = old === undefined && value !== undefined;
  const edits = isNew ? insertProperty(body, tree, { key, value }) : modify(body, [key], value, {});
  return `${mark}${applyEdits(body, [...edits])}`;
}
