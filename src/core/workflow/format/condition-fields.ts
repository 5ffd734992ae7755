import { type JsonValue, quote } from '../../json/json-value.ts';
import { nearest } from '../../text/spelling.ts';
import {
  COMPARISONS,
  type Comparison,
  type Condition,
  type ConditionLeaf,
  mapCondition,
} from '../compiled/condition.ts';
import type { SourceNode, SourceObject } from '../source/source-node.ts';
import * as f from './field.ts';
import { ANY_COUNT, ID_BYTES_MAX } from './limits.ts';
import { readValue } from './read-fields.ts';
import { field, type Reader, type ReadProblem, replaceWith, reportError, reportMissing, wrongType } from './reader.ts';
import type { ConfirmationSyntax, WholeCondition } from './syntax.ts';
import { mapTexts } from './text-walk.ts';

/** The name of a context value, or a dotted path to one. */
export const contextName = f.text(256, { use: 'name', form: 'context_name', refersTo: ['context_key'] });

const word = f.text(8192, { use: 'value', bytesMin: 0 });
const OPERATORS: { readonly [comparison in Comparison]: ReturnType<typeof f.optional> } = {
  equals: f.optional(
    f.json('value'),
    'Equal. `"Yes"`, `true` and `1` are equal; case and surrounding spaces do not count.',
  ),
  not_equals: f.optional(f.json('value'), 'Not equal.'),
  in: f.optional(f.jsonList('value'), 'Equal to an entry of this list.'),
  gt: f.optional(f.numeric, 'Greater than.'),
  gte: f.optional(f.numeric, 'Greater than or equal.'),
  lt: f.optional(f.numeric, 'Less than.'),
  lte: f.optional(f.numeric, 'Less than or equal.'),
  contains: f.optional(f.json('value'), 'A list with this entry, or a text with this in it.'),
  startsWith: f.optional(word, 'A text that starts with this.'),
  endsWith: f.optional(word, 'A text that ends with this.'),
  matches: f.optional(
    f.text(8192, { use: 'name', bytesMin: 0 }),
    'A text that matches this regular expression, in linear time.',
  ),
};

export const comparison = f.closed(
  'comparison',
  {
    var: f.needed(contextName, 'A context value or loop variable; `a.b.c` looks inside it.', { as: 'variable' }),
    ...OPERATORS,
  },
  [{ of: COMPARISONS, none: unknownOperator, more: { code: 'two_operators', message: tooManyOperators } }],
);

function tooManyOperators(name: string): string {
  return `A condition makes one comparison. Remove "${name}", or join both with "and".`;
}

/** How other languages write the operators. */
const SIGNS: { readonly [sign: string]: (typeof COMPARISONS)[number] } = {
  '=': 'equals',
  '==': 'equals',
  '===': 'equals',
  eq: 'equals',
  is: 'equals',
  '!=': 'not_equals',
  '!==': 'not_equals',
  ne: 'not_equals',
  '>': 'gt',
  '>=': 'gte',
  '<': 'lt',
  '<=': 'lte',
  includes: 'contains',
  regex: 'matches',
};

