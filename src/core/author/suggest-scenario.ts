import { getLocation } from 'jsonc-parser';
import * as z from 'zod';
import { quote } from '../json/json-value.ts';
import { collectDiagnostics } from '../workflow/diagnostics/diagnostic.ts';
import { parseUnfinished } from '../workflow/source/parse-source.ts';
import { scenarioFileSchema } from './scenario.ts';
import {
  contextKeysIn,
  nodeByPath,
  type Path,
  type Suggestion,
  type Suggestions,
  stepIdsIn,
  wordAt,
} from './suggest.ts';

/** What may be written at a place of a file of scenarios, and what the field there is. Step ids are those of its workflow. */
export function suggestInScenarios(text: string, offset: number, workflow: string): Suggestions {
  const location = getLocation(text, offset);
  const { path, isAtPropertyKey } = location;
  const at = wordAt(location, offset);
  const last = path.findLastIndex((key) => typeof key === 'string');
  const name = String(path[last] ?? '');
  const field = last === -1 ? undefined : schemasAt(path.slice(0, last + 1))[0];
  const described = field?.description === undefined ? {} : { field: { name, says: field.description, accepts: '' } };
  const inside = path.slice(0, -1);
  const isValueThere = /^\s*:/.test(text.slice(at.to));
  const options = isAtPropertyKey
    ? keysAt(inside, { text, workflow }).filter(({ key, isTaken }) => key === name || !isTaken)
    : undefined;
  return {
    ...at,
    options:
      options?.map(({ key, isTaken: _, empty, ...one }) => ({
        ...one,
        label: key,
        insert: isValueThere ? quote(key) : `${quote(key)}: ${empty}`,
      })) ?? valuesAt(path, name, workflow),
    ...described,
  };
}

/** The schemas that a value at a path may have, with what makes them optional. */
function schemasAt(path: Path): readonly z.ZodType[] {
  return path.reduce<readonly z.ZodType[]>(
    (places, key) => places.flatMap(opened).flatMap((schema) => inner(schema, key)),
    [scenarioFileSchema],
  );
}

/** A schema without what makes it optional; of several, each. */
function opened(schema: z.ZodType): readonly z.ZodType[] {
  if (schema instanceof z.ZodOptional) return opened(schema.unwrap() as z.ZodType);
  return schema instanceof z.ZodUnion ? (schema.options as z.ZodType[]).flatMap(opened) : [schema];
}

function inner(schema: z.ZodType, key: string | number): readonly z.ZodType[] {
  if (schema instanceof z.ZodArray) return typeof key === 'number' ? [schema.element as z.ZodType] : [];
  if (!(schema instanceof z.ZodObject) || !Object.hasOwn(schema.shape, key)) return [];
  return [schema.shape[key] as z.ZodType];
}

type Key = Pick<Suggestion, 'says' | 'isNeeded'> & {
  readonly key: string;
  readonly empty: string;
  readonly isTaken: boolean;
};

/** The keys of the object at a path, required ones first. What a run starts with or is sent may have the workflow's names. */
function keysAt(path: Path, { text, workflow }: { readonly text: string; readonly workflow: string }): readonly Key[] {
  const root = parseUnfinished(text, collectDiagnostics());
  const node = root && nodeByPath(root, path);
  const isTaken = (key: string) => node?.kind === 'object' && node.fields.has(key);
  if (path.at(-1) === 'context') {
    const says = 'Value of context that the workflow reads.';
    return contextKeysIn(workflow).map((key) => ({ key, says, isNeeded: false, empty: '""', isTaken: isTaken(key) }));
  }
  const shapes = schemasAt(path)
    .flatMap(opened)
    .flatMap((schema) => (schema instanceof z.ZodObject ? Object.entries(schema.shape) : []));
  return shapes
    .map(([key, schema]): Key => {
      const one = schema as z.ZodType;
      const isNeeded = !(one instanceof z.ZodOptional);
      return { key, says: one.description ?? '', isNeeded, empty: emptyOf(one), isTaken: isTaken(key) };
    })
    .sort((a, b) => Number(b.isNeeded) - Number(a.isNeeded));
}

/** A value to begin with. */
function emptyOf(schema: z.ZodType): string {
  const [first] = opened(schema);
  if (first instanceof z.ZodArray) return '[]';
  if (first instanceof z.ZodBoolean) return 'true';
  if (first instanceof z.ZodNumber) return '0';
  return first instanceof z.ZodString || first instanceof z.ZodEnum ? '""' : '{}';
}

/** Under these keys stand ids of steps. */
const STEP_KEYS = new Set(['at', 'path', 'skipped']);

/** The words that a value may be: choices, and names of the workflow. */
function valuesAt(path: Path, name: string, workflow: string): readonly Suggestion[] {
  const said = (label: string, says: string): Suggestion => ({ label, insert: quote(label), says, isNeeded: false });
  const schemas = schemasAt(path).flatMap(opened);
  if (schemas.length === 0) return [];
  if (STEP_KEYS.has(name)) return stepIdsIn(workflow).map((id) => said(id, 'step of the workflow'));
  return schemas.flatMap((schema): readonly Suggestion[] => {
    if (schema instanceof z.ZodEnum) return schema.options.map((one) => said(String(one), ''));
    return schema instanceof z.ZodBoolean ? ['true', 'false'].map((one) => ({ ...said(one, ''), insert: one })) : [];
  });
}
