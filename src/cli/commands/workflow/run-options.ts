import { err, ok, Result } from 'neverthrow';
import type { JsonObject } from '../../../core/json/json-value.ts';
import { AUTONOMY, type Autonomy } from '../../../core/log/autonomy.ts';
import { jsonObjectSchema } from '../../../core/log/field-schemas.ts';
import { nearest } from '../../../core/text/spelling.ts';
import { wrongUse } from '../../author/workflow-words.ts';
import type { CommandProblem } from '../../command.ts';

const parseJson = Result.fromThrowable(JSON.parse as (text: string) => unknown);

/** The context that was typed as JSON. */
export function readContext(option: unknown): Result<JsonObject | undefined, CommandProblem> {
  if (option === undefined) return ok(undefined);
  const parsed = parseJson(String(option)).map((value) => jsonObjectSchema.safeParse(value));
  if (parsed.isOk() && parsed.value.success) return ok(parsed.value.data);
  return err(wrongUse('--context is no JSON object.', `Type it in quotes, like --context '{"taskSize":"small"}'.`));
}

export function readMode(option: unknown): Result<Autonomy | undefined, CommandProblem> {
  if (option === undefined) return ok(undefined);
  const mode = AUTONOMY.find((name) => name === option);
  if (mode !== undefined) return ok(mode);
  const meant = nearest(String(option), AUTONOMY);
  const choice = meant === undefined ? `It may be ${AUTONOMY.join(', ')}.` : `Did you mean ${meant}?`;
  return err(wrongUse(`There is no mode "${String(option)}".`, choice));
}
