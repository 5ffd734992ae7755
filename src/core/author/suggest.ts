import { getLocation, type Location } from 'jsonc-parser';
import { defined, quote } from '../json/json-value.ts';
import { collectDiagnostics } from '../workflow/diagnostics/diagnostic.ts';
import { isChosen, type Kind, type KindData, type NameRole } from '../workflow/format/field.ts';
import { mentionsIn } from '../workflow/format/rename-everywhere.ts';
import { visitTexts } from '../workflow/format/text-walk.ts';
import { workflow } from '../workflow/format/workflow-fields.ts';
import { parseUnfinished } from '../workflow/source/parse-source.ts';
import type { SourceNode, SourceObject } from '../workflow/source/source-node.ts';

export type Suggestion = {
  readonly label: string;
  /** The text that goes into the file, as JSON. */
  readonly insert: string;
  readonly says: string;
  readonly isNeeded: boolean;
};

/** What may be written at a place of a workflow file, and what the field there is. */
export type Suggestions = {
  readonly from: number;
  readonly to: number;
  readonly options: readonly Suggestion[];
  readonly field?: { readonly name: string; readonly says: string; readonly accepts: string };
};

/** Reads the field table at a place of a file that may be unfinished. */
export function suggestAt(text: string, offset: number): Suggestions {
  const location = getLocation(text, offset);
  const { path, isAtPropertyKey } = location;
  const root = parseUnfinished(text, collectDiagnostics());
  const at = wordAt(location, offset);
  if (root === undefined) return { ...at, options: [] };
  const inside = isAtPropertyKey ? path.slice(0, -1) : path;
  const { kinds, node } = placeAt(root, inside);
  const name = String(path.at(-1) ?? '');
  if (isAtPropertyKey) {
    const isValueThere = /^\s*:/.test(text.slice(at.to));
    return { ...at, options: keysOf(kinds, { node, name, isValueThere }), ...fieldAt(root, [...inside, name]) };
  }
  return { ...at, options: valuesOf(kinds, root), ...fieldAt(root, path) };
}

/** The word around or before a place, which a suggestion replaces. */
export function wordAt({ previousNode }: Location, offset: number): Pick<Suggestions, 'from' | 'to'> {
  const isInside = previousNode !== undefined && offset <= previousNode.offset + previousNode.length;
  const word = isInside ? previousNode : { offset, length: 0 };
  return { from: word.offset, to: word.offset + word.length };
}

export type Path = readonly (string | number)[];
type Place = { readonly kinds: readonly KindData[]; readonly node: SourceNode | undefined };

/** What the table says may stand at a path. */
function placeAt(root: SourceNode, path: Path): Place {
  let place: Place = { kinds: resolved(workflow, root), node: root };
  for (const key of path) {
    const node = childAt(place.node, key);
    place = { kinds: place.kinds.flatMap((data) => inner(data, key)).flatMap((kind) => resolved(kind, node)), node };
  }
  return place;
}

function childAt(node: SourceNode | undefined, key: string | number): SourceNode | undefined {
  if (node?.kind === 'object') return node.fields.get(String(key))?.value;
  return node?.kind === 'array' ? node.items[Number(key)] : undefined;
}

/** The value at a path of a file, if it is there. */
export function nodeByPath(root: SourceNode, path: Path): SourceNode | undefined {
  return path.reduce<SourceNode | undefined>(childAt, root);
}

function inner(data: KindData, key: string | number): readonly Kind[] {
  if (data.kind === 'list' && typeof key === 'number') return [data.of];
  if (data.kind === 'record') return [data.of];
  const field = data.kind === 'object' && Object.hasOwn(data.fields, key) ? data.fields[key] : undefined;
  return field === undefined ? [] : [field.kind];
}

