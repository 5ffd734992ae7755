import { applyEdits, findNodeAtLocation, modify, parseTree } from 'jsonc-parser';
import { err, ok, type Result } from 'neverthrow';
import { assert } from '../../../core/assert.ts';
import type { ConfigName, ConfigValue } from '../../../core/machine/config/config-keys.ts';
import { parseConfigFile } from '../../../core/machine/config/parse-config-file.ts';
import type { ConfigLayer, ConfigProblem } from '../../../core/machine/config/resolve-config.ts';
import { insertProperty } from './edit/insert-property.ts';
import type { FileFailure, SetupFiles } from './setup-services.ts';

export type SetConfigRefusal = FileFailure | Extract<ConfigProblem, { code: 'broken_file' }>;

export type ConfigChange = {
  readonly origin: ConfigLayer['origin'];
  readonly key: ConfigName;
  /** `undefined` takes the setting out, so that what lies below holds. */
  readonly value: ConfigValue | undefined;
};

/** Changes one setting in a file and leaves everything else there as it is. Tells whether anything changed. */
export async function setConfig(
  files: SetupFiles,
  { origin, key, value }: ConfigChange,
): Promise<Result<boolean, SetConfigRefusal>> {
  const read = await files.read(origin.file);
  if (read.isErr()) return err(read.error);
  const text = (read.value ?? '').trim() === '' ? '{}\n' : (read.value ?? '');
  const { layer, problems } = parseConfigFile(text, origin);
  const broken = problems.find((problem) => problem.code === 'broken_file');
  if (broken !== undefined) return err(broken);
  if (layer.values[key] === value && !problems.some((problem) => 'key' in problem && problem.key === key))
    return ok(false);
  const put = await files.put(origin.file, edited(text, key, value));
  return put.map(() => true);
}

function edited(text: string, key: ConfigName, value: ConfigValue | undefined): string {
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : '';
  const body = text.slice(mark.length);
  const tree = parseTree(body, [], { allowTrailingComma: true });
  assert(tree !== undefined, 'it was parsed before');
  const old = findNodeAtLocation(tree, [key]);
  const isNew = old === undefined && value !== undefined;
  const edits = isNew ? insertProperty(body, tree, { key, value }) : modify(body, [key], value, {});
  return `${mark}${applyEdits(body, [...edits])}`;
}
