import { type Criteria, type CriteriaRule, mapCriteria } from '../compiled/criteria.ts';
import type { SourceNode } from '../source/source-node.ts';
import { condition } from './condition-fields.ts';
import {
  built,
  choice,
  chosen,
  defaulted,
  either,
  ignored,
  integer,
  type Kind,
  lazy,
  list,
  needed,
  type ObjectKind,
  object,
  optional,
  special,
  text,
  variants,
} from './field.ts';
import { ANY_COUNT } from './limits.ts';
import { readValue } from './read-fields.ts';
import { reportError, reportWarning } from './reader.ts';
import { mapTexts } from './text-walk.ts';

const CLOSED = { isClosed: true } as const;
const head = {
  message: needed(text(512, { use: 'text' }), 'What the agent is asked to do.'),
  condition: optional(condition, 'The rule counts only while this holds.', { as: 'when' }),
};
const size = integer(0, Number.MAX_SAFE_INTEGER);

export const containsRule = object(
  'containsRule',
  {
    type: needed(choice(['contains']), 'The notes must contain a text.', { as: 'kind' }),
    ...head,
    value: needed(text(1024, { use: 'phrase' }), 'What the notes must contain; case does not count.'),
  },
  CLOSED,
);

export const regexRule = object(
  'regexRule',
  {
    type: needed(choice(['regex']), 'The notes must match a pattern.', { as: 'kind' }),
    ...head,
    pattern: needed(text(1024, { use: 'name' }), 'The regular expression; it runs in linear time.'),
    flags: defaulted(
      text(64, { use: 'name', form: 'flags', bytesMin: 0 }),
      'Any of `i`, `m` and `s`; `g` and `u` are accepted without effect.',
      { otherwise: '' },
    ),
  },
  CLOSED,
);

export const lengthRule = object(
  'lengthRule',
  {
    type: needed(choice(['length']), 'The notes must have a length. Give `min`, `max` or both.', { as: 'kind' }),
    ...head,
    min: optional(size, 'At least this many characters.'),
    max: optional(size, 'At most this many characters.'),
  },
  {
    ...CLOSED,
    rules: [
      {
        of: ['min', 'max'],
        none: () => ({ code: 'missing_field', message: 'A length rule needs "min" or "max". Add one of them.' }),
      },
    ],
  },
);

export const schemaRule = object(
  'schemaRule',
  {
    type: needed(choice(['schema']), 'Shown to the agent, but not checked.', { as: 'kind' }),
    ...head,
    schema: optional(ignored, 'Accepted without effect.'),
  },
  CLOSED,
);

/** `g` and `u` are accepted and mean nothing: a check looks once, and always at whole characters. */
const MEANINGFUL_FLAGS = ['i', 'm', 's'];

const regex: Kind<CriteriaRule> = built(regexRule, ({ at, ...rule }, _node, reader) => {
  const flags = MEANINGFUL_FLAGS.filter((flag) => rule.flags.includes(flag)).join('');
  reader.uses.patterns.push({ at: `${at}/pattern`, pattern: rule.pattern, flags });
  return { ...rule, flags };
});

const length: Kind<CriteriaRule> = built(lengthRule, ({ at: _, ...rule }, node, reader) => {
  const { min, max } = rule;
  if (min === undefined || max === undefined || min <= max) return rule;
  const message = `No text has at least ${min} and at most ${max} characters. Swap "min" and "max".`;
  return reportError(reader, node, { code: 'wrong_value', message });
});

const schema: Kind<CriteriaRule> = built(schemaRule, ({ at: _, ...rule }, node, reader) => {
  const message = 'A schema rule is shown to the agent but not checked. Use an output contract for structured results.';
  reportWarning(reader, node, { code: 'schema_rule_not_enforced', message });
  return rule;
});

const contains: Kind<CriteriaRule> = built(containsRule, ({ at: _, ...rule }) => rule);
const rules = variants<CriteriaRule>('type', { contains, regex, length, schema });

const part: Kind<Criteria> = lazy('criteria', () =>
  either('a list of rules or an object', combined('and', list(part, { min: 1, max: ANY_COUNT })), written),
);

function joinObject<const Key extends 'and' | 'or'>(key: Key, says: string) {
  const fields = { [key]: needed(list(part, { min: 1, max: ANY_COUNT }), says, { as: 'parts' }) };
  type Joined = { readonly [key in Key]: ReturnType<typeof needed<readonly Criteria[], 'parts'>> };
  return object(`${key}Criteria`, fields as Joined, CLOSED);
}

export const andCriteria: ObjectKind<{ readonly and: Join }> = joinObject('and', 'All of these must be met.');
export const orCriteria: ObjectKind<{ readonly or: Join }> = joinObject('or', 'One of these must be met.');
type Join = ReturnType<typeof needed<readonly Criteria[], 'parts'>>;
export const notCriteria = object('notCriteria', { not: needed(part, 'This must not be met.') }, CLOSED);

function combined(kind: 'and' | 'or', of: Kind<readonly Criteria[]>): Kind<Criteria> {
  return built(of, (parts) => joined(kind, parts));
}

function joined(kind: 'and' | 'or', parts: readonly Criteria[]): Criteria | undefined {
  const [only] = parts;
  return parts.length === 1 ? only : { kind, criteria: parts };
}

const written: Kind<Criteria> = chosen<Criteria>(
  { when: { has: ['and'] }, of: built(andCriteria, (read) => joined('and', read.parts)) },
  { when: { has: ['or'] }, of: built(orCriteria, (read) => joined('or', read.parts)) },
  { when: { has: ['not'] }, of: built(notCriteria, (read): Criteria => ({ kind: 'not', criteria: read.not })) },
  { of: rules },
);

/** What the notes of a step must show: a list of rules, of which all count, or a combination. No rules are none. */
export const criteria: Kind<Criteria> = special({
  read: (reader, node, what) => (isEmptyList(node) ? undefined : readValue(reader, part, { node: node, what: what })),
  map: (whole, change) => mapCriteria(whole, (rule) => mapTexts(rules, rule, change)),
  fits: () => [either('a list of rules or an object', list(part, { max: ANY_COUNT }), written)],
});

function isEmptyList(node: SourceNode): boolean {
  return node.kind === 'array' && node.items.length === 0;
}
