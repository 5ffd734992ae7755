import { isObject, type JsonObject, type JsonValue } from '../../json/json-value.ts';
import type { ArtifactViolation } from '../../workflow/builtins/check-artifact.ts';
import {
  describeShape,
  fieldNames,
  isRequired,
  partOf,
  type Shape,
  variantsOf,
} from '../../workflow/builtins/shape.ts';
import type { PinnedContract } from '../../workflow/compiled/compiled-workflow.ts';
import { blank, choiceBlank } from './blank.ts';

/**
 * What to send for a contract: a blank for each value that the agent must supply. Values with a single right answer are
 * filled in. Optional fields are part of it where the published example has them.
 */
export function contractForm({ schema, example }: PinnedContract, known: JsonObject = {}): JsonObject {
  const form = formOf(schema, { sample: example, words: 'value' });
  return { ...(isObject(form) ? form : {}), ...known };
}

/** The sample is the same place of the published example, whose texts say what belongs there. */
type Place = { readonly sample: JsonValue | undefined; readonly words: string };

function formOf(shape: Shape, place: Place): JsonValue {
  const [first] = variantsOf(shape);
  if (first !== undefined) return formOf(variantLike(shape, place.sample) ?? first, place);
  if (shape['const'] !== undefined) return shape['const'];
  const { enum: values } = shape;
  if (Array.isArray(values)) return values.length === 1 ? (values[0] ?? null) : choiceBlank(values);
  switch (shape['type']) {
    case 'object':
      return objectForm(shape, place.sample);
    case 'array':
      return [formOf(partOf(shape, 'items') ?? {}, { ...place, sample: firstItem(place.sample) })];
    case 'boolean':
      return choiceBlank([true, false]);
    case 'integer':
    case 'number':
      return blank(describeShape(shape));
    default:
      return blank(sampleWords(place.sample) ?? described(shape) ?? place.words);
  }
}

/** A variant of the kind that the example shows; a text is shorter to fill in than an object. */
function variantLike(shape: Shape, sample: JsonValue | undefined): Shape | undefined {
  return variantsOf(shape).find(({ type }) => (isObject(sample) ? type === 'object' : type === typeof sample));
}

function objectForm(shape: Shape, sample: JsonValue | undefined): JsonObject {
  const shown = isObject(sample) ? (sample as JsonObject) : {};
  const declared = fieldNames(shape).filter((name) => isRequired(shape, name) || isShownText(shown[name]));
  const fields = declared.map((name) => {
    const field = partOf(partOf(shape, 'properties') ?? {}, name) ?? {};
    const words = name.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
    return [name, formOf(field, { sample: shown[name], words })] as const;
  });
  // Free fields are taken from the example, because the shape does not name any.
  const free = Object.entries(shape['additionalProperties'] === false ? {} : shown)
    .filter(([name]) => !fieldNames(shape).includes(name))
    .map(([name, value]) => [name, sampleForm(value ?? null, name)] as const);
  const order = ['kind', 'version', 'assessmentId', 'loopId'];
  const rank = (name: string) => (order.indexOf(name) + order.length + 1) % (order.length + 1);
  const all = [...fields, ...free].sort(([a], [b]) => rank(a) - rank(b));
  return Object.fromEntries(all);
}

/** An optional field that the example fills with words says what is worth knowing; other optional fields are left out. */
function isShownText(sample: JsonValue | undefined): boolean {
  return sampleWords(sample) !== undefined;
}

/** The form of a part of the example that no schema describes. */
function sampleForm(sample: JsonValue, name: string): JsonValue {
  if (Array.isArray(sample)) return [sampleForm(sample[0] ?? '', name)];
  if (isObject(sample)) {
    return Object.fromEntries(
      Object.entries(sample as JsonObject).map(([key, one]) => [key, sampleForm(one ?? null, key)]),
    );
  }
  return blank(sampleWords(sample) ?? name);
}

function firstItem(sample: JsonValue | undefined): JsonValue | undefined {
  return Array.isArray(sample) ? sample[0] : undefined;
}

/** The words of a text like `<what you saw>` in a published example. */
function sampleWords(sample: JsonValue | undefined): string | undefined {
  return typeof sample === 'string' ? /^<([^<>]+)>$/.exec(sample)?.[1] : undefined;
}

function described({ description }: Shape): string | undefined {
  return typeof description === 'string' ? description : undefined;
}

/** The agent's own artifact with blanks only where it is wrong. */
export function correctedForm(
  contract: PinnedContract,
  sent: JsonObject,
  { violations, form }: { readonly violations: readonly ArtifactViolation[]; readonly form: JsonObject },
): JsonObject {
  const corrected = violations.reduce<JsonValue>((whole, violation) => fixedAt(whole, violation, form), sent);
  return isObject(corrected) ? (corrected as JsonObject) : contractForm(contract);
}

function fixedAt(whole: JsonValue, { code, path, allowed }: ArtifactViolation, form: JsonObject): JsonValue {
  const keys = path.split('/').slice(1).map(unescaped);
  if (keys.length === 0) return form;
  const offered = keys.reduce<JsonValue | undefined>(inside, form);
  return replaced(whole, keys, code === 'unknown_key' ? undefined : (offered ?? blank(allowed)));
}

function unescaped(key: string): string {
  return key.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** A list of the form has one item, which stands for all of them. */
function inside(form: JsonValue | undefined, key: string): JsonValue | undefined {
  if (Array.isArray(form)) return form[0];
  return isObject(form) ? (form as JsonObject)[key] : undefined;
}

function replaced(whole: JsonValue, keys: readonly string[], value: JsonValue | undefined): JsonValue {
  const [key = '', ...rest] = keys;
  if (keys.length === 0) return value ?? null;
  if (Array.isArray(whole)) {
    return whole.map((item: JsonValue, i) => (String(i) === key ? replaced(item, rest, value) : item));
  }
  const fields: JsonObject = isObject(whole) ? (whole as JsonObject) : {};
  if (rest.length === 0 && value === undefined) {
    const { [key]: _, ...others } = fields;
    return others;
  }
  return { ...fields, [key]: replaced(fields[key] ?? {}, rest, value) };
}
