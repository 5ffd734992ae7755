import { type Criteria, type CriteriaRule, mapCriteria } from '../compiled/criteria.ts';
import { condition } from './condition-fields.ts';
import * as f from './field.ts';
import { ANY_COUNT } from './limits.ts';
import { readValue } from './read-fields.ts';
import { reportError, reportWarning } from './reader.ts';
import { mapTexts } from './text-walk.ts';

const head = {
  message: f.needed(f.text(512, { use: 'text' }), 'What the agent is asked to do.'),
  form: f.optional(
    f.text(240, { use: 'text', form: 'form_line' }),
    'The line to fill in, such as `Verdict: <fill: approve | reject>`; without it, a blank with the message.',
  ),
  condition: f.optional(condition, 'The rule counts only while this holds.', { as: 'when' }),
};
const size = f.integer(0, Number.MAX_SAFE_INTEGER);

export const containsRule = f.closed('containsRule', {
  type: f.needed(f.choice(['contains']), 'The notes must contain a text.', { as: 'kind' }),
  ...head,
  value: f.needed(f.text(1024, { use: 'phrase' }), 'What the notes must contain; case does not count.'),
});

export const regexRule = f.closed('regexRule', {
  type: f.needed(f.choice(['regex']), 'The notes must match a pattern.', { as: 'kind' }),
  ...head,
  pattern: f.needed(f.text(1024, { use: 'name' }), 'The regular expression; it runs in linear time.'),
  flags: f.defaulted(
    f.text(64, { use: 'name', form: 'flags', bytesMin: 0 }),
    'Any of `i`, `m` and `s`; `g` and `u` are accepted without effect.',
    { otherwise: '' },
  ),
});

export const lengthRule = f.closed(
  'lengthRule',
  {
    type: f.needed(f.choice(['length']), 'The notes must have a length. Give `min`, `max` or both.', { as: 'kind' }),
    ...head,
    min: f.optional(size, 'At least this many characters.'),
    max: f.optional(size, 'At most this many characters.'),
  },
  [
    {
      of: ['min', 'max'],
      none: () => ({ code: 'missing_field', message: 'A length rule needs "min" or "max". Add one of them.' }),
    },
  ],
);

export const schemaRule = f.closed('schemaRule', {
  type: f.needed(f.choice(['schema']), 'Shown to the agent, but not checked.', { as: 'kind' }),
  ...head,
  schema: f.optional(f.ignored, 'Accepted without effect.'),
});

/** `g` and `u` are accepted and mean nothing: a check looks once, and always at whole characters. */
const MEANINGFUL_FLAGS = ['i', 'm', 's'];

const regex: f.Kind<CriteriaRule> = f.built(regexRule, ({ at, ...rule }, _node, reader) => {
  const flags = MEANINGFUL_FLAGS.filter((flag) => rule.flags.includes(flag)).join('');
  reader.uses.patterns.push({ at: `${at}/pattern`, pattern: rule.pattern, flags });
  return { ...rule, flags };
});

const length: f.Kind<CriteriaRule> = f.built(lengthRule, ({ at: _, ...rule }, node, reader) => {
  const { min, max } = rule;
  if (min === undefined || max === undefined || min <= max) return rule;
  const message = `No text has at least ${min} and at most ${max} characters. Swap "min" and "max".`;
  return reportError(reader, node, { code: 'wrong_value', message });
});

const schema: f.Kind<CriteriaRule> = f.built(schemaRule, ({ at: _, ...rule }, node, reader) => {
  const message = 'A schema rule is shown to the agent but not checked. Use an output contract for structured results.';
  reportWarning(reader, node, { code: 'schema_rule_not_enforced', message });
  return rule;
});

const contains: f.Kind<CriteriaRule> = f.built(containsRule, ({ at: _, ...rule }) => rule);
const rules = f.variants<CriteriaRule>('type', { contains, regex, length, schema });

const part: f.Kind<Criteria> = f.lazy('criteria', () =>
  f.either(
    'a list of rules or an object',
    f.built(f.list(part, { min: 1, max: ANY_COUNT }), (parts) => joined('and', parts)),
    written,
  ),
);

function joinObject<const Key extends 'and' | 'or'>(key: Key, says: string) {
  const fields = { [key]: f.needed(f.list(part, { min: 1, max: ANY_COUNT }), says, { as: 'parts' }) };
  type Joined = { readonly [key in Key]: ReturnType<typeof f.needed<readonly Criteria[], 'parts'>> };
  return f.closed(`${key}Criteria`, fields as Joined);
}

export const andCriteria: f.ObjectKind<{ readonly and: Join }> = joinObject('and', 'All of these must be met.');
export const orCriteria: f.ObjectKind<{ readonly or: Join }> = joinObject('or', 'One of these must be met.');
type Join = ReturnType<typeof f.needed<readonly Criteria[], 'parts'>>;
export const notCriteria = f.closed('notCriteria', { not: f.needed(part, 'This must not be met.') });

function joined(kind: 'and' | 'or', parts: readonly Criteria[]): Criteria | undefined {
  const [only] = parts;
  return parts.length === 1 ? only : { kind, criteria: parts };
}

const written: f.Kind<Criteria> = f.chosen<Criteria>(
  { when: { has: ['and'] }, of: f.built(andCriteria, (read) => joined('and', read.parts)) },
  { when: { has: ['or'] }, of: f.built(orCriteria, (read) => joined('or', read.parts)) },
  { when: { has: ['not'] }, of: f.built(notCriteria, (read): Criteria => ({ kind: 'not', criteria: read.not })) },
  { of: rules },
);

/** What the notes of a step must show: a list of rules, of which all count, or a combination. No rules are none. */
export const criteria: f.Kind<Criteria> = f.special({
  read: (reader, node, what) =>
    node.kind === 'array' && node.items.length === 0 ? undefined : readValue(reader, part, { node, what }),
  map: (whole, change) => mapCriteria(whole, (rule) => mapTexts(rules, rule, change)),
  fits: () => [f.either('a list of rules or an object', f.list(part, { max: ANY_COUNT }), written)],
});