/** The kinds that a value may be read as; of several, the one that it has chosen if it has. */
function resolved(
  kind: Kind,
  node: SourceNode | undefined,
  seen: ReadonlySet<KindData> = new Set(),
): readonly KindData[] {
  const { data } = kind;
  // A condition may be one of several, one of which is again a condition.
  if (seen.has(data)) return [];
  const inside = new Set([...seen, data]);
  const found = optionsOf(data, node)?.flatMap((one) => resolved(one, node, inside)) ?? [data];
  return data.kind === 'chosen' && node?.kind === 'object' ? [...openKeys(data, node, inside), ...found] : found;
}

/** What stands for a kind that is not one itself. */
function optionsOf(data: KindData, node: SourceNode | undefined): readonly Kind[] | undefined {
  const object = node?.kind === 'object' ? node : undefined;
  switch (data.kind) {
    case 'lazy':
      return [data.of()];
    case 'built':
    case 'without':
      return [data.of];
    case 'special':
      return data.fits();
    case 'either':
      return data.options;
    case 'variants': {
      const word = object?.fields.get(data.by)?.value;
      const variant = word?.kind === 'string' && Object.hasOwn(data.of, word.value) ? data.of[word.value] : undefined;
      return variant === undefined ? Object.values(data.of) : [variant];
    }
    case 'chosen': {
      const options = data.options.filter(({ when }) => when?.isEmpty !== true);
      const option = object && options.find(({ when }) => isChosen(when, object));
      return (option === undefined ? options : [option]).map(({ of }) => of);
    }
    default:
      return undefined;
  }
}

type Chosen = Extract<KindData, { readonly kind: 'chosen' }>;

/** The keys by which an object would be read as another one of several. None is required: it may stay what it is. */
function openKeys({ options }: Chosen, object: SourceObject, seen: ReadonlySet<KindData>): readonly KindData[] {
  const { fields } = object;
  const fits = ({ when }: Chosen['options'][number], key: string) =>
    isChosen(when, object) || (when?.has?.includes(key) === true && isChosen(defined({ is: when.is }), object));
  return options.flatMap((option) =>
    (option.when?.has ?? [])
      .filter((key) => !fields.has(key) && options.find((one) => fits(one, key)) === option)
      .flatMap((key) => resolved(option.of, object, seen).flatMap((data) => onlyKey(data, key))),
  );
}

function onlyKey(data: KindData, key: string): readonly KindData[] {
  const field = data.kind === 'object' && Object.hasOwn(data.fields, key) ? data.fields[key] : undefined;
  return data.kind !== 'object' || field === undefined
    ? []
    : [{ ...data, fields: { [key]: { ...field, isNeeded: false } } }];
}

type Keyed = { readonly node: SourceNode | undefined; readonly name: string; readonly isValueThere: boolean };

/** The keys that an object does not have yet. The key that is being written is one of them. */
function keysOf(kinds: readonly KindData[], { node, name, isValueThere }: Keyed): readonly Suggestion[] {
  const taken = node?.kind === 'object' ? [...node.fields.keys()].filter((key) => key !== name) : [];
  const fields = new Map(kinds.flatMap((data) => (data.kind === 'object' ? Object.entries(data.fields) : [])));
  return [...fields]
    .filter(([key, { kind, unused }]) => !taken.includes(key) && kind.data.kind !== 'ignored' && unused === undefined)
    .map(([key, { says, isNeeded, kind }]) => ({
      label: key,
      insert: isValueThere ? quote(key) : `${quote(key)}: ${emptyOf(kind)}`,
      says,
      isNeeded,
    }))
    .sort((a, b) => Number(b.isNeeded) - Number(a.isNeeded));
}

/** A value to begin with. Where a list or a name may stand, as in a loop's body, most authors write the list. */
function emptyOf(kind: Kind): string {
  const kinds = resolved(kind, undefined);
  const first = kinds.find((data) => data.kind === 'list') ?? kinds[0];
  switch (first?.kind) {
    case 'list':
      return '[]';
    case 'flag':
      return 'true';
    case 'integer':
      return String(Math.max(first.min, 1));
    case 'object':
    case 'texts':
    case 'record':
      return '{}';
    case 'json':
      return first.only === 'array' ? '[]' : '{}';
    default:
      return '""';
  }
}

