import { quote } from '../../json/json-value.ts';
import type { Check } from '../../workflow/compiled/check.ts';
import { type ContextValues, readPath, VALUE_PLACE } from '../condition/context-values.ts';

/** A command as it is run, or the names of the values that it still lacks. */
export type CheckCommand = {
  readonly text: string;
  readonly unset: readonly string[];
  /** Context keys that it takes values from. */
  readonly keys: readonly string[];
};

/** Values are put in as they are: whether the command counts is decided by who chose it. */
export function checkCommand({ run }: Pick<Check, 'run'>, values: ContextValues): CheckCommand {
  const unset = new Set<string>();
  const keys = new Set<string>();
  const text = run.replaceAll(VALUE_PLACE, (whole, path: string) => {
    keys.add(path.split('.')[0] ?? path);
    const value = readPath(values, path);
    if (value !== undefined && value !== null && value !== '') return typeof value === 'string' ? value : quote(value);
    unset.add(path);
    return whole;
  });
  return { text, unset: [...unset], keys: [...keys] };
}
