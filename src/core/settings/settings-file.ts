import { getNodeValue, type Node } from 'jsonc-parser';
import { defined, quote } from '../json/json-value.ts';
import { parseLenientJson } from '../json/lenient-json.ts';
import { nearest } from '../text/spelling.ts';
import type { SettingProblem, SettingsLayer } from './resolve-settings.ts';
import {
  isSettingName,
  isSettingValue,
  SETTING_KEYS,
  SETTING_NAMES,
  type SettingName,
  type SettingValue,
} from './setting-keys.ts';

export type SettingsFile = { readonly layer: SettingsLayer; readonly problems: readonly SettingProblem[] };

/** Parses a settings file, which may contain comments. Reports all problems, not only the first. */
export function parseSettingsFile(text: string, origin: SettingsLayer['origin']): SettingsFile {
  const { file } = origin;
  const tree = parseLenientJson(text);
  const line = (offset: number) => text.slice(0, offset).split('\n').length;
  if (tree.isErr()) {
    const { offset, problem } = tree.error;
    return { layer: { origin, values: {} }, problems: [{ code: 'broken_file', file, line: line(offset), problem }] };
  }
  const values: { [name in SettingName]?: SettingValue } = {};
  const problems: SettingProblem[] = [];
  for (const { children: [key, value] = [] } of tree.value.children ?? []) {
    if (key === undefined || value === undefined) continue;
    const read = readProperty(key, value, origin);
    const at = { file, line: line(key.offset) };
    const isTwice = 'name' in read && values[read.name] !== undefined;
    // A person who reads the file may see the value that does not count.
    if (isTwice)
      problems.push({ code: 'broken_file', ...at, problem: `${read.name} is set twice; remove one of them` });
    if ('name' in read) values[read.name] = read.value;
    else problems.push({ ...read.problem, ...at });
  }
  return { layer: { origin, values }, problems };
}

type Unplaced<Problem> = Problem extends SettingProblem ? Omit<Problem, 'file' | 'line'> : never;
type InFile = Unplaced<Extract<SettingProblem, { code: 'unknown_key' | 'wrong_value' | 'wrong_place' }>>;
type Read = { readonly name: SettingName; readonly value: SettingValue } | { readonly problem: InFile };

function readProperty(key: Node, node: Node, { kind }: SettingsLayer['origin']): Read {
  const name = String(key.value);
  if (!isSettingName(name)) {
    // Settings with a dot in their name are written flat.
    const meant = SETTING_NAMES.find((known) => known.startsWith(`${name}.`)) ?? nearest(name, SETTING_NAMES);
    return { problem: defined({ code: 'unknown_key' as const, key: name, meant }) };
  }
  const { isForWorkspaces, expected } = SETTING_KEYS[name];
  if (kind === 'workspace' && !isForWorkspaces) return { problem: { code: 'wrong_place', key: name } };
  const value: unknown = getNodeValue(node);
  if (isSettingValue(name, value)) return { name, value };
  return { problem: { code: 'wrong_value', key: name, value: quote(value), expected } };
}