/** Conditions are objects; an expression in a text is what other tools have. */
function writtenAsExpression(reader: Reader, node: SourceNode, what: string): undefined {
  const example = '{"var": "size", "equals": "large"}';
  const [, name, sign = '', value = ''] =
    node.kind === 'string' ? (/^\s*([\w.-]+)\s*(===?|!==?|>=?|<=?)\s*(.+?)\s*$/.exec(node.value) ?? []) : [];
  const operator = SIGNS[sign];
  const problem = wrongType(what, 'an object', node);
  if (name === undefined || operator === undefined) {
    return reportError(reader, node, { ...problem, message: `${problem.message} Write a condition as in ${example}.` });
  }
  const plain = value.replace(/^(["'])(.*)\1$/, '$2');
  const isLiteral = plain === value && /^(?:true|false|-?\d+(?:\.\d+)?)$/.test(value);
  const text = `{ "var": ${quote(name)}, ${quote(operator)}: ${isLiteral ? value : quote(plain)} }`;
  const fix = { title: `Replace it with ${text}`, edits: [{ ...node.span, text }] };
  return reportError(reader, node, { ...problem, message: `${problem.message} Write ${text}.`, fix });
}

function unknownOperator({ fields }: SourceObject): ReadProblem & { readonly stray?: string } {
  const stray = [...fields.values()].find(({ name }) => name !== 'var');
  const meant = stray && (SIGNS[stray.name] ?? nearest(stray.name, COMPARISONS));
  const message = `A condition needs one of the operators ${COMPARISONS.join(', ')}. Add one.`;
  if (stray === undefined) return { code: 'unknown_operator', message };
  const unknown = `Unknown operator "${stray.name}". ${meant === undefined ? `Use one of ${COMPARISONS.join(', ')}.` : `Did you mean "${meant}"?`}`;
  const fix = meant && { title: `Rename it to "${meant}"`, edits: [{ ...stray.nameSpan, text: quote(meant) }] };
  return { code: 'unknown_operator', message: unknown, stray: stray.name, ...(fix === undefined ? {} : { fix }) };
}

const compare: f.Kind<Condition> = f.built(comparison, (read, node, reader) => {
  const found = COMPARISONS.find((one) => read[one] !== undefined);
  if (found === undefined) return undefined;
  const value = read[found] as JsonValue;
  if (found === 'matches' && typeof value === 'string') {
    reader.uses.patterns.push({ at: `${node.pointer}/matches`, pattern: value, flags: '' });
  }
  return { kind: 'compare', variable: read.variable, comparison: found, value };
});

/** A condition that only says yes or no. */
export const condition: f.Kind<Condition> = f.special({
  read: (reader, node, what) => {
    if (node.kind === 'string') return writtenAsExpression(reader, node, what);
    const read = readValue(reader, wholeShape, { node, what });
    // The decision about a loop is noted where it stands, and reported where it may not stand.
    return read?.kind === 'loop_control' ? { kind: 'always' } : read;
  },
  map: mapLeaves,
  fits: () => [f.lazy('condition', () => plainShape)],
});

/** The whole condition of a loop, or one that has a name: the decision of an artifact may stand for it. */
export const wholeCondition: f.Kind<WholeCondition> = f.special({
  read: (reader, node, what) =>
    node.kind === 'string' ? writtenAsExpression(reader, node, what) : readValue(reader, wholeShape, { node, what }),
  map: (whole, change) => (whole.kind === 'loop_control' ? whole : mapLeaves(whole, change)),
  fits: () => [f.lazy('wholeCondition', () => wholeShape)],
});

export const combination = f.closed(
  'combination',
  {
    and: f.optional(f.list(condition, { min: 1, max: ANY_COUNT }), 'All of these must hold.'),
    or: f.optional(f.list(condition, { min: 1, max: ANY_COUNT }), 'One of these must hold.'),
    not: f.optional(condition, 'This must not hold.'),
  },
  [{ of: ['and', 'or', 'not'], more: { code: 'two_operators', message: tooManyOperators } }],
);

const combined: f.Kind<Condition> = f.built(combination, ({ and, or, not }, node) => {
  const lists = [
    { kind: 'and', conditions: and },
    { kind: 'or', conditions: or },
  ] as const;
  for (const { kind, conditions } of lists) {
    const written = node.kind === 'object' ? field(node, kind) : undefined;
    // A part that cannot be read makes the whole unreadable: it was reported.
    if (conditions === undefined || (written?.kind === 'array' && written.items.length > conditions.length)) continue;
    return { kind, conditions };
  }
  return not === undefined ? undefined : { kind: 'not', condition: not };
});

const id = f.optional(f.ignored, 'Its name, in an entry of `conditions`.');
const conditionId = f.text(ID_BYTES_MAX, { use: 'label', bytesMin: 0, refersTo: ['condition'] });

/** A condition that is always true or never. */
export const constantCondition = f.closed('constantCondition', {
  id,
  kind: f.needed(f.choice(['always_true', 'always_false']), 'Which of the two.'),
});

export const conditionRef = f.closed('conditionRef', {
  id,
  kind: f.needed(f.choice(['condition_ref']), 'Refers to a condition by its name.'),
  conditionId: f.needed(conditionId, 'The id of a condition of this file.'),
});

export const loopControlCondition = f.closed('loopControlCondition', {
  id,
  kind: f.needed(
    f.choice(['loop_control']),
    'The agent decides with an artifact; only as the whole condition of a loop.',
  ),
  continueWhen: f.optional(
    f.choice(['continue', 'stop']),
    'The decision by which the condition holds: `continue` for a `while` loop, `stop` for an `until` loop. The other one is an error, because "stop" always ends the loop.',
  ),
  loopId: f.optional({ data: { kind: 'ignored', refersTo: ['loop'] } }, 'Accepted without effect.'),
});

function contextObject<Inner>(name: string, inner: f.Kind<Inner>) {
  const kind = f.needed(f.choice(['context']), 'The condition stands in `condition`, or beside this key.');
  return f.closed(name, { id, kind, condition: f.needed(inner, 'The condition.') });
}

export const contextCondition = contextObject('contextCondition', condition);
const wholeContextCondition = contextObject('wholeContextCondition', wholeCondition);

const constant: f.Kind<Condition> = f.built(constantCondition, ({ kind }) => ({
  kind: kind === 'always_true' ? 'always' : 'never',
}));

const reference: f.Kind<Condition> = f.built(conditionRef, (read, node, reader) => {
  reader.uses.conditions.push({ at: `${node.pointer}/conditionId`, conditionId: read.conditionId });
  return { kind: 'ref', conditionId: read.conditionId };
});

const decision: f.Kind<WholeCondition> = f.built(loopControlCondition, ({ continueWhen }, node, reader) => {
  reader.uses.loopControls.set(node.pointer, continueWhen);
  return { kind: 'loop_control' };
});

function wrapped<Inner extends WholeCondition>(of: f.Kind<{ readonly condition: Inner }>): f.Kind<WholeCondition> {
  return f.built(of, (read, node, reader) => {
    reader.uses.wrapped.set(node.pointer, `${node.pointer}/condition`);
    return read.condition;
  });
}

const EMPTY: f.Kind<Condition> = f.built(f.object('noCondition', {}), () => ({ kind: 'always' }));

type Kinds = { readonly [kind: string]: f.Kind<WholeCondition> };

const PLAIN_KINDS: Kinds = {
  always_true: constant,
  always_false: constant,
  context: contextKind(wrapped(contextCondition), () => plainShape),
  condition_ref: reference,
};
const WHOLE_KINDS: Kinds = {
  ...PLAIN_KINDS,
  loop_control: decision,
  context: contextKind(wrapped(wholeContextCondition), () => wholeShape),
};

function contextKind(inside: f.Kind<WholeCondition>, beside: () => f.Kind<WholeCondition>): f.Kind<WholeCondition> {
  return f.chosen<WholeCondition>(
    { when: { has: ['condition'] }, of: inside },
    { of: f.without(['kind', 'id'], f.lazy('', beside)) },
  );
}

function conditionShape(kinds: Kinds): f.Kind<WholeCondition> {
  return f.chosen<WholeCondition>(
    { when: { isEmpty: true }, of: EMPTY },
    { when: { has: ['kind'] }, of: f.variants('kind', kinds) },
    { when: { has: ['and', 'or', 'not'] }, of: combined },
    { of: compare },
  );
}

const plainShape = conditionShape(PLAIN_KINDS);
const wholeShape = conditionShape(WHOLE_KINDS);

function mapLeaves(whole: Condition, change: f.TextChange): Condition {
  return mapCondition(whole, (leaf) => mapLeaf(leaf, change));
}

function mapLeaf(leaf: ConditionLeaf, change: f.TextChange): ConditionLeaf {
  if (leaf.kind === 'ref') return { kind: 'ref', conditionId: mapTexts(conditionId, leaf.conditionId, change) };
  if (leaf.kind !== 'compare') return leaf;
  const { kind } = OPERATORS[leaf.comparison];
  return {
    ...leaf,
    variable: mapTexts(contextName, leaf.variable, change),
    value: mapTexts(kind, leaf.value, change),
  };
}

const conditionName = f.object('namedCondition', {
  id: f.needed(f.text(ID_BYTES_MAX, { use: 'label', form: 'safe_id', names: 'condition' }), 'Its name in this file.'),
  kind: f.needed(f.ignored, 'The kind of condition; see below.'),
});

export type NamedCondition = { readonly at: string; readonly conditionId: string; readonly condition: WholeCondition };

/** An entry of `conditions`. One that cannot be read stays by its name: what refers to it is not wrong. */
export const namedCondition: f.Kind<NamedCondition> = f.special({
  read: (reader, node, what) => {
    if (node.kind !== 'object') return readValue(reader, conditionName, { node, what }) as undefined;
    const kind = field(node, 'kind') ?? reportMissing(reader, node, { name: 'kind', known: ['id', 'kind'] });
    const idNode = field(node, 'id') ?? reportMissing(reader, node, { name: 'id', known: ['id', 'kind'] });
    const name = idNode && readValue(reader, conditionName.fields.id.kind, { node: idNode, what: '"id"' });
    const read = kind && readValue(reader, wholeShape, { node, what });
    if (name === undefined) return undefined;
    return { at: node.pointer, conditionId: name, condition: read ?? { kind: 'always' } };
  },
  map: (named, change) => ({
    at: change.place(named.at, 'at'),
    conditionId: mapTexts(conditionName.fields.id.kind, named.conditionId, { ...change, at: named.at }),
    condition: mapTexts(wholeCondition, named.condition, { ...change, at: named.at }),
  }),
  fits: () => [conditionName, wholeCondition],
});

/** What `continueWhen` may say in either type of loop: the decision "stop" must end both. */
export const LOOP_DECISIONS = {
  while: {
    fitting: 'continue',
    message: 'With this the loop would continue on the decision "stop". Write "continue", or leave it out.',
  },
  until: {
    fitting: 'stop',
    message:
      'The condition of an "until" loop says when it ends, so this would end it on the decision "continue". Write "stop", or leave it out.',
  },
} as const;

/** The condition of a loop. */
export function loopCondition(type: 'while' | 'until'): f.Kind<WholeCondition> {
  return f.built(wholeCondition, (whole, node, reader) => {
    reader.uses.loopConditions.push({ at: node.pointer, type });
    const { fitting, message } = LOOP_DECISIONS[type];
    const said = node.kind === 'object' && whole.kind === 'loop_control' ? field(node, 'continueWhen') : undefined;
    if (said?.kind !== 'string' || said.value === fitting) return whole;
    return reportError(reader, said, { code: 'wrong_value', message, fix: replaceWith(said, fitting) });
  });
}

export const gate = f.closed('gate', {
  kind: f.needed(f.choice(['human_approval', 'coordinator_eval']), 'Who must agree before the run continues.'),
  condition: f.optional(condition, 'It is asked for while this holds; always, if left out.', { as: 'when' }),
});

const ALWAYS: Condition = { kind: 'always' };
const gated: f.Kind<ConfirmationSyntax> = f.built(gate, ({ kind, when }) => ({ kind, when: when ?? ALWAYS }));
const confirmed = (of: f.Kind<WholeCondition>): f.Kind<ConfirmationSyntax> =>
  f.built(of, (when): ConfirmationSyntax => ({ kind: 'confirm', when: when.kind === 'loop_control' ? ALWAYS : when }));

function gateOr(kinds: Kinds): f.Kind<ConfirmationSyntax> {
  const conditions = Object.entries(kinds).map(([kind, of]) => [kind, confirmed(of)]);
  const gates = { human_approval: gated, coordinator_eval: gated, ...Object.fromEntries(conditions) };
  return f.chosen({ when: { has: ['kind'] }, of: f.variants('kind', gates) }, { of: confirmed(condition) });
}

const wholeGate = gateOr(WHOLE_KINDS);
const plainGate = gateOr(PLAIN_KINDS);

/** `requireConfirmation`: a flag, a condition, or a gate. */
export const confirmation: f.Kind<ConfirmationSyntax> = f.built(
  f.either(
    'true, false, a condition or a gate',
    f.built(f.flag, (isAsked): ConfirmationSyntax => (isAsked ? { kind: 'confirm', when: ALWAYS } : { kind: 'none' })),
    f.special<ConfirmationSyntax>({
      read: (reader, node, what) => readValue(reader, wholeGate, { node, what }),
      map: (asked) => asked,
      fits: () => [plainGate],
    }),
  ),
  (asked) => asked,
  (asked, change) => (asked.kind === 'none' ? asked : { ...asked, when: mapLeaves(asked.when, change) }),
);