/** The words that a value may be: choices, built-ins, and names of this file. */
function valuesOf(kinds: readonly KindData[], root: SourceNode): readonly Suggestion[] {
  const said = (label: string, says: string): Suggestion => ({ label, insert: quote(label), says, isNeeded: false });
  const found = kinds.flatMap((data): readonly Suggestion[] => {
    if (data.kind === 'choice') return data.choices.map((one) => said(one, ''));
    if (data.kind === 'flag') return ['true', 'false'].map((one) => ({ ...said(one, ''), insert: one }));
    if (data.kind !== 'text') return [];
    const names = (data.refersTo ?? []).flatMap((role) => namesIn(root, role).map((one) => said(one, ROLES[role])));
    return [...(data.known ?? []).map((one) => said(one, 'built-in')), ...names];
  });
  return [...new Map(found.map((one) => [one.label, one])).values()];
}

const ROLES: { readonly [role in NameRole]: string } = {
  step: 'step of this workflow',
  loop: 'loop of this workflow',
  condition: 'condition of this workflow',
  assessment: 'assessment of this workflow',
  reference: 'document of this workflow',
  slot: 'extension point of this workflow',
  context_key: 'value of context',
  local: 'name in this workflow',
};

/** The names of one role that a file gives. */
function namesIn(root: SourceNode, role: NameRole): readonly string[] {
  const names = new Set<string>();
  visitTexts(workflow, root, ({ value }, { names: given }) => {
    if (given === role && value !== '') names.add(value);
  });
  return [...names];
}

/** The ids of the steps of a workflow file, loops among them. */
export function stepIdsIn(text: string): readonly string[] {
  const root = parseUnfinished(text, collectDiagnostics());
  return root === undefined ? [] : namesIn(root, 'step');
}

const PLACEHOLDER = /\{\{\s*([^{}\s.]+)/g;

/** The values of context that a workflow file reads, in the order of its text. */
export function contextKeysIn(text: string): readonly string[] {
  const root = parseUnfinished(text, collectDiagnostics());
  if (root === undefined) return [];
  const { byRole, withPlaceholders } = mentionsIn(workflow, root);
  const named = (byRole.get('context_key') ?? []).map(({ value }) => value.split('.', 1)[0] ?? '');
  const filled = withPlaceholders.flatMap(({ value }) =>
    Array.from(value.matchAll(PLACEHOLDER), ([, key = '']) => key),
  );
  return [...new Set([...named, ...filled])].filter((key) => key !== '' && key !== 'wr' && !key.startsWith('#'));
}

function fieldAt(root: SourceNode, path: Path): Pick<Suggestions, 'field'> {
  const at = path.findLastIndex((key) => typeof key === 'string');
  const name = path[at];
  if (typeof name !== 'string') return {};
  const { kinds } = placeAt(root, path.slice(0, at));
  const fields = kinds.flatMap((data) =>
    data.kind === 'object' && Object.hasOwn(data.fields, name) ? [data.fields[name]] : [],
  );
  const [field] = fields;
  if (field === undefined) return {};
  const node = placeAt(root, path.slice(0, at + 1)).node;
  return { field: { name, says: field.says, accepts: acceptsWords(resolved(field.kind, node)) } };
}

/** What a field takes, in a few words. */
function acceptsWords(kinds: readonly KindData[]): string {
  return [...new Set(kinds.map(kindWords))].filter((words) => words !== '').join(', or ');
}

function kindWords(data: KindData): string {
  switch (data.kind) {
    case 'text':
      return data.known === undefined ? `text of at most ${data.bytesMax} bytes` : 'the name of a built-in';
    case 'choice':
      return `one of ${data.choices.join(', ')}`;
    case 'flag':
      return 'true or false';
    case 'integer':
      return `a whole number from ${data.min}${data.max === Number.MAX_SAFE_INTEGER ? '' : ` to ${data.max}`}`;
    case 'numeric':
      return 'a number';
    case 'list':
      return 'a list';
    case 'object':
    case 'texts':
    case 'record':
      return 'an object';
    default:
      return '';
  }
}
