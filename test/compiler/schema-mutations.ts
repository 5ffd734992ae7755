import { collectDiagnostics } from '../../src/core/workflow/diagnostics/diagnostic.ts';
import { type Fields, isChosen, type Kind, withoutFields } from '../../src/core/workflow/format/field.ts';
import { workflow } from '../../src/core/workflow/format/workflow-fields.ts';
import { parseSource } from '../../src/core/workflow/source/parse-source.ts';
import type { SourceNode } from '../../src/core/workflow/source/source-node.ts';
import { type SeededRandom, seededRandom } from '../simulation/seeded-random.ts';
import { FIXTURES } from './compile-file.ts';
import { type Json, pointerOf, replaced } from './json-leaves.ts';
import { RARE_OBJECTS } from './rare-objects.ts';

const SEED = 14;

/** A document with one object changed, and what was changed. */
export type Mutation = { readonly document: Json; readonly what: string };

type Instance = {
  readonly name: string;
  readonly document: Json;
  readonly path: readonly string[];
  readonly fields: Fields;
};

/** So many mutations of every object of the format, always the same ones. */
export function mutationsByObject(count: number): ReadonlyMap<string, readonly Mutation[]> {
  const documents = [...FIXTURES.map(({ text }) => JSON.parse(text) as Json), RARE_OBJECTS];
  const instances = new Map<string, Instance[]>();
  for (const document of documents) {
    const root = parseSource(JSON.stringify(document), collectDiagnostics())._unsafeUnwrap();
    visitObjects(workflow, root, (name, fields, pointer) => {
      if (Object.keys(fields).length === 0) return;
      const path = pointer
        .split('/')
        .slice(1)
        .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
      const known = instances.get(name) ?? [];
      instances.set(name, [...known, { name, document, path, fields }]);
    });
  }
  const random = seededRandom(SEED);
  return new Map([...instances].map(([name, found]) => [name, mutationsOf(smallest(found), { count, random })]));
}

/** Small documents are compiled fastest, and a few places of each object are enough. */
function smallest(found: readonly Instance[]): readonly Instance[] {
  return found.toSorted((a, b) => JSON.stringify(a.document).length - JSON.stringify(b.document).length).slice(0, 3);
}

function mutationsOf(
  instances: readonly Instance[],
  { count, random }: { readonly count: number; readonly random: SeededRandom },
): readonly Mutation[] {
  const found = new Map<string, Mutation>();
  for (let tries = 0; found.size < count && tries < 50 * count; tries++) {
    const mutation = mutated(random.pick(instances), instances, random);
    if (mutation !== undefined) found.set(JSON.stringify(mutation.document), mutation);
  }
  return [...found.values()];
}

const LONG = 'a'.repeat(9000);
const VALUES: readonly Json[] = [
  null,
  true,
  false,
  0,
  1,
  -1,
  1.5,
  10_001,
  '',
  'x',
  'a-name',
  'Not A Name!',
  '{{braces}}',
  '3',
  LONG,
  LONG.slice(0, 300),
  [],
  [''],
  ['abc'],
  [1, 2],
  [null],
  [{}],
  [[]],
  {},
  { x: 1 },
  { kind: 'nothing' },
  { var: 'a', equals: 1 },
  { kind: 'always_true' },
  { kind: 'loop_control' },
  'standard',
  'loop',
  'wr.contracts.findings',
];

/** One structural change of an object: a field removed, added, misspelled, moved, or of another kind. */
function mutated(
  { document, path, fields }: Instance,
  others: readonly Instance[],
  random: SeededRandom,
): Mutation | undefined {
  const object = at(document, path) as { readonly [key: string]: Json };
  const present = Object.keys(object);
  const known = Object.keys(fields);
  const change = (key: string, value: Json | undefined, what: string): Mutation => ({
    document: replaced(document, [...path, key], value),
    what: `${what} ${pointerOf([...path, key])}${value === undefined ? '' : ` ${JSON.stringify(value).slice(0, 60)}`}`,
  });
  const key = present.length === 0 ? undefined : random.pick(present);
  switch (random.below(7)) {
    case 0:
      return key === undefined ? undefined : change(key, undefined, 'remove');
    case 1:
      return key === undefined ? undefined : change(key, random.pick(VALUES), 'set');
    case 2:
      return known.length === 0 ? undefined : change(random.pick(known), random.pick(VALUES), 'set');
    case 3:
      return change(
        random.pick(['unknownKey', '$comment', 'extra', 'kind', 'id', 'type', 'value', 'name']),
        random.pick(VALUES),
        'add',
      );
    case 4: {
      const other = at(...own(random.pick(others))) as { readonly [key: string]: Json };
      const names = Object.keys(other);
      const name = names.length === 0 ? undefined : random.pick(names);
      return name === undefined ? undefined : change(name, other[name], 'copy');
    }
    case 5: {
      const value = key === undefined ? undefined : object[key];
      if (key === undefined || value === undefined) return undefined;
      if (!Array.isArray(value)) return change(key, [value], 'wrap');
      return change(
        key,
        random.pick<Json>([[], value[0] ?? null, [...value, random.pick(VALUES)], [random.pick(VALUES)]]),
        'list',
      );
    }
    default: {
      const value = key === undefined ? undefined : object[key];
      if (key === undefined || value === undefined) return undefined;
      const { document: without } = change(key, undefined, '');
      const name = random.pick([`${key}s`, key.slice(1), ...known]);
      return {
        document: replaced(without, [...path, name], value),
        what: `rename ${pointerOf([...path, key])} to ${name}`,
      };
    }
  }
}

function own({ document, path }: Instance): [Json, readonly string[]] {
  return [document, path];
}

function at(document: Json, path: readonly string[]): Json {
  return path.reduce<Json>((value, key) => (value as { [key: string]: Json })[key] ?? null, document);
}

type VisitObject = (name: string, fields: Fields, pointer: string) => void;

/** Every object of a file that the tables know. */
function visitObjects({ data }: Kind, node: SourceNode, visit: VisitObject): void {
  switch (data.kind) {
    case 'object':
      if (node.kind !== 'object') return;
      visit(data.name, data.fields, node.pointer);
      for (const [name, field] of Object.entries(data.fields)) {
        const inner = node.fields.get(name);
        if (inner !== undefined) visitObjects(field.kind, inner.value, visit);
      }
      return;
    case 'list':
      if (node.kind === 'array') for (const item of node.items) visitObjects(data.of, item, visit);
      return;
    case 'record':
      if (node.kind === 'object') for (const { value } of node.fields.values()) visitObjects(data.of, value, visit);
      return;
    case 'either':
      for (const option of data.options) if (isLike(option, node)) visitObjects(option, node, visit);
      return;
    case 'variants': {
      const word = node.kind === 'object' ? node.fields.get(data.by)?.value : undefined;
      const variant = word?.kind === 'string' ? data.of[word.value] : undefined;
      if (variant !== undefined) visitObjects(variant, node, visit);
      return;
    }
    case 'chosen': {
      const option = data.options.find(({ when }) => node.kind === 'object' && isChosen(when, node));
      if (option !== undefined) visitObjects(option.of, node, visit);
      return;
    }
    case 'built':
      visitObjects(data.of, node, visit);
      return;
    case 'without':
      visitObjects(data.of, withoutFields(node, data.keys), visit);
      return;
    case 'special':
      for (const kind of data.fits()) visitObjects(kind, node, visit);
      return;
    case 'lazy':
      visitObjects(data.of(), node, visit);
      return;
    default:
  }
}

function isLike({ data }: Kind, node: SourceNode): boolean {
  if (data.kind === 'built') return isLike(data.of, node);
  return data.kind === 'list' ? node.kind === 'array' : node.kind === 'object';
}
